"""Robustness R and accuracy of sides, with intervals that resample whole groups.

R rises when groups are small: with answers that are right by chance, independently with probability p, groups of m give
R = p / (1 - (1 - p)^m). R is therefore compared at equal group size only, and its chance value stands beside it.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.robustness.groups import KEY, key_of
from hcat.statistics.arrays import Flags, Floats, Integers, ratio
from hcat.statistics.clusters import draw_clusters
from hcat.statistics.intervals import normal_quantile, wilson_interval

SCOPES: Final = {
    "all": "every decided answer",
    "language_model_errors_removed": "wrong answers of non-robust groups that the language model made are left out",
    "language_model_errors_counted_right": "the same answers count as right: what retrieval alone would reach",
}
GAP_RULES: Final = {
    "own_side": "a group is a gap when all its answers in the side are wrong",
    "every_side": "a group is a gap when all its answers in every side of the hypothesis are wrong",
}
MEASURES: Final = ("robustness", "accuracy")

#: One row per side, scope and gap rule.
ROBUSTNESS_SCHEMA: Final = schema(
    f"string: {' '.join(KEY[:3])} scope gap_rule status interval_method",
    "int64: count_groups count_gap_groups count_robust_groups count_non_robust_groups count_undecided_groups",
    "int64: count_answers count_gap_answers count_correct",
    "int64: count_retrieval_errors count_language_model_errors count_unattributed_errors smallest_group largest_group",
    "float64: gap_share robustness robustness_low robustness_high chance_robustness",
    "float64: accuracy accuracy_low accuracy_high",
)

#: Numbers that a chunk of draws may hold: bounds the memory.
CELLS: Final = 4_000_000
#: Differences below it are rounding.
NEGLIGIBLE: Final = 1e-12
#: Draws of the bootstrap over whole groups, and of the permutation test.
DRAWS: Final = 2_000
#: Answerable groups (clusters, for variants) below which figures have neither an interval nor a test.
MINIMUM_GROUPS: Final = 10


class RobustnessSettings(NamedTuple):
    """How robustness is measured: the two-sided confidence, and what makes the draws."""

    confidence: float = 0.95
    random_seed: int = 20260101
    count_draws: int = DRAWS
    minimum_groups: int = MINIMUM_GROUPS


def chance_robustness(share_correct: float, group_sizes: Sequence[int]) -> float | None:
    """Return the robustness of answers that are right by chance, independently with one probability."""
    if share_correct == 0:
        return None
    sizes = np.asarray(group_sizes, dtype=np.float64)
    # 1 - (1 - p)^m without loss of digits for a small p
    answerable = -np.expm1(sizes * np.log1p(-share_correct)) if share_correct < 1 else np.ones_like(sizes)
    return min(1.0, float(share_correct * sizes.sum() / (sizes * answerable).sum()))


class GroupCounts(NamedTuple):
    """Answers, right answers and group type of one side in one scope, by group; 0 where the group is not in it."""

    answers: Floats
    correct: Floats
    is_gap: Flags
    sizes: Integers
    is_present: Flags


def measure_robustness(groups: pa.Table, settings: RobustnessSettings) -> pa.Table:
    """Return robustness and accuracy of every side in every scope, with intervals that resample whole groups."""
    rows: list[dict[str, Any]] = []
    for (system, hypothesis), sides in read_clusters(groups).items():
        names = sorted({group_id for side in sides.values() for group_id in side})
        for (side, by_group), scope, gap_rule in product(sides.items(), SCOPES, GAP_RULES):
            counts = count_groups_of(names, by_group, scope, gap_rule)
            rows.append(
                {"system_id": system, "hypothesis": hypothesis, "side": side, "scope": scope, "gap_rule": gap_rule}
                | _count_types(by_group, gap_rule)
                | _measure_cluster(counts, scope, gap_rule, settings)
            )
    return pa.Table.from_pylist(rows, schema=ROBUSTNESS_SCHEMA)


_Cluster = dict[str, dict[str, Any]]


def read_clusters(groups: pa.Table) -> dict[tuple[str, str], dict[str, _Cluster]]:
    """Return the groups of each side of each hypothesis, in order."""
    read: dict[tuple[str, str], dict[str, _Cluster]] = {}
    for row in sorted(groups.to_pylist(), key=key_of):
        sides = read.setdefault((row["system_id"], row["hypothesis"]), {})
        sides.setdefault(row["side"], {})[row["group_id"]] = row
    return read


def count_groups_of(names: list[str], by_group: _Cluster, scope: str, gap_rule: str) -> GroupCounts:
    """Return answers, right answers and gaps of the named groups in one side."""

    def column(name: str) -> Floats:
        return np.array([by_group[each][name] if each in by_group else 0 for each in names], dtype=np.float64)

    answers, correct = column("count_answers"), column("count_correct")
    sizes = answers.astype(np.int64)
    is_present = answers > 0
    is_gap = is_present & (correct == 0 if gap_rule == "own_side" else column("is_gap_on_every_side") > 0)
    language_model = column("count_language_model_errors")
    if scope == "language_model_errors_removed":
        answers = answers - language_model
    if scope == "language_model_errors_counted_right":
        correct = correct + language_model
    return GroupCounts(answers, correct, is_gap, sizes, is_present)


def _count_types(by_group: _Cluster, gap_rule: str) -> dict[str, Any]:
    rows = list(by_group.values())
    types = [row["group_type"] for row in rows]
    decided = [row for row in rows if row["group_type"] is not None]
    gaps = types.count("gap") if gap_rule == "own_side" else sum(bool(row["is_gap_on_every_side"]) for row in decided)
    return {
        "count_groups": len(decided),
        "count_gap_groups": gaps,
        "count_robust_groups": types.count("robust"),
        # a group that is wrong throughout here and right elsewhere is not robust
        "count_non_robust_groups": len(decided) - gaps - types.count("robust"),
        "count_undecided_groups": len(rows) - len(decided),
        "count_retrieval_errors": sum(row["count_retrieval_errors"] for row in rows),
        "count_language_model_errors": sum(row["count_language_model_errors"] for row in rows),
        "count_unattributed_errors": sum(row["count_unattributed_errors"] for row in rows),
        "smallest_group": min((row["count_answers"] for row in decided), default=None),
        "largest_group": max((row["count_answers"] for row in decided), default=None),
    }


def _measure_cluster(counts: GroupCounts, scope: str, gap_rule: str, settings: RobustnessSettings) -> dict[str, Any]:
    total, correct = int(counts.answers.sum()), int(counts.correct.sum())
    total_in_gap = int(counts.answers[counts.is_gap].sum())
    outside = total - total_in_gap
    measured = correct / outside if outside else None
    answerable = int((counts.is_present & ~counts.is_gap).sum())
    row: dict[str, Any] = {
        "count_answers": total,
        "count_gap_answers": total_in_gap,
        "count_correct": correct,
        "gap_share": total_in_gap / total if total else None,
        "robustness": measured,
        "accuracy": (measured or 0.0) * outside / total if total else None,
        "chance_robustness": chance_of(counts, scope, gap_rule),
    }
    if measured is None:
        return row | {"status": "no_answerable_group"}
    if answerable < settings.minimum_groups:
        return row | {"status": "too_few_groups"}
    row["status"] = "estimated"
    is_in = {"robustness": counts.is_present & ~counts.is_gap, "accuracy": counts.is_present}
    for measure in MEASURES:
        values = ratio(*resample_groups([counts.correct, denominator_of(counts, measure)], settings))
        low, high, method = _interval(values, row[measure], int(is_in[measure].sum()), settings)
        row |= {f"{measure}_low": low, f"{measure}_high": high}
        if measure == "robustness":
            row["interval_method"] = method
    return row


def chance_of(counts: GroupCounts, scope: str, gap_rule: str) -> float | None:
    """Return :func:`chance_robustness` of a side; None where scope or gap rule leave it undefined."""
    if scope == "language_model_errors_removed" or gap_rule != "own_side" or not counts.is_present.any():
        return None
    share = float(counts.correct.sum() / counts.answers.sum())
    return chance_robustness(share, counts.sizes[counts.is_present].tolist())


def denominator_of(counts: GroupCounts, measure: str) -> Floats:
    """Return the denominator of a measure by group."""
    return np.where(counts.is_gap, 0.0, counts.answers) if measure == "robustness" else counts.answers


def _interval(
    values: Floats, point: float, count_groups: int, settings: RobustnessSettings
) -> tuple[float, float, str]:
    usable = values[np.isfinite(values)]
    if len(usable) and np.ptp(usable) > NEGLIGIBLE:
        low, high = np.quantile(usable, [(1 - settings.confidence) / 2, (1 + settings.confidence) / 2])
        return float(low), float(high), "bootstrap"
    low, high = wilson_interval(point, count_groups, normal_quantile((1 + settings.confidence) / 2))
    return low, high, "wilson_groups"


def resample_groups(columns: Sequence[Floats], settings: RobustnessSettings) -> list[Floats]:
    """Return the sum of each column, shape (n_groups,), in each draw of whole groups with replacement."""
    stacked = np.stack(columns, axis=1)
    count_groups = len(stacked)
    random = np.random.default_rng(settings.random_seed)
    sums = []
    chunk = max(1, CELLS // count_groups)
    for start in range(0, settings.count_draws, chunk):
        sums.append(draw_clusters(random, count_groups, min(chunk, settings.count_draws - start)) @ stacked)
    return list(np.concatenate(sums).T)
