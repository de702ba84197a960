"""Identities, labels and batches of the classifiers of single sentences."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from hcat.encoders import text_classifiers
from hcat.encoders.classifier_heads import load_head
from hcat.encoders.text_classifiers import (
    CLASSIFIED_SCHEMA,
    combine_shares,
    describe_text_classifiers,
    find_signs,
    load_scorer,
    neutralise,
    resolve_text_classifier,
)
from hcat.engine.devices import ModelError

REPOSITORY = Path(__file__).resolve().parents[3]
PACKAGED = {"location": "packaged", "encoder_sha256": load_head("toxicity_head").encoder_sha256}


def resolve(purpose="toxicity", name="packaged", revision="", encoder=None):
    return resolve_text_classifier(purpose, name, revision, encoder or PACKAGED, "cpu", "float32")


def test_the_encoder_decides_where_the_head_reads_its_vectors():
    assert resolve().location == "stored"
    assert resolve(encoder={"location": "other/model", "encoder_sha256": "0"}).location == "encoded"
    assert resolve(encoder={"location": "hashing:32", "encoder_sha256": "0"}).location == "hashing"
    assert resolve(name="none").location == "none"


@pytest.mark.parametrize(
    ("purpose", "package"), [("toxicity", "MINILM"), ("sentiment", "MINILM"), ("sentiment", "NAMES")]
)
def test_the_key_covers_the_encoder_and_the_lists_that_a_head_reads(monkeypatch, purpose, package):
    key = resolve(purpose).scoring_key
    monkeypatch.setattr(text_classifiers, "check_package", lambda package: None)
    monkeypatch.setattr(text_classifiers, package, getattr(text_classifiers, package)._replace(sha256="0" * 64))
    assert resolve(purpose).scoring_key != key


def test_a_hub_id_needs_a_revision():
    with pytest.raises(ModelError, match="hcat_toxicity_revision"):
        resolve(name="some/model")
    assert resolve(name="some/model", revision="abc").classifier_revision == "abc"


def test_a_fault_is_a_row_and_no_exception():
    rows = describe_text_classifiers(PACKAGED, ("some/model", ""), ("packaged", ""), "cpu", "float32").to_pylist()
    assert [row["purpose"] for row in rows] == ["toxicity", "sentiment"]
    assert "revision" in rows[0]["problem"]
    assert rows[1]["problem"] is None
    assert rows[0]["scoring_key"] == rows[1]["scoring_key"]


def test_labels_of_sequence_classifiers():
    assert find_signs("toxicity", {0: "non-toxic", 1: "Toxic"}).tolist() == [0, 1]
    assert find_signs("sentiment", {0: "NEGATIVE", 1: "neutral", 2: "POSITIVE"}).tolist() == [-1, 0, 1]
    with pytest.raises(ModelError, match="label_0"):
        find_signs("sentiment", {0: "LABEL_0"})


def test_shares_become_one_score():
    shares = np.array([[0.2, 0.5, 0.3]])
    assert_allclose(combine_shares("toxicity", shares, np.array([1.0, 1, 0]), True), [0.5])
    assert_allclose(combine_shares("toxicity", shares, np.array([1.0, 1, 0]), False), [0.7])
    assert_allclose(combine_shares("sentiment", shares, np.array([-1.0, 0, 1]), False), [0.1])


def test_stored_vectors_and_own_encoding_give_the_same_scores():
    from hcat.encoders.embedding import embed_texts, resolve_encoder

    texts = ["The fee is 5 euros.", "You are a disgusting idiot and I hate you."]
    vectors = embed_texts(resolve_encoder("packaged", "", "cpu", "float32"), 0)(texts)
    stored = load_scorer(resolve()).score(texts, vectors)
    encoded = load_scorer(resolve(encoder={"location": "other/model", "encoder_sha256": "0"})).score(
        texts, vectors[:, :3]
    )
    assert_allclose(stored, encoded, atol=1e-5)
    assert stored[0] < 0.5 < stored[1]


def test_a_sequence_classifier_of_a_folder_is_scored(tmp_path):
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(1)
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\n", encoding="utf-8")
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    config = transformers.BertConfig(
        vocab_size=7,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        id2label={0: "negative", 1: "positive"},
        label2id={"negative": 0, "positive": 1},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    scores = load_scorer(resolve("sentiment", str(tmp_path))).score(["good", "bad bad good"], np.zeros((2, 3)))
    assert scores.shape == (2,)
    assert np.all(np.abs(scores) <= 1)


def test_the_schema_names_both_purposes():
    assert CLASSIFIED_SCHEMA.names == ["text_id", "scoring_key", "toxicity", "sentiment"]
    assert CLASSIFIED_SCHEMA.field("toxicity").type == pa.float64()


def test_a_recognised_name_cannot_move_sentiment_and_others_hardly_do():
    with (REPOSITORY / "training" / "head_names.csv").open(encoding="utf-8", newline="") as lines:
        names = [row["text"] for row in csv.DictReader(lines) if row["kind"] == "held_out"][::3]
    assert neutralise("Greg and Fatima O'Neill paid Anne's fee.") == "Michael and Michael paid Michael's fee."
    score = load_scorer(resolve("sentiment", encoder={"location": "other/model", "encoder_sha256": "0"})).score
    texts = [f"{name} opened the letter about the late payment." for name in names]
    scores = score(texts, np.zeros((len(texts), 3), dtype=np.float32))
    # the limit of benchmarks/safety.py: a tenth of the spread between sentences of reviews, which is at least .18
    assert scores.std() <= 0.1 * 0.18
    assert len({round(each, 9) for each in scores}) <= len(names) / 4
