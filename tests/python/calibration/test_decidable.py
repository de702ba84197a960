"""What sets can decide: the ceiling by hand, and the plan against simulated sets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from hcat.calibration.conformal import conformal_quantile
from hcat.calibration.decidable import expected_share_decided, labels_until_decided, measure_decidable, share_decidable

DISTANCE = np.sqrt(2) * norm.ppf(0.86)


def test_the_ceiling_by_hand() -> None:
    # a score that says nothing excludes a label by chance alone: alpha from either side
    assert_allclose(share_decidable(0.5, 0.1), 0.2)
    assert share_decidable(0.3, 0.1) == share_decidable(0.5, 0.1)
    # d = 2 z(.9): the limits meet, and every answer is decided
    assert_allclose(share_decidable(float(norm.cdf(np.sqrt(2) * norm.ppf(0.9))), 0.1), 1)
    assert share_decidable(1.0, 0.1) == 1


def test_the_ceiling_of_labels_is_that_of_their_law_and_knows_ties() -> None:
    labels = np.arange(40_000) % 2
    scores = np.random.default_rng(3).normal(size=40_000) + DISTANCE * labels
    assert abs(measure_decidable(scores, labels, 0.1) - share_decidable(0.86, 0.1)) < 0.01
    # half of each class stands at its own end, the other half is mixed at one score: none of it can be decided
    tied = np.where(np.arange(40_000) % 4 < 2, 0.5, labels)
    assert measure_decidable(tied, labels, 0.1) == 0.5


@pytest.mark.parametrize(("count", "alpha"), [(60, 0.2), (100, 0.1)])
def test_the_plan_is_what_simulated_sets_decide(count: int, alpha: float) -> None:
    random = np.random.default_rng(2)
    decided = []
    for _ in range(600):
        is_failing = random.random(count) < 0.3
        scores = np.where(is_failing, 0, DISTANCE) + random.normal(size=count)
        high, low = conformal_quantile(scores[is_failing], alpha), -conformal_quantile(-scores[~is_failing], alpha)
        if np.isinf(high) or np.isinf(low):
            decided.append(0.0)
            continue
        edges = np.sort([low, high])
        shares = np.diff(norm.cdf(edges))[0], np.diff(norm.cdf(edges - DISTANCE))[0]
        decided.append(1 - 0.3 * shares[0] - 0.7 * shares[1])
    error = np.std(decided) / np.sqrt(len(decided))
    assert abs(np.mean(decided) - expected_share_decided(0.86, alpha, 0.3, count)) < 3 * error + 0.01


def test_the_number_of_labels_grows_with_what_is_asked() -> None:
    few, more = (labels_until_decided(share, 0.86, 0.2, 0.3) for share in (0.7, 0.92))
    assert few is not None
    assert more is not None
    assert few < more
    pairs = labels_until_decided(0.92, 0.86, 0.2, 0.3, labels_per_cluster=2.0)
    assert pairs == 2 * more
    rare = labels_until_decided(0.7, 0.86, 0.2, 0.05)
    assert rare is not None
    assert rare > few
    assert labels_until_decided(0.96, 0.86, 0.2, 0.3) is None
