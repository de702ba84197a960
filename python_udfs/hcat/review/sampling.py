"""What people label next: unequal, known inclusion probabilities with a plain random audit sample inside.

An interaction enters a round with probability pi = epsilon + c x ambiguity, at most 1. Nothing is out of reach
(epsilon > 0), so that 1 / pi weights every answer that people judged back to all that could have been judged, and no
weight exceeds 1 / epsilon times the smallest (Horvitz and Thompson 1952; uncertainty sampling with importance weights:
Beygelzimer, Dasgupta and Langford 2009). c is the one number with which the expected count of labels is the budget.

The choice is Poisson sampling with numbers that anyone can compute again (permanent random numbers, Ohlsson 1995): an
interaction is selected when its number u is below its pi. The number is a hash of the interaction, the round and the
seed; neither the order of rows nor the engine matters. In DuckDB::

    cast('0x' || left(md5('review|' || seed || '|' || round || '|' || interaction_id), 8) as bigint) / 4294967296.0

The same u gives the audit sample, u < audit probability. The audit probability is the floor of every pi, so that audit
rows are selected rows; it is equal for all, so that they are a plain random sample, and they alone may feed the
conformal stage by default.

An interaction judged in an earlier round is not offered again. Over rounds its inclusion probability is that of any
round, 1 - product of (1 - pi).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from hcat.calibration.decidable import (
    auroc,
    expected_share_decided,
    labels_until_decided,
    share_decidable,
    standings,
)
from hcat.statistics.arrays import Flags, Floats
from hcat.statistics.intervals import normal_quantile
from hcat.statistics.prediction_powered import estimate_failure_rate

#: What the seed `review_targets` may ask for.
PURPOSES: Final = ("half_width", "difference", "decided_share")

LABELS_NEEDED_SCHEMA = pa.schema(
    [
        ("metric_name", pa.string()),
        ("purpose", pa.string()),
        ("target", pa.float64()),
        ("confidence", pa.float64()),
        ("power", pa.float64()),
        ("failure_rate", pa.float64()),
        ("failure_rate_low", pa.float64()),
        ("failure_rate_high", pa.float64()),
        ("planning_rate", pa.float64()),
        ("design_effect", pa.float64()),
        ("count_groups", pa.int64()),
        ("count_labels", pa.int64()),
        ("count_clusters", pa.int64()),
        ("count_labels_needed", pa.int64()),
        ("auroc", pa.float64()),
        ("share_decidable", pa.float64()),
        ("share_decided_expected", pa.float64()),
    ]
)

PlanStatus = Literal["planned", "subsampled", "all_interactions", "no_interactions"]

#: What :attr:`ReviewPlan.status` may say.
PLAN_STATUSES: Final = ("planned", "subsampled", "all_interactions", "no_interactions")

#: Least inclusion probability of an interaction that a round considers: weights differ at most by the factor 20.
EPSILON = 0.05
#: Least share of a round's expected labels that are a plain random sample.
SHARE_AUDIT = 0.30
SEED = 20260101

#: A prediction of exactly 0 or 1 stays a little ambiguous, so that any budget below all interactions can be spent.
_LEAST_AMBIGUITY = 1e-6
_HASH_STEPS = 2**32


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """Inclusion probabilities of one round.

    Attributes
    ----------
    status : str
        ``planned``; ``subsampled`` (the budget is below epsilon x interactions, see :func:`plan_review`);
        ``all_interactions`` (the budget reaches all, every pi is 1); ``no_interactions``.
    inclusion_probabilities : ndarray, shape (n_interactions,)
        pi, in (0, 1]; store it with the sample, the estimate needs it.
    audit_probability : float
        Probability of the plain random audit sample, equal for all and at most the smallest pi; 0 without interactions.
    slope : float
        c, what one unit of ambiguity adds to pi.
    share_considered : float
        Share of the interactions that the round considers, in (0, 1]; below 1 only for ``subsampled``.
    """

    status: PlanStatus
    inclusion_probabilities: Floats
    audit_probability: float
    slope: float
    share_considered: float


@dataclass(frozen=True, slots=True)
class ReviewSample:
    """The interactions of one round.

    Attributes
    ----------
    plan : ReviewPlan
        With which probability each was drawn.
    numbers : ndarray, shape (n_interactions,)
        u in [0, 1) of each interaction.
    inclusion_probabilities : ndarray, shape (n_interactions,)
        pi by any of the draws: that of the plan, and on top the sample of the release.
    is_selected, is_audit, is_release : ndarray of bool, shape (n_interactions,)
        Drawn at all; u < audit probability (every audit row is selected); drawn by the sample of the release alone.
    """

    plan: ReviewPlan
    numbers: Floats
    inclusion_probabilities: Floats
    is_selected: Flags
    is_audit: Flags
    is_release: Flags


def ambiguity(probabilities: Floats) -> Floats:
    """Return how undecided each prediction is, 4 p (1 - p), in [1e-6, 1]."""
    outside = ~((probabilities >= 0) & (probabilities <= 1))
    if outside.any():
        raise ValueError(f"probabilities must lie in [0, 1], got {probabilities[outside][0]}")
    result: Floats = np.maximum(4.0 * probabilities * (1.0 - probabilities), _LEAST_AMBIGUITY)
    return result


def plan_review(
    probabilities: Floats, budget: float, epsilon: float = EPSILON, share_audit: float = SHARE_AUDIT
) -> ReviewPlan:
    """Return the inclusion probabilities whose sum, the expected number of labels, is the budget."""
    if not epsilon >= EPSILON or epsilon > 0.5:
        raise ValueError(f"epsilon must lie in [{EPSILON}, 0.5], got {epsilon}")
    if not SHARE_AUDIT <= share_audit <= 1:
        raise ValueError(f"share_audit must lie in [{SHARE_AUDIT}, 1], got {share_audit}")
    if not 0 < budget < math.inf:
        raise ValueError(f"budget must be above 0 and finite, got {budget}")
    ambiguities = ambiguity(probabilities)
    count = len(ambiguities)
    if count == 0:
        return ReviewPlan("no_interactions", np.zeros(0), 0.0, 0.0, 1.0)
    if budget >= count:
        return ReviewPlan("all_interactions", np.ones(count), 1.0, 0.0, 1.0)

    is_enough = budget >= epsilon * count
    share_considered = 1.0 if is_enough else budget / (2 * epsilon * count)
    audit = max(share_considered * epsilon, share_audit * budget / count)
    capped = np.arange(count)
    tails = np.cumsum(np.sort(ambiguities))[::-1]
    slope = max(0.0, float(((budget - share_considered * capped - audit * (count - capped)) / tails).max()))
    inclusion = np.minimum(share_considered, audit + slope * ambiguities)
    return ReviewPlan("planned" if is_enough else "subsampled", inclusion, audit, slope, share_considered)


def review_numbers(
    interaction_ids: Sequence[str], review_round: str | int, seed: int = SEED, purpose: str = "review"
) -> Floats:
    """Return the number u of each interaction in a round, in [0, 1)."""
    if isinstance(review_round, int) and review_round < 0:
        raise ValueError(f"review_round must be at least 0, got {review_round}")
    if review_round == "":
        raise ValueError("review_round must have a name, got an empty text")
    prefix = hashlib.md5(f"{purpose}|{seed}|{review_round}|".encode(), usedforsecurity=False)
    numbers = np.empty(len(interaction_ids))
    for index, interaction_id in enumerate(interaction_ids):
        digest = prefix.copy()
        digest.update(interaction_id.encode())
        numbers[index] = int.from_bytes(digest.digest()[:4], "big")
    result: Floats = numbers / _HASH_STEPS
    return result


def draw_review_sample(
    interaction_ids: Sequence[str],
    probabilities: Floats,
    budget: float,
    review_round: str | int,
    epsilon: float = EPSILON,
    share_audit: float = SHARE_AUDIT,
    seed: int = SEED,
    is_of_release: Flags | None = None,
    release_sample: float = 0.0,
) -> ReviewSample:
    """Return which interactions people label in a round, and which of them are the audit sample."""
    if len(interaction_ids) != len(probabilities):
        raise ValueError(
            f"identifiers and probabilities must have one length, got {len(interaction_ids)}, {len(probabilities)}"
        )
    count_distinct = len(set(interaction_ids))
    if count_distinct != len(interaction_ids):
        raise ValueError(f"each interaction must come once, got {len(interaction_ids)} rows of {count_distinct}")
    plan = plan_review(probabilities, budget, epsilon, share_audit)
    if not 0 <= release_sample < math.inf:
        raise ValueError(f"release_sample must be at least 0 and finite, got {release_sample}")
    of_release = np.zeros(len(probabilities), dtype=np.bool_) if is_of_release is None else is_of_release
    share = min(1.0, release_sample / max(1, int(of_release.sum())))
    release_probabilities = np.where(of_release, share, 0.0)
    numbers = review_numbers(interaction_ids, review_round, seed)
    is_of_round = numbers < plan.inclusion_probabilities
    is_drawn = review_numbers(interaction_ids, review_round, seed, "review release") < release_probabilities
    return ReviewSample(
        plan,
        numbers,
        1 - (1 - plan.inclusion_probabilities) * (1 - release_probabilities),
        is_of_round | is_drawn,
        numbers < plan.audit_probability,
        is_drawn & ~is_of_round,
    )


def labels_for_half_width(
    rate: float,
    half_width: float,
    confidence: float = 0.95,
    design_effect: float = 1.0,
    count_interactions: int | None = None,
) -> int:
    """Return how many labels give a rate's Wilson interval the half-width, at least 1."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie in [0, 1], got {rate}")
    if not 0 < half_width < 0.5:
        raise ValueError(f"half_width must lie in (0, 0.5), got {half_width}")
    if count_interactions is not None and count_interactions < 1:
        raise ValueError(f"count_interactions must be at least 1, got {count_interactions}")
    _check_design(confidence, design_effect)
    squared = normal_quantile((1 + confidence) / 2) ** 2
    linear = squared * (2 * half_width**2 - rate * (1 - rate))
    constant = squared**2 * (half_width**2 - 0.25)
    # h < .5 makes the constant negative, so that exactly one root is positive
    count = (-linear + math.sqrt(linear**2 - 4 * half_width**2 * constant)) / (2 * half_width**2)
    count *= design_effect
    if count_interactions is not None:
        count /= 1 + max(count - 1, 0.0) / count_interactions
        return min(count_interactions, _round_up(count))
    return _round_up(count)


def labels_for_difference(
    first_rate: float,
    second_rate: float,
    power: float = 0.80,
    confidence: float = 0.95,
    design_effect: float = 1.0,
) -> int:
    """Return how many labels each of two groups needs so that a two-sided test tells their rates apart."""
    if not (0 <= first_rate <= 1 and 0 <= second_rate <= 1) or first_rate == second_rate:
        raise ValueError(f"rates must differ and lie in [0, 1], got {first_rate} and {second_rate}")
    if not 0.5 <= power < 1:
        raise ValueError(f"power must lie in [0.5, 1), got {power}")
    _check_design(confidence, design_effect)
    effect = 2 * math.asin(math.sqrt(first_rate)) - 2 * math.asin(math.sqrt(second_rate))
    quantiles = normal_quantile((1 + confidence) / 2) + normal_quantile(power)
    return _round_up(2 * design_effect * (quantiles / effect) ** 2)


def measure_labels_needed(labels: pa.Table, targets: pa.Table, metrics: pa.Table | None = None) -> pa.Table:
    """Return how many labels each target of the seed `review_targets` needs, one row per target in its order."""
    needed = {"half_width": _needed_for_half_width, "difference": _needed_for_difference}
    rows: list[dict[str, Any]] = []
    for target in targets.select(["metric_name", "purpose", "target", "confidence", "power"]).to_pylist():
        place = f"review_targets, {target['metric_name']}"
        if target["purpose"] not in PURPOSES:
            raise ValueError(f"{place}: purpose must be among {', '.join(PURPOSES)}, got {target['purpose']}")
        largest = 1.0 if target["purpose"] == "decided_share" else 0.5
        if target["target"] is None or not 0 < target["target"] < largest:
            raise ValueError(f"{place}: target must lie in (0, {largest:g}), got {target['target']}")
        if (target["purpose"] == "difference") != (target["power"] is not None):
            raise ValueError(f"{place}: power belongs to the purpose difference, got {target['power']}")
        row = target | _measure_rate(labels, target["metric_name"], target["confidence"])
        if target["purpose"] == "decided_share":
            rows.append(row | _plan_sets(labels, row, metrics))
            continue
        count_groups, count = needed[target["purpose"]](row)
        rows.append(row | {"count_groups": count_groups, "count_labels_needed": count})
    return pa.Table.from_pylist(rows, schema=LABELS_NEEDED_SCHEMA)


def _measure_rate(labels: pa.Table, metric_name: str, confidence: float) -> dict[str, Any]:
    """Return failure rate, its interval, the rate to plan with and the design effect of one metric's labels."""
    _check_design(confidence, 1.0)
    own = [row for row in labels.to_pylist() if row["metric_name"] == metric_name]
    clusters = np.array([row["cluster_id"] for row in own], dtype=np.str_)
    count_clusters = len(set(clusters.tolist()))
    found: dict[str, Any] = {"count_labels": len(own), "count_clusters": count_clusters}
    if count_clusters < 2:
        return found | {"planning_rate": 0.5, "design_effect": 1.0}
    failures = np.array([row["label"] == 0 for row in own])
    inclusion = np.array([row["inclusion_probability"] for row in own], dtype=np.float64)
    no_predictions = np.zeros(len(own))
    rate = estimate_failure_rate(
        failures,
        no_predictions,
        clusters,
        no_predictions,
        clusters,
        inclusion,
        target="process",
        power_tuning=0.0,
        confidence=confidence,
    )
    # two clusters are enough for all of these
    assert rate.labels_only is not None
    assert rate.effective_n is not None
    low, high = rate.labels_only.low, rate.labels_only.high
    return found | {
        "failure_rate": rate.labels_only.estimate,
        "failure_rate_low": low,
        "failure_rate_high": high,
        "planning_rate": min(max(0.5, low), high),
        "design_effect": max(1.0, len(own) / rate.effective_n),
    }


def _plan_sets(labels: pa.Table, row: dict[str, Any], metrics: pa.Table | None) -> dict[str, Any]:
    """Return the plan of a share of answers that sets decide, from the audit labels that there are."""
    name = row["metric_name"]
    directions = {one["metric_name"]: one["direction"] for one in ([] if metrics is None else metrics.to_pylist())}
    if name not in directions:
        raise ValueError(f"review_targets, {name}: decided_share needs the direction of the metric, got none")
    own = [one for one in labels.to_pylist() if one["metric_name"] == name and one["is_audit"]]
    clusters = len({one["cluster_id"] for one in own})
    accepted = np.array([one["label"] for one in own], dtype=np.int64)
    found: dict[str, Any] = {"count_groups": 1, "count_labels": len(own), "count_clusters": clusters}
    if len(set(accepted.tolist())) < 2:
        return found
    alpha = round(1 - row["confidence"], 12)
    scores = np.array([one["raw_score"] for one in own], dtype=np.float64)
    quality = auroc(standings(scores, directions[name]), accepted)
    rate, per_cluster = float(np.mean(accepted == 0)), len(own) / clusters
    return found | {
        "planning_rate": rate,
        "design_effect": per_cluster,
        "count_labels_needed": labels_until_decided(row["target"], quality, alpha, rate, per_cluster),
        "auroc": quality,
        "share_decidable": share_decidable(quality, alpha),
        "share_decided_expected": expected_share_decided(quality, alpha, rate, clusters),
    }


def _needed_for_half_width(row: dict[str, Any]) -> tuple[int, int]:
    """Return (1 group, labels)."""
    return 1, labels_for_half_width(row["planning_rate"], row["target"], row["confidence"], row["design_effect"])


def _needed_for_difference(row: dict[str, Any]) -> tuple[int, int]:
    """Return (2 groups, labels of both); the other rate lies on the side of .5, where more labels are needed."""
    rate = row["planning_rate"]
    other = rate + row["target"] if rate <= 0.5 else rate - row["target"]
    return 2, 2 * labels_for_difference(rate, other, row["power"], row["confidence"], row["design_effect"])


def _check_design(confidence: float, design_effect: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
    if not 1 <= design_effect < math.inf:
        raise ValueError(f"design_effect must be at least 1 and finite, got {design_effect}")


def _round_up(count: float) -> int:
    """Return the least integer not below the count; a count that is an integer up to rounding stays."""
    return max(1, math.ceil(count - 1e-9))
