"""How much of the work prediction sets can do: what the score allows, and what a number of labels reaches of it.

All of it assumes scores of failed and accepted answers that are N(0, 1) and N(d, 1), d = sqrt(2) z(AUROC). It is a plan
and no promise. The sets themselves need no such assumption.
"""

import math
from statistics import NormalDist
from typing import Final

import numpy as np

from hcat.calibration.conformal import clusters_needed, conformal_rank
from hcat.statistics.arrays import Floats, Integers

#: A plan looks at most this far; whoever needs more labels needs a better score first.
MOST_LABELS: Final = 20_000

_NORMAL = NormalDist()
#: Numbers of labels that a plan tries differ by this factor.
_STEP = 1.05
#: Numbers in a row that must reach the share.
_TRIES = 3
#: Points at which each law is averaged.
_POINTS = 12


def standings(scores: Floats, direction: str = "higher_is_better") -> Floats:
    """Return where each score stands among all, mean rank / (n + 1) from worse to better, in (0, 1), shape (n,)."""
    from scipy.stats import rankdata

    found: Floats = rankdata(scores) / (len(scores) + 1)
    return found if direction == "higher_is_better" else 1 - found


def auroc(values: Floats, labels: Integers) -> float:
    """Return the share of (accepted, failed) pairs in which the accepted row has the higher value, ties one half."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(labels, values)) if len(np.unique(labels)) == 2 else 0.5


def share_decidable(auroc: float, alpha: float) -> float:
    """Return the largest share of answers that sets of one label can reach with a score of this AUROC."""
    if auroc == 1:
        return 1.0
    distance = _distance(auroc)
    return min(1.0, alpha + _NORMAL.cdf(distance - _NORMAL.inv_cdf(1 - alpha)))


def measure_decidable(standings: Floats, labels: Integers, alpha: float) -> float:
    """Return the share of answers that sets of one label would reach if each limit were that of these labels."""
    # no law of the scores is assumed; equal scores stay together, so that ties keep the share low
    failed, accepted = standings[labels == 0], standings[labels == 1]
    if not len(failed) or not len(accepted):
        return 0.0
    highest_failed = np.quantile(failed, 1 - alpha, method="inverted_cdf")
    lowest_accepted = -np.quantile(-accepted, 1 - alpha, method="inverted_cdf")
    return float(np.mean((standings > highest_failed) | (standings < lowest_accepted)))


def expected_share_decided(auroc: float, alpha: float, failure_rate: float, count_clusters: int) -> float:
    """Return the share of new answers that sets of one label are expected to reach with some labelled clusters."""
    from scipy.special import ndtr, ndtri
    from scipy.stats import beta, binom

    points, distance = (np.arange(_POINTS) + 0.5) / _POINTS, _distance(auroc)
    decided = []
    for count_failed in binom.ppf(points, count_clusters, failure_rate).astype(np.int64).tolist():
        counts = (count_failed, count_clusters - count_failed)
        if min(counts) < clusters_needed(alpha):
            decided.append(0.0)
            continue
        ranks = [conformal_rank(count, alpha) for count in counts]
        cuts = [ndtri(beta.ppf(points, rank, count + 1 - rank)) for rank, count in zip(ranks, counts, strict=True)]
        highest_failed, lowest_accepted = cuts[0][:, None], distance - cuts[1][None, :]
        of_failed = np.abs(ndtr(highest_failed) - ndtr(lowest_accepted))
        of_accepted = np.abs(ndtr(highest_failed - distance) - ndtr(lowest_accepted - distance))
        decided.append(1 - float((failure_rate * of_failed + (1 - failure_rate) * of_accepted).mean()))
    return float(np.mean(decided))


def labels_until_decided(
    share: float, auroc: float, alpha: float, failure_rate: float, labels_per_cluster: float = 1.0
) -> int | None:
    """Return how many audit labels are expected to decide a share of the answers; None where the score cannot do it."""
    if share >= share_decidable(auroc, alpha) or not 0 < failure_rate < 1:
        return None
    count, reached = clusters_needed(alpha), list[int]()
    while count * labels_per_cluster <= MOST_LABELS:
        is_enough = expected_share_decided(auroc, alpha, failure_rate, count) >= share
        reached = [*reached, count] if is_enough else []
        if len(reached) == _TRIES:
            return math.ceil(reached[0] * labels_per_cluster)
        count = max(count + 1, math.ceil(count * _STEP))
    return None


def _distance(auroc: float) -> float:
    """Return d of the module; finite for a score that parts the classes."""
    return math.sqrt(2) * _NORMAL.inv_cdf(min(1 - 1e-12, max(0.5, auroc)))
