"""Robustness as Arrow tables: sides compared at equal group size, variants by type, and all parts in one table.

:mod:`hcat.robustness.groups` defines a group, R and a faulty module. SQL pairs variants with their parents
(``fct_robustness_pairs``) and draws the groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.engine.stacking import stack_parts
from hcat.robustness.chunk_orders import measure_orders
from hcat.robustness.comparison import COMPARISON_SCHEMA, compare_sides
from hcat.robustness.groups import attribute_errors, equalise_groups, group_answers
from hcat.robustness.rates import RobustnessSettings, measure_robustness
from hcat.robustness.reliability import ReliabilitySettings, measure_reliability, measure_share
from hcat.statistics.arrays import Integers
from hcat.statistics.clusters import sum_by_cluster
from hcat.statistics.intervals import t_quantile

#: One row per pair of sides, scope, gap rule and measure; ``group_size`` is null where groups stand as they are.
DIFFERENCE_SCHEMA: Final = COMPARISON_SCHEMA.append(pa.field("group_size", pa.int64()))

OUTCOMES: Final = {
    "both_right": "the answer to the parent and that to the variant are right",
    "both_wrong": "both are wrong",
    "broken": "the parent is answered right and the variant wrong",
    "mended": "the parent is answered wrong and the variant right",
    "undecided": "nobody knows of one of them",
}
VARIANT_STATUSES: Final = {
    "estimated": "figures with intervals",
    "too_few_clusters": "fewer independent parents than the least: figures without intervals",
    "no_pairs": "no pair has the figure on both sides",
}

#: One row per system, variant type and metric.
VARIANT_SCHEMA: Final = pa.schema(
    [
        ("system", pa.string()),
        ("variant_type", pa.string()),
        ("variant_meaning", pa.string()),
        ("metric_name", pa.string()),
        ("change_status", pa.string()),
        ("flip_status", pa.string()),
        ("count_pairs", pa.int64()),
        ("count_scored_pairs", pa.int64()),
        ("count_decided_pairs", pa.int64()),
        ("count_clusters", pa.int64()),
        ("count_broken", pa.int64()),
        ("count_mended", pa.int64()),
        ("mean_change", pa.float64()),
        ("mean_change_lower", pa.float64()),
        ("mean_change_upper", pa.float64()),
        ("share_flipped", pa.float64()),
        ("share_flipped_lower", pa.float64()),
        ("share_flipped_upper", pa.float64()),
        ("share_broken", pa.float64()),
        ("share_broken_lower", pa.float64()),
        ("share_broken_upper", pa.float64()),
    ]
)


def measure_all(
    answers: pa.Table, pairs: pa.Table, verdicts: pa.Table, orders: pa.Table, settings: RobustnessSettings
) -> pa.Table:
    """Return all that is measured of robustness and of metrics without a reference, one part per mart.

    Parameters
    ----------
    answers : Table
        Answers in groups: schema :data:`hcat.robustness.groups.ANSWER_SCHEMA`, ordered by the key of a group.
    pairs : Table
        Variants with their parents, as in :func:`measure_variants`.
    verdicts : Table
        Schema :data:`hcat.robustness.reliability.VERDICT_SCHEMA`, ordered by system and metric.
    orders : Table
        Schema :data:`hcat.robustness.chunk_orders.ORDERS_SCHEMA`, ordered by its key.
    settings : RobustnessSettings

    Returns
    -------
    Table
        The parts ``groups``, ``errors``, ``rates``, ``differences``, ``variants``, ``reliability`` and
        ``chunk_orders`` (:func:`hcat.engine.stacking.stack_parts`).
    """
    groups = group_answers(answers, settings.rule)
    least = settings.minimum_groups
    of_metrics = ReliabilitySettings(settings.confidence, least)
    return stack_parts(
        {
            "groups": groups,
            "errors": attribute_errors(answers, settings.rule),
            "rates": measure_robustness(groups, settings),
            "differences": compare_at_equal_size(answers, settings),
            "variants": measure_variants(pairs, confidence=settings.confidence, minimum_clusters=least),
            "reliability": measure_reliability(verdicts, of_metrics),
            "chunk_orders": measure_orders(orders, of_metrics),
        }
    )


def compare_at_equal_size(answers: pa.Table, settings: RobustnessSettings | None = None) -> pa.Table:
    """Return every pair of sides compared at equal group size (schema :data:`DIFFERENCE_SCHEMA`)."""
    chosen = settings or RobustnessSettings()
    rows: list[dict[str, Any]] = []
    for positions in _by_hypothesis(answers):
        part = answers.take(pa.array(positions, pa.int64()))
        groups = group_answers(part, chosen.rule)
        if len(set(groups["side"].to_pylist())) < 2:
            continue
        sizes = {size for size in groups["count_answers"].to_pylist() if size > 1}
        size = min(sizes) if len(sizes) > 1 else None
        if size is not None:
            groups = group_answers(equalise_groups(part, size, chosen.random_seed), chosen.rule)
        is_single = max(groups["count_answers"].to_pylist(), default=0) < 2
        for row in compare_sides(groups, chosen).to_pylist():
            if is_single and row["measure"] == "robustness" and row["gap_rule"] == "own_side":
                row |= dict.fromkeys(_FIGURES) | {"status": "groups_of_one"}
            rows.append(row | {"group_size": size})
    return pa.Table.from_pylist(rows, schema=DIFFERENCE_SCHEMA)


_FIGURES = ("first_value", "second_value", "difference", "low", "high", "p_value", "chance_difference")


def _by_hypothesis(answers: pa.Table) -> list[list[int]]:
    """Return the positions of the answers of each system and hypothesis, in order of their names."""
    positions: dict[tuple[str, str], list[int]] = {}
    for position, row in enumerate(answers.select(["system_id", "hypothesis"]).to_pylist()):
        positions.setdefault((row["system_id"], row["hypothesis"]), []).append(position)
    return [positions[key] for key in sorted(positions)]


def measure_variants(pairs: pa.Table, *, confidence: float, minimum_clusters: int) -> pa.Table:
    """Return change and flips of every system, variant type and metric, with intervals that count clusters."""
    if minimum_clusters < 2:
        raise ValueError(f"minimum_clusters must be at least 2, got {minimum_clusters}")
    keys = ("system", "variant_type", "variant_meaning", "metric_name")
    found: dict[tuple[str, ...], list[tuple[str, float | None, str]]] = {}
    for row in pairs.select([*keys, "cluster_id", "score_change", "outcome"]).to_pylist():
        if row["outcome"] not in OUTCOMES:
            raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {row['outcome']!r}")
        cell = found.setdefault(tuple(row[key] for key in keys), [])
        cell.append((row["cluster_id"], row["score_change"], row["outcome"]))
    rows: list[dict[str, Any]] = []
    for key in sorted(found):
        # sums must not depend on the order of rows
        cell = sorted(found[key], key=lambda pair: (pair[0], pair[1] is None, pair[1] or 0.0, pair[2]))
        scored = [(cluster, change) for cluster, change, _ in cell if change is not None]
        decided = [(cluster, outcome) for cluster, _, outcome in cell if outcome != "undecided"]
        outcomes = [outcome for _, outcome in decided]
        flipped = measure_share(
            np.array([outcome in ("broken", "mended") for outcome in outcomes], dtype=bool),
            _codes([cluster for cluster, _ in decided]),
            confidence,
            minimum_clusters,
        )
        broken = measure_share(
            np.array([outcome == "broken" for outcome in outcomes], dtype=bool),
            _codes([cluster for cluster, _ in decided]),
            confidence,
            minimum_clusters,
        )
        mean, lower, upper = _mean_change(scored, confidence, minimum_clusters)
        rows.append(
            dict(zip(keys, key, strict=True))
            | {
                "change_status": _status(len(scored), lower),
                "flip_status": _status(len(decided), flipped.low),
                "count_pairs": len(cell),
                "count_scored_pairs": len(scored),
                "count_decided_pairs": len(decided),
                "count_clusters": len({cluster for cluster, _, _ in cell}),
                "count_broken": outcomes.count("broken"),
                "count_mended": outcomes.count("mended"),
                "mean_change": mean,
                "mean_change_lower": lower,
                "mean_change_upper": upper,
                "share_flipped": flipped.value,
                "share_flipped_lower": flipped.low,
                "share_flipped_upper": flipped.high,
                "share_broken": broken.value,
                "share_broken_lower": broken.low,
                "share_broken_upper": broken.high,
            }
        )
    return pa.Table.from_pylist(rows, schema=VARIANT_SCHEMA)


def _status(count: int, lower: float | None) -> str:
    if not count:
        return "no_pairs"
    return "too_few_clusters" if lower is None else "estimated"


def _codes(clusters: Sequence[str]) -> Integers:
    codes = {cluster: code for code, cluster in enumerate(sorted(set(clusters)))}
    return np.array([codes[cluster] for cluster in clusters], dtype=np.int64)


def _mean_change(
    scored: Sequence[tuple[str, float]], confidence: float, minimum_clusters: int
) -> tuple[float | None, float | None, float | None]:
    """Return mean, lower and upper bound; no bounds below the least number of clusters."""
    if not scored:
        return None, None, None
    changes = np.array([change for _, change in scored], dtype=np.float64)
    codes = _codes([cluster for cluster, _ in scored])
    mean = float(changes.mean())
    count_clusters = int(codes.max()) + 1
    if count_clusters < minimum_clusters:
        return mean, None, None
    residuals = sum_by_cluster(changes - mean, codes)
    variance = count_clusters / (count_clusters - 1) * float(residuals @ residuals) / len(changes) ** 2
    margin = float(t_quantile((1 + confidence) / 2, count_clusters - 1)) * float(np.sqrt(variance))
    return mean, mean - margin, mean + margin
