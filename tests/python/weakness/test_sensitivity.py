"""Variations of a weak cell: a planted weakness survives them, one that is only length does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import ttest_ind

from hcat.weakness.sensitivity import KINDS, SENSITIVITY_SCHEMA, STATUSES, vary_findings

SUMS = pa.schema(
    [
        *((name, pa.string()) for name in ("cell_id", "variation", "jackknife_group")),
        *((name, pa.int64()) for name in ("count_clusters_cell", "count_clusters_all", "count_cell", "count_all")),
        *((name, pa.float64()) for name in ("sum_cell", "sum_all", "sum_squares_all", "margin", "cut_off")),
    ]
)
SETTINGS = {"confidence": 0.95, "minimum_clusters": 10}


def make_variation(
    values: np.ndarray, in_cell: np.ndarray, variation: str = "as_declared", cell_id: str = "c", siblings: int = 1
) -> list[dict[str, Any]]:
    """Sums of rows of which `siblings` neighbours form a cluster."""
    rows = []
    for number, start in enumerate(range(0, len(values), siblings)):
        own, inside = values[start : start + siblings], in_cell[start : start + siblings]
        rows.append(
            {
                "cell_id": cell_id,
                "variation": variation,
                "jackknife_group": f"{number:04}",
                "count_clusters_cell": int(inside.any()),
                "count_clusters_all": 1,
                "count_cell": int(inside.sum()),
                "sum_cell": float(own[inside].sum()),
                "count_all": len(own),
                "sum_all": float(own.sum()),
                "sum_squares_all": float((own**2).sum()),
                "margin": 0.03,
                "cut_off": 0.001,
            }
        )
    return rows


def vary(rows: list[dict[str, Any]], **changed: Any) -> dict[str, dict[str, Any]]:
    table = vary_findings(pa.Table.from_pylist(rows, schema=SUMS), **(SETTINGS | changed))
    assert table.schema == SENSITIVITY_SCHEMA
    return {row["variation"]: row for row in table.to_pylist()}


def make_failures(share_cell: float, share_rest: float, count: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(7)
    in_cell = np.arange(count) % 10 == 0
    return (random.random(count) < np.where(in_cell, share_cell, share_rest)).astype(float), in_cell


def test_independent_rows_are_tested_by_t() -> None:
    # one row a cluster: within 2 % of Welch's test, and never more sure of itself
    values, in_cell = make_failures(0.5, 0.2)
    row = vary(make_variation(values, in_cell))["as_declared"]
    welch = ttest_ind(values[in_cell], values[~in_cell], equal_var=False)
    np.testing.assert_allclose(row["difference"], values[in_cell].mean() - values[~in_cell].mean())
    error = welch.confidence_interval(0.9)
    assert row["difference_bound"] <= error.low + 0.001
    np.testing.assert_allclose(row["difference_bound"], error.low, rtol=0.02)
    assert row["is_flagged"]


def test_a_planted_weakness_survives_and_noise_does_not() -> None:
    weak, in_cell = make_failures(0.6, 0.2)
    even, _ = make_failures(0.2, 0.2)
    rows = vary(
        [
            *make_variation(weak, in_cell),
            *make_variation(even, in_cell, "length_adjusted"),
            *make_variation(weak, in_cell, "threshold_looser"),
        ]
    )
    assert {name: row["kind"] for name, row in rows.items()} == {
        "as_declared": "as_declared",
        "length_adjusted": "length_adjusted",
        "threshold_looser": "threshold",
    }
    assert (rows["threshold_looser"]["is_flagged"], rows["length_adjusted"]["is_flagged"]) == (True, False)


def test_each_reason_for_no_test_has_a_status() -> None:
    values, in_cell = make_failures(0.5, 0.2, 300)
    few = np.arange(300) < 5
    rows = vary(
        [
            *make_variation(values, in_cell),
            *make_variation(np.ones(300), in_cell, "threshold_stricter"),
            *make_variation(values, few, "threshold_looser"),
        ],
        minimum_clusters=20,
    )
    assert rows["threshold_stricter"]["status"] == "constant"
    assert rows["threshold_looser"]["status"] == "too_few_clusters"
    assert rows["as_declared"]["status"] == "tested"
    assert {row["status"] for row in rows.values()} == set(STATUSES)
    assert [row["is_flagged"] for row in rows.values() if row["status"] != "tested"] == [None] * 2


def test_no_findings_are_an_empty_table() -> None:
    assert vary([]) == {}
    assert set(KINDS.values()) == {"as_declared", "threshold", "length_adjusted", "length_only"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"confidence": 0.0}, r"confidence must lie in \(0, 1\), got 0.0"),
        ({"minimum_clusters": 1}, "minimum_clusters must be at least 2, got 1"),
    ],
)
def test_settings_outside_their_range_are_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        vary([], **changed)


def test_bad_variations_are_named() -> None:
    values, in_cell = make_failures(0.4, 0.2, 100)
    with pytest.raises(ValueError, match="must have the variation as_declared, c has length_only"):
        vary(make_variation(values, in_cell, "length_only"))
    with pytest.raises(ValueError, match="got other_encoder"):
        vary([*make_variation(values, in_cell), *make_variation(values, in_cell, "other_encoder")])
