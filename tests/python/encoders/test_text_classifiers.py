"""Labels and scores of the classifiers of single sentences."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_detectors import save_model

from hcat.encoders.classifier_heads import load_card
from hcat.encoders.embedding import embed_texts
from hcat.encoders.identities import ModelIdentity, resolve_encoder, resolve_text_classifier
from hcat.encoders.text_classifiers import combine_shares, find_signs, load_scorer, neutralise
from hcat.engine.devices import ModelError

REPOSITORY = Path(__file__).resolve().parents[3]
PACKAGED = ModelIdentity("k", "n", "1", load_card("toxicity_head")[0]["encoder_sha256"], "cpu", "float32", "packaged")
OTHER = PACKAGED._replace(sha256="0", location="other/model")


def resolve(purpose="toxicity", name="packaged", encoder=PACKAGED):
    return resolve_text_classifier(purpose, name, encoder, "cpu", "float32")


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
    texts = ["The fee is 5 euros.", "You are a disgusting idiot and I hate you."]
    vectors = embed_texts(resolve_encoder("packaged", "cpu", "float32"))(texts)
    stored = load_scorer(resolve())(texts, vectors)
    encoded = load_scorer(resolve(encoder=OTHER))(texts, vectors[:, :3])
    assert_allclose(stored, encoded, atol=1e-5)
    assert stored[0] < 0.5 < stored[1]


def test_a_sequence_classifier_of_a_folder_is_scored(tmp_path):
    save_model(tmp_path, "bert", {0: "negative", 1: "positive"}, "AutoModelForSequenceClassification")
    scores = load_scorer(resolve("sentiment", str(tmp_path)))(["fee", "free fee fee"], np.zeros((2, 3)))
    assert scores.shape == (2,)
    assert np.all(np.abs(scores) <= 1)


def test_a_recognised_name_cannot_move_sentiment_and_others_hardly_do():
    with (REPOSITORY / "training" / "head_names.csv").open(encoding="utf-8", newline="") as lines:
        names = [row["text"] for row in csv.DictReader(lines) if row["kind"] == "held_out"][::3]
    assert neutralise("Greg and Fatima O'Neill paid Anne's fee.") == "Michael and Michael paid Michael's fee."
    score = load_scorer(resolve("sentiment", encoder=OTHER))
    texts = [f"{name} opened the letter about the late payment." for name in names]
    scores = score(texts, np.zeros((len(texts), 3), dtype=np.float32))
    # the limit of benchmarks/safety.py: a tenth of the spread between sentences of reviews, which is at least .18
    assert scores.std() <= 0.1 * 0.18
    assert len({round(each, 9) for each in scores}) <= len(names) / 4
