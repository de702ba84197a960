"""A finding on newer clusters: a planted weakness is confirmed once, and chance is not."""

from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from schemas import make_schema
from scipy.stats import ttest_ind

from hcat.weakness.retests import RETEST_SCHEMA, retest_findings

SUMS = make_schema(
    string="cell_id run_id",
    bool_="is_second",
    int64="jackknife_group count_needed_to_confirm build_number count_clusters_cell count_clusters_all count_cell"
    " count_pairs_cell count_second_clusters count_new_second_clusters",
    float64="weight_cell weight_all squares_cell squares_all sum_cell sum_all sum_squares_all",
).append(pa.field("built_at", pa.timestamp("us")))


def sum_rows(
    values: np.ndarray, in_cell: np.ndarray, name: str = "c", documents: Any = None, needed: int | None = 20
) -> list[dict[str, Any]]:
    """Sums of rows that are clusters of their own, and of one document each unless some are named."""
    same: dict[str, Any] = {"cell_id": name, "run_id": "r2", "build_number": 2, "count_needed_to_confirm": needed}
    same |= {"count_second_clusters": 6, "count_new_second_clusters": 1, "built_at": datetime(2026, 6, 1)}
    rows, clusters = [], np.arange(len(values))
    for is_second, key in ((False, clusters), (True, clusters if documents is None else documents)):
        for number in np.unique(key):
            own, inside = values[key == number], in_cell[key == number]
            row = {"is_second": is_second, "jackknife_group": int(number), "sum_squares_all": float((own**2).sum())}
            row |= {"count_clusters_cell": int(inside.any()), "count_clusters_all": 1, "sum_all": float(own.sum())}
            row |= dict.fromkeys(("count_pairs_cell", "count_cell"), int(inside.sum()))
            row |= dict.fromkeys(("weight_cell", "squares_cell"), float(inside.sum()))
            row |= dict.fromkeys(("weight_all", "squares_all"), float(len(own)))
            rows.append(same | row | {"sum_cell": float(own[inside].sum())})
    return rows


def retest(rows: list[dict[str, Any]], minimum_clusters: int = 10) -> dict[str, dict[str, Any]]:
    table = retest_findings(pa.Table.from_pylist(rows, schema=SUMS), minimum_clusters)
    assert table.schema == RETEST_SCHEMA
    return {row["cell_id"]: row for row in table.to_pylist()}


def make_failures(share_cell: float, share_rest: float, count: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(7)
    in_cell = np.arange(count) % 10 == 0
    return (random.random(count) < np.where(in_cell, share_cell, share_rest)).astype(float), in_cell


def test_independent_rows_are_tested_by_t() -> None:
    # one row a cluster: about Welch's test, and never more sure of itself
    values, in_cell = make_failures(0.27, 0.2)
    row = retest(sum_rows(values, in_cell))["c"]
    welch = ttest_ind(values[in_cell], values[~in_cell], equal_var=False, alternative="greater")
    np.testing.assert_allclose(row["difference"], values[in_cell].mean() - values[~in_cell].mean())
    assert welch.pvalue <= row["p_value"]
    np.testing.assert_allclose(row["p_value"], welch.pvalue, rtol=0.1)
    assert (row["count_interactions"], row["count_clusters"], row["run_id"], row["build_number"]) == (200, 200, "r2", 2)


def test_a_planted_weakness_is_confirmed_and_chance_is_not() -> None:
    weak, in_cell = make_failures(0.6, 0.2)
    even, _ = make_failures(0.2, 0.2)
    rows = retest([*sum_rows(weak, in_cell, "weak"), *sum_rows(even, in_cell, "zero")])
    assert {cell_id: row["is_confirmed"] for cell_id, row in rows.items()} == {"weak": True, "zero": False}


def test_documents_that_fail_together_are_less_evidence() -> None:
    # a fifth of the documents of the cell fails in every answer, one of the rest does
    documents = np.arange(2000) % 40
    in_cell = documents < 10
    values = np.isin(documents, (0, 1, 10)).astype(float)
    alone, together = (retest(sum_rows(values, in_cell, documents=key))["c"] for key in (None, documents))
    assert alone["difference"] == together["difference"]
    assert [row["is_confirmed"] for row in (alone, together)] == [True, False]


def test_a_finding_waits_for_as_many_interactions_as_it_needs() -> None:
    values, in_cell = make_failures(0.5, 0.2)
    enough, few = sum_rows(values, in_cell, "enough", needed=200), sum_rows(values, in_cell, "few", needed=201)
    assert set(retest([*enough, *few, *sum_rows(values, in_cell, "unknown", needed=None)])) == {"enough"}


def test_what_cannot_be_tested_waits() -> None:
    values, in_cell = make_failures(0.5, 0.2, 300)
    constant = sum_rows(np.ones(300), in_cell, "constant")
    assert retest([*constant, *sum_rows(values, np.arange(300) < 5, "few", needed=1)], minimum_clusters=20) == {}
    assert retest([]) == {}
