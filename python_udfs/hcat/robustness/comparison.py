"""Differences between sides at equal group size: intervals and a permutation test over whole groups."""

from itertools import combinations, product
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.robustness.groups import equalise_groups, group_answers
from hcat.robustness.rates import (
    CELLS,
    GAP_RULES,
    MEASURES,
    NEGLIGIBLE,
    SCOPES,
    GroupCounts,
    RobustnessSettings,
    chance_of,
    count_groups_of,
    denominator_of,
    read_clusters,
    resample_groups,
)
from hcat.statistics.arrays import Floats, ratio

#: One row per pair of sides, scope, gap rule and measure; ``group_size`` is null where groups stand as they are.
COMPARISON_SCHEMA: Final = schema(
    "string: system_id hypothesis first_side second_side scope gap_rule measure status design",
    "int64: count_groups_in_both count_groups_in_one",
    "float64: first_value second_value difference low high p_value chance_difference",
    "int64: group_size",
)

_FIGURES: Final = ("first_value", "second_value", "difference", "low", "high", "p_value", "chance_difference")


def compare_at_equal_size(answers: pa.Table, settings: RobustnessSettings) -> pa.Table:
    """Return every pair of sides compared at equal group size (schema :data:`COMPARISON_SCHEMA`)."""
    positions: dict[tuple[str, str], list[int]] = {}
    for position, row in enumerate(answers.select(["system_id", "hypothesis"]).to_pylist()):
        positions.setdefault((row["system_id"], row["hypothesis"]), []).append(position)
    rows: list[dict[str, Any]] = []
    for key in sorted(positions):
        part = answers.take(pa.array(positions[key], pa.int64()))
        groups = group_answers(part)
        if len(set(groups["side"].to_pylist())) < 2:
            continue
        sizes = {size for size in groups["count_answers"].to_pylist() if size > 1}
        size = min(sizes) if len(sizes) > 1 else None
        if size is not None:
            groups = group_answers(equalise_groups(part, size, settings.random_seed))
        is_single = max(groups["count_answers"].to_pylist(), default=0) < 2
        for row in compare_sides(groups, settings).to_pylist():
            if is_single and row["measure"] == "robustness" and row["gap_rule"] == "own_side":
                row |= dict.fromkeys(_FIGURES) | {"status": "groups_of_one"}
            rows.append(row | {"group_size": size})
    return pa.Table.from_pylist(rows, schema=COMPARISON_SCHEMA)


def compare_sides(groups: pa.Table, settings: RobustnessSettings) -> pa.Table:
    """Return the difference of every pair of sides of a hypothesis in robustness and accuracy, with a test."""
    rows: list[dict[str, Any]] = []
    for (system, hypothesis), sides in read_clusters(groups).items():
        for (first, second), scope, gap_rule in product(combinations(sides, 2), SCOPES, GAP_RULES):
            names = sorted({*sides[first], *sides[second]})
            left, right = (count_groups_of(names, sides[side], scope, gap_rule) for side in (first, second))
            for measure in MEASURES:
                rows.append(
                    {"system_id": system, "hypothesis": hypothesis, "first_side": first, "second_side": second}
                    | {"scope": scope, "gap_rule": gap_rule, "measure": measure}
                    | _compare(left, right, measure, scope, gap_rule, settings)
                )
    return pa.Table.from_pylist(rows, schema=COMPARISON_SCHEMA)


def _compare(
    left: GroupCounts, right: GroupCounts, measure: str, scope: str, gap_rule: str, settings: RobustnessSettings
) -> dict[str, Any]:
    in_both = left.is_present & right.is_present
    in_one = left.is_present ^ right.is_present
    columns = [left.correct, denominator_of(left, measure), right.correct, denominator_of(right, measure)]
    totals = [float(column.sum()) for column in columns]
    chances = chance_of(left, scope, gap_rule), chance_of(right, scope, gap_rule)
    row: dict[str, Any] = {
        "design": "paired" if not in_one.any() else "mixed" if in_both.any() else "unpaired",
        "count_groups_in_both": int(in_both.sum()),
        "count_groups_in_one": int(in_one.sum()),
        "first_value": totals[0] / totals[1] if totals[1] else None,
        "second_value": totals[2] / totals[3] if totals[3] else None,
    }
    if row["first_value"] is None or row["second_value"] is None:
        return row | {"status": "no_answerable_group"}
    if measure == "robustness":
        sizes = np.concatenate([left.sizes[left.is_present], right.sizes[right.is_present]])
        is_same = len(np.unique(sizes)) == 1 or (not in_one.any() and bool((left.sizes == right.sizes).all()))
        if not is_same:
            return row | {"status": "unequal_group_sizes"}
        if None not in chances:
            row["chance_difference"] = float(chances[0] or 0.0) - float(chances[1] or 0.0)
    row["difference"] = row["first_value"] - row["second_value"]
    answerable = [int((side.is_present & ~side.is_gap).sum()) for side in (left, right)]
    if min(answerable) < settings.minimum_groups:
        return row | {"status": "too_few_groups"}
    left_above, left_below, right_above, right_below = resample_groups(columns, settings)
    differences = ratio(left_above, left_below) - ratio(right_above, right_below)
    usable = differences[np.isfinite(differences)]
    low, high = np.quantile(usable, [(1 - settings.confidence) / 2, (1 + settings.confidence) / 2])
    p_value = _permute(left, right, measure, row["difference"], settings)
    return row | {"status": "compared", "low": float(low), "high": float(high), "p_value": p_value}


def _permute(
    left: GroupCounts, right: GroupCounts, measure: str, observed: float, settings: RobustnessSettings
) -> float:
    """Return the two-sided p-value of exchanging whole groups between two sides."""
    above = left.correct, right.correct
    below = denominator_of(left, measure), denominator_of(right, measure)
    in_both = np.flatnonzero(left.is_present & right.is_present)
    in_one = np.flatnonzero(left.is_present ^ right.is_present)
    count_left = int(left.is_present[in_one].sum())
    random = np.random.default_rng([settings.random_seed, 1])
    count_extreme = 0
    chunk = max(1, CELLS // max(len(left.answers), 1))
    for start in range(0, settings.count_draws, chunk):
        rows = min(chunk, settings.count_draws - start)
        swaps = random.integers(0, 2, (rows, len(in_both))).astype(np.float64)
        chosen = np.zeros((rows, len(in_one)))
        if len(in_one):
            ranks = np.argsort(random.random((rows, len(in_one))), axis=1)
            np.put_along_axis(chosen, ranks[:, :count_left], 1.0, axis=1)

        def mix(first: Floats, second: Floats, swaps: Floats = swaps, chosen: Floats = chosen) -> tuple[Floats, Floats]:
            single = first[in_one] + second[in_one]
            moved = swaps @ (second[in_both] - first[in_both])
            mixed_left = first[in_both].sum() + moved + chosen @ single
            mixed_right = second[in_both].sum() - moved + single.sum() - chosen @ single
            return mixed_left, mixed_right

        (left_above, right_above), (left_below, right_below) = mix(*above), mix(*below)
        drawn = ratio(left_above, left_below) - ratio(right_above, right_below)
        # a draw in which one side has no figure counts as extreme: the p-value is never too small for it
        count_extreme += int((~(np.abs(drawn) < abs(observed) - NEGLIGIBLE)).sum())
    return (1 + count_extreme) / (1 + settings.count_draws)
