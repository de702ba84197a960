"""Shares of test set and production against hand-worked answers, scipy, statsmodels, and samples of one population."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from schemas import make_schema
from scipy.stats import chi2, chi2_contingency
from statsmodels.stats.proportion import confint_proportions_2indep

from hcat.weakness.representativeness import REPRESENTATIVENESS_SCHEMA, compare_origins

COUNTS = make_schema(
    string="application dimension segment",
    int64="count_test_set count_production count_clusters_test_set count_clusters_production"
    " total_clusters_test_set total_clusters_production",
    float64="share_test_set share_production effective_test_set effective_production",
)


def make_dimension(
    test_set: list[int], production: list[int], application: str = "bot", siblings: int = 1
) -> list[dict[str, Any]]:
    """Counts of the segments of a dimension; each cluster holds `siblings` interactions."""
    totals = sum(test_set), sum(production)
    return [
        {
            "application": application,
            "dimension": "topic",
            "segment": f"s{number}",
            "count_test_set": own,
            "count_production": other,
            "count_clusters_test_set": own // siblings,
            "count_clusters_production": other // siblings,
            "share_test_set": own / totals[0] if totals[0] else None,
            "share_production": other / totals[1] if totals[1] else None,
            "total_clusters_test_set": totals[0] // siblings,
            "total_clusters_production": totals[1] // siblings,
            "effective_test_set": totals[0] / siblings or None,
            "effective_production": totals[1] / siblings or None,
        }
        for number, (own, other) in enumerate(zip(test_set, production, strict=True))
    ]


def compare(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    table = compare_origins(pa.Table.from_pylist(rows, schema=COUNTS), confidence=0.95, minimum_clusters=10)
    assert table.schema == REPRESENTATIVENESS_SCHEMA
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def test_the_statistic_is_pearsons_and_the_interval_newcombes() -> None:
    rows = compare(make_dimension([30, 50, 20], [90, 60, 50]))
    expected = chi2_contingency([[30, 50, 20], [90, 60, 50]], correction=False)
    np.testing.assert_allclose(rows[0]["statistic"], expected.statistic)
    np.testing.assert_allclose(rows[0]["limit_value"], chi2.ppf(0.95, 2))
    assert [row["is_representative"] for row in rows] == [bool(expected.pvalue > 0.05)] * 3
    # .3 against .45
    np.testing.assert_allclose(rows[0]["difference"], -0.15)
    interval = confint_proportions_2indep(30, 100, 90, 200, method="newcomb", compare="diff", alpha=0.05)
    np.testing.assert_allclose([rows[0]["difference_lower"], rows[0]["difference_upper"]], interval, rtol=1e-9)


def test_an_application_is_compared_with_its_own_customers() -> None:
    own, other = make_dimension([20, 20], [0, 0], "asked by nobody"), make_dimension([20, 20], [30, 30])
    assert [row["status"] for row in compare(own + other)] == ["no_production"] * 2 + ["compared"] * 2


def test_siblings_weigh_as_one_cluster() -> None:
    # the same counts, five interactions a cluster: a fifth of the statistic
    alone, siblings = (compare(make_dimension([100, 100], [150, 50], siblings=size))[0] for size in (1, 5))
    np.testing.assert_allclose(siblings["statistic"], alone["statistic"] / 5)
    assert (alone["is_representative"], siblings["is_representative"]) == (False, False)


def test_what_production_asks_and_the_test_set_does_not_is_named() -> None:
    rows = compare(make_dimension([40, 0, 10], [30, 15, 0]))
    assert [row["is_untested"] for row in rows] == [False, True, False]
    assert rows[1]["share_test_set"] == 0.0


@pytest.mark.parametrize(
    ("test_set", "production", "status"),
    [
        ([20, 20], [0, 0], "no_production"),
        ([0, 0], [20, 20], "no_test_set"),
        ([5, 4], [20, 20], "too_few_clusters"),
        ([20, 20], [20, 20], "compared"),
    ],
)
def test_a_missing_side_is_no_verdict(test_set: list[int], production: list[int], status: str) -> None:
    rows = compare(make_dimension(test_set, production))
    assert {row["status"] for row in rows} == {status}
    assert [row["is_representative"] is None for row in rows] == [status != "compared"] * 2
    assert [row["statistic"] is None for row in rows] == [status != "compared"] * 2
    missing = status.startswith("no_")
    assert [row["difference"] is None for row in rows] == [missing] * 2


def test_a_dimension_of_one_segment_cannot_differ() -> None:
    row = compare(make_dimension([40], [60]))[0]
    assert (row["statistic"], row["limit_value"], row["is_representative"]) == (0.0, 0.0, True)
