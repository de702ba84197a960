"""The recipe of the compact model: the low-rank update, the loss of partly known targets, batches, folds and labels."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from safetensors.torch import save_file

# training is no installed package: it is run from the root of the repository
from hcat.encoders import minilm
from hcat.encoders.pair_classifiers import merge_delta
from training import fit, grounded, pairs
from training.bases import BASES
from training.fusion import FEATURES
from training.lora import adapt, read_delta, write_back


@pytest.fixture(scope="module")
def adapted():
    torch.manual_seed(3)
    return fit.make_adapted(BASES["compact"], rank=4).eval()


BATCH = {
    "input_ids": torch.tensor([[101, 2023, 102, 2003, 102]]),
    "token_type_ids": torch.tensor([[0, 0, 0, 1, 1]]),
    "attention_mask": torch.ones(1, 5, dtype=torch.int64),
}


def logits(model) -> np.ndarray:
    with torch.inference_mode():
        return model(**BATCH).logits.numpy()


def test_the_update_starts_as_nothing():
    torch.manual_seed(3)
    plain = BASES["compact"].make_classifier(0.0).eval()
    before = logits(plain)
    assert_allclose(logits(adapt(plain, rank=4)), before, atol=1e-6)


def test_only_the_update_the_heads_and_the_norms_learn(adapted):
    names = {name for name, parameter in adapted.named_parameters() if parameter.requires_grad}
    assert all(
        name.endswith((".first", ".second")) or "LayerNorm" in name or "pooler" in name or "classifier" in name
        for name in names
    )
    assert sum(name.endswith(".first") for name in names) == 6 * 6


def test_delta_gives_the_same_model_in_the_package(adapted, tmp_path):
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if name.endswith(".second"):
                parameter.normal_(0, 0.02)
    delta = read_delta(adapted)
    save_file(delta, tmp_path / "delta.safetensors")
    weights = merge_delta(minilm.read_weights(), tmp_path / "delta.safetensors")
    model = minilm.MiniLM(weights)
    with torch.inference_mode():
        states = model(BATCH["input_ids"], BATCH["token_type_ids"], torch.zeros(1, 5, dtype=torch.bool), False)
        pooled = torch.tanh(states[:, 0] @ weights["pooler.dense.weight"].T + weights["pooler.dense.bias"])
        found = pooled @ weights["classifier.weight"].T + weights["classifier.bias"]
    assert_allclose(found.numpy(), logits(adapted), atol=1e-4)
    torch.manual_seed(9)
    other = fit.make_adapted(BASES["compact"], rank=4).eval()
    write_back(other, delta)
    assert_allclose(logits(other), logits(adapted), atol=1e-5)


def test_not_entailment_is_the_sum_of_the_others():
    # shares .5, .25, .25
    outputs = torch.log(torch.tensor([[0.5, 0.25, 0.25]] * 4))
    losses = [
        float(fit.measure_loss(outputs[:1], torch.tensor([target]), torch.ones(1)))
        for target in range(len(pairs.TARGETS))
    ]
    assert_allclose(losses, -np.log([0.5, 0.25, 0.25, 0.5]), atol=1e-6)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=200))
def test_an_epoch_shows_every_pair_once(lengths):
    chosen = fit.Settings(batch_tokens=200, batch_pairs=8)
    batches = fit.plan_epoch(np.array(lengths), chosen, np.random.default_rng(1))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= 8
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= 200


def test_pairs_keep_the_claim_whole():
    tokens = fit.PairTokens(16, BASES["compact"])
    ids, starts, _ = tokens.encode([pairs.Pair("word " * 100, "the fee", 0, "x")])
    assert len(ids[0]) == 16
    assert len(ids[0]) - starts[0] == 3


def make_answer(answer: str, contexts: tuple[str, ...], spans: tuple[tuple[int, int], ...]) -> grounded.Answer:
    return grounded.Answer("a", "QA-1", "QA", "model", "test", "What is the fee?", answer, contexts, spans)


def test_sentences_get_labels_from_spans_and_evidence_from_the_product():
    context = ("The monthly fee is 5 euros. The branch opens at nine. Cards are free.",)
    answer = "The monthly fee is 5 euros. The branch closes at noon."
    reader = grounded.EvidenceReader()
    sentences = grounded.read_sentences([make_answer(answer, context, ((28, 54),))], reader)
    assert [sentence.is_supported for sentence in sentences] == [True, False]
    assert [sentence.wrong for sentence in sentences] == [(), ((0, 26),)]
    assert "monthly fee is 5 euros" in sentences[0].premise
    assert [sentence.text for sentence in sentences] == ["The monthly fee is 5 euros.", "The branch closes at noon."]
    features = grounded.read_features(sentences, np.array([[0.9, 0.05, 0.05], [0.5, 0.0, 0.5]]))
    assert features.shape == (2, len(FEATURES))
    by_name = dict(zip(FEATURES, features.T, strict=True))
    assert_allclose(by_name["entailment_logit"], [np.log(9), 0.0], atol=1e-9)
    assert_allclose(by_name["contradiction_logit"], [-np.log(19), 0.0], atol=1e-9)
    assert by_name["share_words_supported"][0] == 1.0
    assert by_name["share_words_supported"][1] < 1.0
    made = grounded.make_negatives(sentences, reader, 1.0, 7)
    assert made
    assert all(pair.target != grounded.ENTAILMENT for pair in made)
    assert grounded.make_negatives(sentences, reader, 1.0, 7) == made
