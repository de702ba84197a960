"""Entailment: the geometry of the head, any classifier of the common shapes, truncation, batches and slices."""

import json

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_allclose
from test_detectors import make_model

from hcat.encoders.distances import Head, find_entailment, find_label, measure_distances
from hcat.encoders.entailment import ENTAILED_SCHEMA, entail_pending, load_classifier
from hcat.encoders.identities import SHIPPED, resolve_classifier
from hcat.encoders.pair_classifiers import HashingClassifier, find_last_linear, merge_delta
from hcat.encoders.tokens import TokenizedPair, start_model, truncate_pair
from hcat.engine import devices
from hcat.engine.devices import ModelError

COMPACT = SHIPPED["compact"]

FINITE = st.floats(-5, 5, width=32)


@given(
    npst.arrays(np.float64, (6, 4), elements=FINITE),
    npst.arrays(np.float64, (3, 4), elements=FINITE),
    npst.arrays(np.float64, 4, elements=FINITE),
)
def test_distance_sign_is_the_argmax_and_survives_a_shift(features, weight, shift):
    # rows that coincide have no border between them
    for other in (1, 2):
        if np.linalg.norm(weight[0] - weight[other]) < 1e-3:
            return
    found = measure_distances(features @ weight.T, Head(0, 2, weight))
    logits = features @ weight.T
    clear = np.abs(np.sort(logits, axis=1)[:, -1] - np.sort(logits, axis=1)[:, -2]) > 1e-9
    assert ((found.distance > 0) == (logits.argmax(axis=1) == 0))[clear].all()
    moved = measure_distances(features @ (weight + shift).T, Head(0, 2, weight + shift))
    assert_allclose(moved.distance, found.distance, atol=1e-6)
    assert_allclose(moved.probability_entailment, found.probability_entailment, atol=1e-6)


def test_hand_worked_distances():
    # w_e - w_1 = (3, 4), norm 5; w_e - w_2 = (0, 2), norm 2; differences 5 and 1: D = min(1, .5)
    weight = np.array([[3.0, 4.0], [0.0, 0.0], [3.0, 2.0]])
    found = measure_distances(np.array([[6.0, 1.0, 5.0]]), Head(0, 2, weight))
    assert_allclose(found.distance, [0.5])
    assert_allclose(found.weight_norm, [2.0])
    assert_allclose(found.margin, [1.0])
    assert_allclose(found.score, [1 / (1 + np.exp(-0.5))])
    total = np.exp(6) + np.exp(1) + np.exp(5)
    assert_allclose(found.probability_entailment, [np.exp(6) / total])
    assert found.probability_contradiction is not None
    assert_allclose(found.probability_contradiction, [np.exp(5) / total])


def test_single_logit_is_the_form_of_the_paper():
    found = measure_distances(np.array([[3.0], [-1000.0]]), Head(0, None, np.array([[0.0, 2.0]])))
    assert_allclose(found.distance, [1.5, -500.0])
    assert_allclose(found.probability_entailment, [1 / (1 + np.exp(-3.0)), 0.0], atol=1e-12)
    assert found.probability_contradiction is None


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}, 2),
        ({0: "entailment", 1: "not_entailment"}, 0),
        ({0: "neutral", 1: "Entail", 2: "contradict"}, 1),
    ],
)
def test_entailment_label_is_read_and_never_assumed(labels, expected):
    assert find_entailment(labels) == expected


def test_labels_without_entailment_are_refused():
    with pytest.raises(ModelError, match="its config has: LABEL_0, LABEL_1"):
        find_entailment({0: "LABEL_0", 1: "LABEL_1"})
    assert find_label({0: "entailment"}, "contradiction") is None


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2", "mpnet", "electra", "xlm-roberta"])
def test_last_linear_gives_the_logits(kind):
    import torch

    model = make_model(kind, {0: "neutral", 1: "entailment", 2: "contradiction"})
    last = find_last_linear(model, 3)
    seen = []
    last.register_forward_hook(lambda module, inputs, output: seen.append((inputs[0], output)))
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([[1, 5, 6, 7, 2]])).logits
    features, output = seen[0]
    assert_allclose(output.numpy(), logits.numpy(), atol=1e-6)
    assert_allclose((features @ last.weight.T + last.bias).detach().numpy(), logits.numpy(), atol=1e-5)


def test_model_without_one_last_linear_is_refused():
    model = make_model("bert", {0: "neutral", 1: "entailment", 2: "contradiction"})
    with pytest.raises(ModelError, match="exactly one last linear layer with 5 outputs, got 0"):
        find_last_linear(model, 5)


@given(st.integers(0, 30), st.integers(1, 30), st.integers(8, 40))
def test_truncation_cuts_the_premise_first(count_premise, count_claim, maximum):
    premise, claim = list(range(100, 100 + count_premise)), list(range(200, 200 + count_claim))
    ids = [1, *premise, 2, *claim, 3]
    segments = [0] * (count_premise + 2) + [1] * (count_claim + 1)
    cut = truncate_pair(TokenizedPair(ids, segments, 1, 1 + count_premise), maximum)
    assert len(cut.ids) == len(cut.segments) == min(len(ids), maximum)
    assert cut.ids[0] == 1
    assert cut.ids[-1] == 3
    kept = [token for token in cut.ids if 100 <= token < 200]
    assert kept == premise[: len(kept)]
    if count_claim + 3 + min(count_premise, maximum // 2) <= maximum:
        assert [token for token in cut.ids if token >= 200] == claim


def test_compact_classifier_equals_transformers():
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    from hcat.encoders import minilm

    identity = resolve_classifier("compact", "cpu", "float32")
    classifier = load_classifier(identity)
    labels = json.loads((COMPACT.folder / "card.json").read_text())["labels"]
    config = BertConfig.from_pretrained(devices.packaged_folder(), num_labels=len(labels))
    peer = BertForSequenceClassification(config).eval()
    weights = merge_delta(minilm.read_weights(), COMPACT.folder / "delta.safetensors")
    missing = peer.load_state_dict(
        {name if name.startswith("classifier") else f"bert.{name}": value for name, value in weights.items()},
        strict=False,
    )
    assert not missing.missing_keys
    premises, claims = ["The fee is five euros.", "Yes."], ["The fee is six euros a month.", "No."]
    expected = []
    for pair in zip(premises, claims, strict=True):
        encoding = minilm.load_tokenizer().encode(*pair)
        with torch.inference_mode():
            output = peer(input_ids=torch.tensor([encoding.ids]), token_type_ids=torch.tensor([encoding.type_ids]))
        expected.append(output.logits[0].numpy())
    assert_allclose(start_model(classifier, 4096, premises, claims)()[0], np.array(expected), atol=1e-4)


def test_pairs_are_scored_in_slices_that_survive(tmp_path, monkeypatch):
    monkeypatch.setattr("hcat.encoders.entailment.SLICE_ROWS", 4)
    identity = resolve_classifier("hashing", "cpu")
    table = pa.table(
        {
            "pair_id": [f"p{number}" for number in range(10)],
            "classifier_key": [identity.key] * 10,
            "premise": [f"premise {number}" for number in range(10)],
            "claim": ["claim"] * 10,
            "is_elliptic": [False] * 10,
        }
    )
    first = entail_pending(duckdb.from_arrow(table), identity, str(tmp_path))
    assert first.schema == ENTAILED_SCHEMA
    one = first.read_next_batch()
    calls = []
    original = HashingClassifier.prepare
    monkeypatch.setattr(
        HashingClassifier,
        "prepare",
        lambda self, premises, claims: (calls.append(len(premises)), original(self, premises, claims))[1],
    )
    rest = entail_pending(duckdb.from_arrow(table), identity, str(tmp_path)).read_all()
    assert sum(calls) == 6
    assert rest.num_rows == 10
    assert rest.slice(0, 4).equals(pa.Table.from_batches([one]))
    scores = np.array(rest["score"].to_pylist())
    assert ((scores > 0) & (scores < 1)).all()
