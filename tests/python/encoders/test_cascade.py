"""The cascade: which pairs are read twice, and what is kept of both readings."""

import numpy as np
import pytest

from hcat.encoders import cascade, entailment
from hcat.encoders.distances import Head, measure_distances
from hcat.encoders.identities import CASCADE, ModelIdentity
from hcat.encoders.tokens import Prepared

EVIDENCE = "Cards are not free abroad. The fee is 5 euros. Students pay 3 euros. The limit is at least 9 euros."


def says(*entailment_shares):
    shares = np.array(entailment_shares)
    logits = np.log(np.stack([shares, (1 - shares) / 2, (1 - shares) / 2], axis=1))
    return measure_distances(logits, Head(0, 2, np.eye(3)))


@pytest.mark.parametrize(
    ("claim", "share", "expected"),
    [
        ("The fee is 5 euros.", 0.9, False),
        ("The fee is 5 euros.", 0.5, True),
        ("The fee is 3 euros.", 0.9, True),
        ("The fee is not 5 euros.", 0.9, True),
        ("The fee isn't 5 euros.", 0.9, True),
        ("The limit is at most 9 euros.", 0.9, True),
        ("The limit is at least 9 euros.", 0.9, False),
        ("Cards are free abroad.", 0.9, True),
        ("Cards are free abroad.", 0.05, False),
    ],
)
def test_unsure_pairs_and_overlooked_details_are_read_again(claim, share, expected):
    assert cascade.find_unsettled([EVIDENCE], [claim], says(share)).tolist() == [expected]


def test_an_empty_premise_is_settled_or_not_without_an_error():
    assert cascade.find_unsettled([""], ["The fee is 5 euros."], says(0.9)).tolist() == [True]


class Fixed:
    """A classifier that gives every pair one probability of entailment, and counts what it reads."""

    head = Head(0, 2, np.eye(3))
    maximum_tokens = 512

    def __init__(self, share):
        self.share, self.count = share, 0

    def prepare(self, premises, claims):
        return Prepared(np.full(len(premises), 3), lambda rows: rows, self.classify)

    def classify(self, rows):
        self.count += len(rows)
        shares = np.array([self.share, (1 - self.share) / 2, (1 - self.share) / 2])
        return np.tile(np.log(shares), (len(rows), 1))


def make_cascade(monkeypatch, readers):
    """Return the identity of a cascade of these readers; the one that is not named cannot be loaded."""
    identities = {name: ModelIdentity(name, name, "1", "", "cpu", "float32", name) for name in readers}
    monkeypatch.setattr(entailment, "resolve_part", lambda _, part: identities[part])
    monkeypatch.setattr(entailment, "load_classifier", lambda identity: readers[identity.location])
    return ModelIdentity("k", "both", "1", "", "cpu", "float32", CASCADE)


def test_both_readings_are_kept(monkeypatch):
    readers = {"compact": Fixed(0.9), "accurate": Fixed(0.2)}
    both = make_cascade(monkeypatch, readers)
    # the last one stands in the evidence, and nobody reads it
    claims = ["The fee: 5 euros.", "The fee is 3 euros.", "The fee is 5 euros."]
    reading = entailment.start_reading(both, [EVIDENCE] * 3, claims)()
    assert (readers["compact"].count, readers["accurate"].count) == (2, 1)
    assert reading.deciding == ["compact", "accurate", entailment.STATED]
    np.testing.assert_allclose(reading.distances.probability_entailment, [0.9, 0.2, 0.987], atol=1e-3)
    np.testing.assert_allclose(reading.first.probability_entailment, [0.9, 0.9, 0.987], atol=1e-3)
    np.testing.assert_allclose([np.exp(row[0]) for row in reading.logits[:2]], [0.9, 0.2])
    assert reading.counts.tolist() == [3, 3, 0]


def test_settled_pairs_load_no_second_classifier(monkeypatch):
    both = make_cascade(monkeypatch, {"compact": Fixed(0.01)})
    reading = entailment.start_reading(both, [EVIDENCE], ["A fee of 3 euros is due."])()
    assert reading.deciding == ["compact"]
    assert reading.first is not None


def test_a_short_answer_is_always_read_again(monkeypatch):
    both = make_cascade(monkeypatch, {"compact": Fixed(0.01), "accurate": Fixed(0.2)})
    reading = entailment.start_reading(
        both, [EVIDENCE] * 2, ["A fee of 3 euros is due."] * 2, np.array([True, False])
    )()
    assert reading.deciding == ["accurate", "compact"]
