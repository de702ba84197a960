"""Detectors of other makes: tiny models of each architecture with random weights, saved to disk and read from there."""

import json
import shutil

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from safetensors.torch import load_file

from hcat.encoders.detectors import find_unsupported, open_detector
from hcat.encoders.distances import measure_distances
from hcat.encoders.entailment import load_classifier
from hcat.encoders.identities import resolve_classifier
from hcat.encoders.tokens import start_model
from hcat.engine.devices import ModelError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "fee", "is", "five", "six", "the", "free", "predict", ":", "0", "1"]
PREMISES = ["the fee is five", "free", "the fee is " + "five " * 90]
CLAIMS = ["the fee is six", "the fee is free", "five"]


def save_tokenizer(folder, names=("input_ids", "attention_mask")):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        eos_token="[SEP]",
        model_max_length=48,
        model_input_names=list(names),
    ).save_pretrained(folder)


def make_model(kind, labels, head="AutoModelForSequenceClassification"):
    """Return a tiny model of an architecture with random weights and the labels of its head."""
    import transformers

    torch.manual_seed(5)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}
    names = {"id2label": labels, "label2id": {label: index for index, label in labels.items()}}
    special = {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3}
    config = transformers.AutoConfig.for_model(
        kind, **sizes, **names, **special, vocab_size=60, max_position_embeddings=64
    )
    return getattr(transformers, head).from_config(config).eval()


def save_model(folder, kind, labels, head="AutoModelForTokenClassification"):
    make_model(kind, labels, head).save_pretrained(folder)
    segments = ("token_type_ids",) if kind == "bert" else ()
    save_tokenizer(folder, names=("input_ids", "attention_mask", *segments))


def read(folder):
    return load_classifier(resolve_classifier(str(folder), "cpu", "float32"))


def test_any_sequence_classifier_with_an_entailment_label_works(tmp_path):
    labels = {0: "neutral", 1: "entailment", 2: "contradiction"}
    save_model(tmp_path, "bert", labels, "AutoModelForSequenceClassification")
    classifier = read(tmp_path)
    assert (classifier.head.entailment, classifier.head.contradiction, classifier.maximum_tokens) == (1, 2, 48)
    logits, counts = start_model(classifier, 64, PREMISES, CLAIMS)()
    assert counts.tolist() == [11, 8, 97]
    alone, _ = start_model(classifier, 64, PREMISES[:1], CLAIMS[:1])()
    assert_allclose(alone[0], logits[0], atol=1e-5)


@pytest.mark.parametrize("kind", ["modernbert", "bert", "deberta-v2"])
def test_a_sentence_is_as_good_as_its_worst_word_piece(tmp_path, kind):
    from transformers import AutoModelForTokenClassification

    save_model(tmp_path, kind, {0: "LABEL_0", 1: "LABEL_1"})
    classifier = read(tmp_path)
    assert classifier.maximum_tokens == 48
    logits, counts = start_model(classifier, 4096, PREMISES, CLAIMS)()
    assert counts.tolist() == [11, 8, 97]
    found = measure_distances(logits, classifier.head)
    assert found.probability_contradiction is None
    model = AutoModelForTokenClassification.from_pretrained(tmp_path).eval()
    ids, segments = [2, 8, 4, 5, 6, 3, 8, 4, 5, 7, 3], [0] * 6 + [1] * 5
    extra = {"token_type_ids": torch.tensor([segments])} if kind == "bert" else {}
    with torch.no_grad():
        shares = torch.softmax(model(input_ids=torch.tensor([ids]), **extra).logits[0], dim=-1)[:, 1]
    assert_allclose(found.probability_entailment[0], 1 - shares[6:10].max().item(), atol=1e-5)


def test_the_label_that_means_unsupported_is_read_from_the_config(tmp_path):
    for folder, labels in (
        ("first", {0: "hallucinated", 1: "supported"}),
        ("second", {0: "supported", 1: "hallucinated"}),
    ):
        save_model(tmp_path / folder, "bert", labels)
    first, second = (
        start_model(read(tmp_path / folder), 4096, ["the fee"], ["fee"])()[0][0] for folder in ("first", "second")
    )
    assert_allclose(np.exp(first), np.exp(second)[::-1], atol=1e-5)
    with pytest.raises(ModelError, match=r"needs one label that means unsupported .*: B, I, O"):
        find_unsupported({0: "B", 1: "I", 2: "O"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"architectures": ["BertForQuestionAnswering"]},
            "has the head BertForQuestionAnswering; supported are sequence",
        ),
        ({"auto_map": {"AutoModel": "code.Model"}}, "with code of its own; supported are sequence classification"),
        ({"architectures": None}, "has the head none; supported are"),
    ],
)
def test_other_heads_are_refused_in_one_line(tmp_path, change, message):
    save_model(tmp_path, "bert", {0: "LABEL_0", 1: "LABEL_1"})
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ModelError, match=message) as caught:
        read(tmp_path)
    assert "\n" not in str(caught.value)


def test_pickled_weights_are_refused_unless_the_environment_allows_them(tmp_path, monkeypatch):
    save_model(tmp_path / "safe", "bert", {0: "LABEL_0", 1: "LABEL_1"})
    expected = start_model(read(tmp_path / "safe"), 4096, ["the fee"], ["fee"])()[0]
    shutil.copytree(tmp_path / "safe", tmp_path / "pickled")
    weights = load_file(tmp_path / "pickled" / "model.safetensors")
    (tmp_path / "pickled" / "model.safetensors").unlink()
    torch.save(weights, tmp_path / "pickled" / "pytorch_model.bin")
    with pytest.raises(
        ModelError, match=r"pytorch_model\.bin' is a pickle, which can run code: .*HCAT_PICKLED_WEIGHTS=1"
    ):
        read(tmp_path / "pickled")
    monkeypatch.setenv("HCAT_PICKLED_WEIGHTS", "1")
    identity = resolve_classifier(str(tmp_path / "pickled"), "cpu", "float32")
    assert_allclose(start_model(load_classifier(identity), 4096, ["the fee"], ["fee"])()[0], expected, atol=1e-6)
    # a model of the Hub has no digest beforehand: transformers itself finds no safetensors
    monkeypatch.delenv("HCAT_PICKLED_WEIGHTS")
    with pytest.raises(ModelError, match=r"cannot be loaded: .*safetensors"):
        open_detector(identity)


def test_a_model_with_code_of_its_own_is_refused(tmp_path):
    save_model(tmp_path, "bert", {0: "LABEL_0", 1: "LABEL_1"})
    config = json.loads((tmp_path / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "own.OwnConfig", "AutoModelForTokenClassification": "own.Own"}
    config["model_type"] = "own"
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(ModelError, match=r"cannot be loaded: .*code"):
        read(tmp_path)
    assert not (tmp_path / "ran").exists()
