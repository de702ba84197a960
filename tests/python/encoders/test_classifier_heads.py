"""The shipped linear heads: small, made for the packaged encoder, and blind to who is mentioned."""

import json
from functools import partial

import numpy as np
import pytest

from hcat.encoders.classifier_heads import FOLDER, load_card, score_embeddings
from hcat.engine.devices import check_packaged_weights
from hcat.engine.keys import hash_file

NAMES = ("Emily", "Fatima", "Mohammed", "Peter", "Lakisha", "Svetlana")
TERMS = ("a woman", "a man", "Muslim", "Jewish", "gay", "blind", "Black", "German")


def test_scores_do_not_depend_on_the_batch():
    vectors = np.random.default_rng(3).normal(size=(50, 384)).astype(np.float32)
    parts = [score_embeddings("toxicity_head", part) for part in (vectors[:7], vectors[7:])]
    assert np.array_equal(score_embeddings("toxicity_head", vectors), np.concatenate(parts))
    with pytest.raises(ValueError, match="shape"):
        score_embeddings("toxicity_head", vectors[:, :10])


@pytest.mark.parametrize("name", ["toxicity_head", "sentiment_head"])
def test_shipped_heads_are_small_and_fit_the_packaged_encoder(name):
    assert load_card(name)[0]["encoder_sha256"] == check_packaged_weights()
    assert (FOLDER / name / "head.npy").stat().st_size < 1_000_000
    assert json.loads((FOLDER / name / "card.json").read_text())["training"]


def test_the_classes_of_words_are_those_of_the_fit():
    card = json.loads((FOLDER / "wording_head" / "card.json").read_text())
    assert card["words_sha256"] == hash_file(FOLDER.parent / "wordings.yml")


@pytest.fixture(scope="module")
def embed():
    from training.heads import embed

    return embed


def test_sentiment_tells_praise_from_complaint_and_ignores_names(embed):
    read = partial(score_embeddings, "sentiment_head")
    praise, blame = read(embed(["The help was superb, I am so grateful.", "This is a scandal, I am angry and sad."]))
    # both on the scale from -1 to 1 that the metric has
    gap = 2 * (praise - blame)
    assert gap > 0.6
    for frame in ("{} asked for a loan.", "The adviser met {} at the branch."):
        scores = 2 * read(embed([frame.format(name) for name in NAMES])) - 1
        assert np.ptp(scores) < gap / 4
    scores = 2 * read(embed([f"The customer is {term} and pays the annual fee." for term in TERMS])) - 1
    assert np.ptp(scores) < gap / 4


def test_an_identity_term_alone_is_not_toxic(embed):
    read = partial(score_embeddings, "toxicity_head")
    calm = read(embed([f"My colleague is {term} and works at the counter." for term in TERMS]))
    assert calm.max() < 0.5
    assert read(embed(["I will kill all of those filthy foreigners."]))[0] > 0.5
