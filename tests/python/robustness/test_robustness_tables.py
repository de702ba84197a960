"""Robustness as tables: sides at equal size, variants with intervals."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t

from hcat.robustness.groups import ANSWER_SCHEMA
from hcat.robustness.rates import RobustnessSettings
from hcat.robustness.tables import (
    DIFFERENCE_SCHEMA,
    VARIANT_SCHEMA,
    compare_at_equal_size,
    measure_variants,
)


def answers(sizes: dict[str, int], right: dict[str, float], count_groups: int = 40) -> pa.Table:
    """Groups of a size by side, of which a share of answers is right: the first ones of each group."""
    return pa.Table.from_pylist(
        [
            {
                "system_id": "bot",
                "hypothesis": "query length",
                "side": side,
                "group_id": f"g{group}",
                "interaction_id": f"{side} {group} {number}",
                "query": f"{side} {number}",
                "is_correct": number < right[side] * size,
                "context_ids": ["d1"],
                "context_texts": None,
            }
            for side, size in sizes.items()
            for group in range(count_groups)
            for number in range(size)
        ],
        schema=ANSWER_SCHEMA,
    )


def figures(table: pa.Table, **wanted: str) -> dict[str, Any]:
    (row,) = [row for row in table.to_pylist() if all(row[name] == value for name, value in wanted.items())]
    return row


def test_clusters_of_other_sizes_are_compared_at_the_smallest() -> None:
    compared = compare_at_equal_size(
        answers({"short": 4, "long": 2}, {"short": 0.5, "long": 0.5}), RobustnessSettings(count_draws=200)
    )
    assert compared.schema == DIFFERENCE_SCHEMA
    row = figures(compared, scope="all", gap_rule="own_side", measure="robustness")
    assert (row["status"], row["group_size"]) == ("compared", 2)
    as_logged = compare_at_equal_size(
        answers({"short": 4, "long": 4}, {"short": 1.0, "long": 0.5}), RobustnessSettings(count_draws=200)
    )
    row = figures(as_logged, scope="all", gap_rule="own_side", measure="robustness")
    assert row["group_size"] is None
    assert_allclose(row["difference"], -0.5)  # long - short
    assert row["p_value"] < 0.01


def test_groups_of_one_answer_have_no_robustness_of_their_own() -> None:
    compared = compare_at_equal_size(
        answers({"short": 1, "long": 1}, {"short": 1.0, "long": 0.0}), RobustnessSettings(count_draws=200)
    )
    own = figures(compared, scope="all", gap_rule="own_side", measure="robustness")
    assert (own["status"], own["difference"], own["p_value"]) == ("groups_of_one", None, None)
    every = figures(compared, scope="all", gap_rule="every_side", measure="robustness")
    assert (every["status"], every["difference"]) == ("compared", -1.0)


def test_one_cluster_is_not_compared() -> None:
    assert compare_at_equal_size(answers({"short": 3}, {"short": 1.0})).num_rows == 0


def pair(cluster: str, change: float | None, outcome: str, metric: str = "m") -> dict[str, Any]:
    return {
        "system": "bot",
        "variant_type": "paraphrase",
        "variant_meaning": "kept",
        "metric_name": metric,
        "cluster_id": cluster,
        "score_change": change,
        "outcome": outcome,
    }


def test_mean_change_has_the_t_interval_of_independent_pairs() -> None:
    pairs = pa.Table.from_pylist([pair(f"s{number}", float(number % 2), "both_right") for number in range(10)])
    (row,) = measure_variants(pairs, confidence=0.95, minimum_clusters=10).to_pylist()
    assert_allclose(row["mean_change"], 0.5)
    # ten values of 0 and 1: s^2 = 10/9 * .25
    margin = t.ppf(0.975, 9) * (10 / 9 * 0.25 / 10) ** 0.5
    assert_allclose([row["mean_change_lower"], row["mean_change_upper"]], [0.5 - margin, 0.5 + margin])
    assert (row["share_flipped"], row["flip_status"]) == (0.0, "estimated")
    assert 0.2 < row["share_flipped_upper"] < 0.4


def test_pairs_of_one_cluster_count_once() -> None:
    one_each = [pair(f"s{number}", float(number % 2), "broken" if number % 2 else "both_right") for number in range(10)]
    tripled = measure_variants(pa.Table.from_pylist(one_each * 3), confidence=0.95, minimum_clusters=10).to_pylist()[0]
    single = measure_variants(pa.Table.from_pylist(one_each), confidence=0.95, minimum_clusters=10).to_pylist()[0]
    for bound in ("mean_change_lower", "mean_change_upper", "share_broken_lower", "share_broken_upper"):
        assert_allclose(tripled[bound], single[bound], rtol=1e-9)


def test_few_clusters_and_no_pairs_have_a_status_and_order_does_not_matter() -> None:
    rows = [
        pair("a", 1.0, "mended"),
        pair("b", -1.0, "broken"),
        pair("c", None, "undecided", "without scores"),
    ]
    found = measure_variants(pa.Table.from_pylist(rows), confidence=0.95, minimum_clusters=10)
    assert found.schema == VARIANT_SCHEMA
    few, none = found.to_pylist()
    assert (few["change_status"], few["flip_status"], few["share_flipped"]) == ("too_few_clusters",) * 2 + (1.0,)
    assert few["mean_change_lower"] is None
    assert (none["change_status"], none["flip_status"], none["mean_change"]) == ("no_pairs", "no_pairs", None)
    random.Random(1).shuffle(rows)
    again = measure_variants(pa.Table.from_pylist(rows), confidence=0.95, minimum_clusters=10)
    assert json.dumps(again.to_pylist()) == json.dumps(found.to_pylist())


def test_wrong_settings_and_outcomes_are_named() -> None:
    with pytest.raises(ValueError, match="minimum_clusters must be at least 2, got 1"):
        measure_variants(pa.Table.from_pylist([pair("a", 1.0, "broken")]), confidence=0.95, minimum_clusters=1)
    with pytest.raises(ValueError, match=r"outcome must be one of .*, got 'flipped'"):
        measure_variants(pa.Table.from_pylist([pair("a", 1.0, "flipped")]), confidence=0.95, minimum_clusters=10)
