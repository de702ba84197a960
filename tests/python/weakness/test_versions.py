"""Paired differences against hand-worked answers, reference libraries and simulated versions that do not differ."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from schemas import make_schema
from scipy.stats import binomtest, norm, t, ttest_1samp
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from hcat.weakness.versions import VERSION_DIFFERENCE_SCHEMA, compare_versions

UNKNOWN = "noise noise_of_one day_standard_error day_degrees candidate_value others_value count_other_clusters"
CELLS = make_schema(
    string="version_comparison_id version_pair_id family",
    int64="count_shared_queries count_pairs count_clusters count_clusters_better count_clusters_worse",
    float64="clusters_effective difference standard_error gain loss value_range margin tolerated_loss target_difference"
    f" {UNKNOWN}",
    bool_="is_lower_by_design has_threshold",
)
SETTINGS: dict[str, Any] = {"confidence": 0.95, "minimum_clusters": 10}


def make_cell(
    differences: list[float], margin: float | None = 0.02, name: str = "c", family: str = "metrics"
) -> dict[str, Any]:
    """What int_version_cells_measured says of clusters of one query each with these differences."""
    values = np.asarray(differences, dtype=np.float64)
    count = len(values)
    return {
        "version_comparison_id": name,
        "version_pair_id": "pair",
        "family": None if margin is None else family,
        **dict.fromkeys(("count_shared_queries", "count_pairs", "count_clusters"), count),
        "clusters_effective": float(count),
        "difference": float(values.mean()),
        "standard_error": float(values.std(ddof=1) / np.sqrt(count)),
        "gain": float(np.maximum(values, 0).mean()),
        "loss": float(np.maximum(-values, 0).mean()),
        "count_clusters_better": int((values > 0).sum()),
        "count_clusters_worse": int((values < 0).sum()),
        "value_range": 1.0,
        "margin": margin,
        "tolerated_loss": None if margin is None else 0.05,
        "target_difference": None if margin is None else 0.05,
        **dict.fromkeys(UNKNOWN.split()),
        "is_lower_by_design": False,
        "has_threshold": True,
    }


def compare(*cells: dict[str, Any]) -> list[dict[str, Any]]:
    table = compare_versions(pa.Table.from_pylist(list(cells), schema=CELLS), **SETTINGS)
    assert table.schema == VERSION_DIFFERENCE_SCHEMA
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def test_one_query_a_cluster_is_the_paired_t_test() -> None:
    values = np.random.default_rng(1).normal(0.05, 0.2, 40)
    row = compare(make_cell(values.tolist()))[0]
    expected = ttest_1samp(values, 0)
    interval = expected.confidence_interval(0.95)
    assert row["method"] == "jackknife"
    np.testing.assert_allclose(row["p_value"], expected.pvalue)
    np.testing.assert_allclose([row["difference_lower"], row["difference_upper"]], interval, rtol=1e-9)


def test_few_changed_clusters_are_tested_by_their_signs() -> None:
    # 4 of 100 clusters got worse by one failure each, 1 got better: McNemar's exact p is 2 (1 + 5) / 2^5 = .375
    row = compare(make_cell([-1.0] * 4 + [1.0] + [0.0] * 95))[0]
    assert row["method"] == "exact"
    np.testing.assert_allclose(row["p_value"], 0.375)
    np.testing.assert_allclose(row["p_value"], binomtest(1, 5).pvalue)
    better = proportion_confint(1, 100, alpha=0.025, method="beta")
    worse = proportion_confint(4, 100, alpha=0.025, method="beta")
    np.testing.assert_allclose(row["difference_lower"], better[0] - worse[1])
    np.testing.assert_allclose(row["difference_upper"], better[1] - worse[0])
    assert row["verdict"] == "no_difference_shown"


def test_no_change_is_an_answer_with_an_interval() -> None:
    # nothing moved in 100 clusters: at most 1 - .0125^(1/100) = 4.29 % of such clusters can move
    row = compare(make_cell([0.0] * 100))[0]
    assert (row["status"], row["verdict"], row["p_value"], row["q_value"]) == (
        "no_change",
        "no_difference_shown",
        1.0,
        1.0,
    )
    np.testing.assert_allclose([row["difference_lower"], row["difference_upper"]], [-0.0429, 0.0429], atol=5e-5)


def test_clusters_that_all_lose_alike_are_worse_although_nothing_varies() -> None:
    row = compare(make_cell([-1.0] * 30))[0]
    # p = 2 / 2^30; of 30 clusters that all lose, at least .0125^(1/30) = .864 of such clusters do
    assert (row["status"], row["method"], row["verdict"]) == ("tested", "exact", "worse")
    np.testing.assert_allclose(row["p_value"], 2 / 2**30)
    np.testing.assert_allclose(row["difference_upper"], -(0.0125 ** (1 / 30)) + 1 - 0.0125 ** (1 / 30), rtol=1e-9)


def test_each_reason_for_no_verdict_has_a_status() -> None:
    known = make_cell([0.5, -0.25] * 10)
    rows = compare(
        {**known, "count_shared_queries": 0, "count_pairs": 0, "count_clusters": 0},
        {**known, "has_threshold": False},
        {**known, "count_pairs": 0},
        {**known, "count_clusters": 9},
        {**known, "margin": None},
        known,
    )
    statuses = [row["status"] for row in rows]
    assert statuses == ["no_pairs", "no_threshold", "no_scores", "too_few_clusters", "not_in_family", "tested"]
    assert [row["verdict"] for row in rows[:-1]] == ["not_evaluated"] * 5
    assert [row["p_value"] is None for row in rows] == [True, True, True, True, False, False]
    assert [row["q_value"] is None for row in rows] == [True, True, True, True, True, False]


def test_q_values_are_those_of_statsmodels_over_the_family_alone() -> None:
    random = np.random.default_rng(3)
    cells = [make_cell(random.normal(0.02, 0.1, 30).tolist(), name=f"{number:02}") for number in range(20)]
    aside = make_cell(random.normal(0.5, 0.1, 30).tolist(), margin=None, name="aside")
    rows = compare(*cells, aside)
    expected = multipletests([row["p_value"] for row in rows[:-1]], method="fdr_bh")[1]
    np.testing.assert_allclose([row["q_value"] for row in rows[:-1]], expected)


def test_the_headline_and_each_pair_have_their_level_for_themselves() -> None:
    # 22 clusters gain and 10 lose: p = .05 by itself, and far from it among fifty segments in which nothing happens
    moved = [1.0] * 22 + [-1.0] * 9 + [0.0] * 169
    segments = [make_cell([0.1, -0.1] * 20, name=f"s{number:02}", family="segments") for number in range(50)]
    headline = make_cell(moved, name="headline", family="headline")
    other_pair = make_cell(moved, name="other", family="segments") | {"version_pair_id": "other"}
    among_segments = make_cell(moved, name="among", family="segments")
    rows = {row["version_comparison_id"]: row for row in compare(*segments, headline, other_pair, among_segments)}
    assert rows["headline"]["q_value"] == rows["headline"]["p_value"] < 0.05
    assert rows["other"]["q_value"] == rows["other"]["p_value"]
    assert rows["among"]["q_value"] > 0.5
    assert [rows[name]["verdict"] for name in ("headline", "other", "among")] == [
        "better",
        "better",
        "no_difference_shown",
    ]


def test_the_margin_is_compared_with_the_difference_and_not_with_its_interval() -> None:
    sums = [1.0] * 22 + [-1.0] * 9 + [0.0] * 169  # a gain of .065, whose interval begins below .02
    row = compare(make_cell(sums, margin=0.02))[0]
    assert row["difference_lower"] < 0.02
    assert row["verdict"] == "better"
    assert compare(make_cell(sums, margin=0.07))[0]["verdict"] == "no_difference_shown"


def test_what_is_lower_by_design_is_no_regression() -> None:
    sums = [-1.0] * 30 + [0.0] * 70
    rows = compare(
        make_cell(sums, name="a") | {"is_lower_by_design": True},
        make_cell([-value for value in sums], name="b") | {"is_lower_by_design": True},
    )
    assert [row["verdict"] for row in rows] == ["lower_by_design", "better"]


def test_the_release_question_has_three_answers() -> None:
    nothing_moved = make_cell([0.0] * 100, name="a")  # the interval ends at -.043
    few = make_cell([1.0] * 12 + [-1.0] * 12 + [0.0] * 36, name="b")
    lost = make_cell([-1.0] * 60 + [0.0] * 40, name="c")
    untested = make_cell([0.0] * 5, name="d")
    assert [row["release_answer"] for row in compare(nothing_moved, few, lost, untested)] == [
        "loss_excluded",
        "loss_not_excluded",
        "loss_shown",
        "not_evaluated",
    ]


def test_shared_queries_that_are_easier_than_the_others_are_said() -> None:
    cell = make_cell([0.0] * 100) | {"candidate_value": 0.1, "count_other_clusters": 50.0}
    found = compare(cell, cell | {"others_value": 0.3}, cell | {"others_value": 0.15}, cell | {"others_value": 0.02})
    assert [row["is_shared_easier"] for row in found] == [None, True, False, False]


def test_the_days_decide_where_they_say_less_than_the_queries() -> None:
    cell = make_cell([1.0] * 22 + [-1.0] * 9 + [0.0] * 169)  # t of .065 / .0275
    of_days = [{"day_standard_error": 0.02, "day_degrees": 1.0}, {"day_standard_error": 0.001, "day_degrees": 2.0}]
    by_queries, by_days, quiet = compare(cell, *(cell | days for days in of_days))
    assert (by_queries["verdict"], by_days["verdict"], by_days["method"]) == ("better", "no_difference_shown", "days")
    np.testing.assert_allclose(by_days["p_value"], 2 * t.sf(0.065 / 0.02, 1))
    np.testing.assert_allclose(by_days["difference_upper"], 0.065 + t.ppf(0.975, 1) * 0.02)
    assert by_days["queries_needed"] is None
    assert quiet == by_queries


def test_as_many_queries_as_planned_show_the_target_with_the_declared_power() -> None:
    sums = [1.0] * 15 + [-1.0] * 10 + [0.0] * 175
    planned = compare(make_cell(sums))[0]["queries_needed"]
    # the same queries over again until there are as many as planned: the error is (z + z) times smaller than .05
    error = make_cell((sums * math.ceil(planned / 200))[:planned])["standard_error"]
    np.testing.assert_allclose(0.05 / error, norm.ppf(0.975) + norm.ppf(0.8), rtol=0.03)


def test_replicates_replace_queries_only_as_far_as_answers_vary_by_themselves() -> None:
    sums = [1.0] * 15 + [-1.0] * 10 + [0.0] * 175
    # n s^2 = .125 x 200 / 199: all of it noise of one answer a side, half of it, or none
    cells = [
        make_cell(sums, name=name) | {"noise": noise, "noise_of_one": noise}
        for name, noise in (("all", 0.124), ("half", 0.0624), ("none", 0.0))
    ]
    found = [row["replicates_needed"] for row in compare(*cells)]
    # with 200 queries the variance of one must fall to 200 (.05 / 2.81)^2 = .063: a half of .125
    assert found == [2, None, None]


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [("margin", -0.1, "at least 0"), ("tolerated_loss", 0.0, "above 0"), ("target_difference", 0.0, "above 0")],
)
def test_a_rule_outside_its_range_is_named(name: str, value: float, least: str) -> None:
    with pytest.raises(ValueError, match=f"metric_rules: {name} must be {least}, got {value}"):
        compare(make_cell([0.0] * 10) | {name: value})
