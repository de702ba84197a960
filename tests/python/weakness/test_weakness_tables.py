"""Rows in, rows out: every status of the weakness table, on made-up interactions."""

import functools
import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from hcat.statistics.clusters import jackknife_cells
from hcat.weakness.statistics import MEASUREMENTS, WeaknessSettings
from hcat.weakness.tables import TEST_STATUSES, WEAKNESS_SCHEMA, judge_weaknesses

SETTINGS = WeaknessSettings(error_rate=0.05, confidence=0.95, power=0.8, minimum_clusters=10)
THRESHOLD = 0.5

CATALOG = pa.table(
    {
        "metric_name": ["grounded", "distance", "undecided", "silent", "flat", "unruled"],
        "direction": ["higher_is_better", "lower_is_better", *["higher_is_better"] * 4],
        "range_low": pa.array([0.0, 0.0, None, None, None, -1.0], pa.float64()),
        "range_high": pa.array([1.0, None, None, None, None, 1.0], pa.float64()),
    }
)
RULES = pa.table(
    {
        "metric_name": ["grounded", "distance", "undecided", "silent", "flat"],
        "measurement": ["share_failing", "mean_score", "share_failing", "mean_score", "mean_score"],
        "margin": [0.03, 0.02, 0.03, 0.0, 0.0],
        "excluded_dimensions": pa.array(["length", None, None, None, None], pa.string()),
    }
)
SEVERITIES = pa.table(
    {
        "measurement": ["share_failing", "share_failing", "mean_score"],
        "severity": ["minor", "severe", "minor"],
        "difference_from": [0.0, 0.2, 0.0],
    }
)

COUNT_CLUSTERS = 200
ROWS_PER_CLUSTER = 2


def segments(name: str) -> list[tuple[str, str]]:
    """Dimensions and segments of the cluster with this number; every tenth cluster is of the weak topic."""
    number = int(name)
    topic = "weak" if number % 10 == 0 else ("rare" if number < 9 else f"topic {number % 3}")
    return [("all", "all"), ("topic", topic), ("length", "long" if number % 2 else "short"), ("place", "everywhere")]


@functools.cache
def estimates(seed: int = 1, metrics: tuple[str, ...] = tuple(CATALOG["metric_name"].to_pylist())) -> pa.Table:
    """Return the estimates of 200 clusters with two interactions each."""
    random = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(COUNT_CLUSTERS), ROWS_PER_CLUSTER)
    is_weak = clusters % 10 == 0
    noise = random.normal(size=COUNT_CLUSTERS)[clusters] + random.normal(size=len(clusters))
    scores = {
        "grounded": np.clip(0.7 + 0.1 * noise - 0.5 * is_weak, 0, 1),
        "distance": 1 + 0.1 * noise + 0.5 * is_weak,
        "undecided": noise,
        "silent": np.where(is_weak, np.nan, noise),
        "flat": np.full(len(clusters), 0.25),
        "unruled": noise,
    }
    of_cluster = {cluster: segments(str(cluster)) for cluster in range(COUNT_CLUSTERS)}
    cells: list[tuple[str, str, str | None, str | None]] = []
    for cluster in range(COUNT_CLUSTERS):
        for first in of_cluster[cluster]:
            cells.append((*first, None, None))
        topic, length = of_cluster[cluster][1], of_cluster[cluster][2]
        cells.append((*topic, *length))
    rows: list[dict[str, Any]] = []
    for metric in metrics:
        for cell in dict.fromkeys(cells):
            wanted = {cell[:2]} | ({cell[2:]} if cell[2] else set())
            member = np.array([wanted <= set(of_cluster[cluster]) for cluster in clusters.tolist()])
            for measurement in MEASUREMENTS:
                rows.append(estimate(metric, cell, measurement, scores[metric], clusters, member))
    return pa.Table.from_pylist(rows)


def estimate(
    metric: str,
    cell: tuple[str, str, str | None, str | None],
    measurement: str,
    scores: npt.NDArray[np.float64],
    clusters: npt.NDArray[np.int64],
    member: npt.NDArray[np.bool_],
) -> dict[str, Any]:
    is_decided = metric in ("grounded", "silent")
    scored = ~np.isnan(scores) & (is_decided or measurement == "mean_score")
    values = np.where(np.isnan(scores), 0.0, scores)
    if measurement != "mean_score":
        values = (values < THRESHOLD).astype(float)

    def sum_by_cluster(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.bincount(clusters, weights=weights * scored, minlength=COUNT_CLUSTERS)

    counts, sums = sum_by_cluster(member.astype(float)), sum_by_cluster(member * values)
    all_counts, all_sums = sum_by_cluster(np.ones(len(values))), sum_by_cluster(values)
    found = jackknife_cells(counts[:, None], sums[:, None], all_counts, all_sums)
    figures = {name: float(value[0]) for name, value in found._asdict().items()}
    is_whole = cell[0] == "all"
    deviation = float(values[scored & member].std(ddof=1)) if (scored & member).sum() > 1 else float("nan")
    names = ("metric_name", "first_dimension", "first_segment", "second_dimension", "second_segment")
    return {
        "cell_id": hashlib.md5("|".join(filter(None, (metric, *cell))).encode()).hexdigest(),
        **dict(zip(names, (metric, *cell), strict=True)),
        "measurement": measurement,
        "count_scored": int(figures["count_scored"]),
        "count_interactions": int(member.sum()),
        "count_clusters": int(figures["jackknife_groups"]),
        "jackknife_groups": int(figures["jackknife_groups"]),
        "clusters_effective": empty(figures["clusters_effective"]),
        "clusters_carrying": None if measurement == "mean_score" else figures["clusters_carrying"],
        "largest_share": empty(figures["largest_share"]),
        "value": empty(figures["value"]),
        "standard_deviation": empty(deviation),
        "standard_error": empty(figures["standard_error"]),
        "rest_value": None if is_whole else empty(figures["rest_value"]),
        "count_scored_rest": None if is_whole else int(figures["count_scored_rest"]),
        "jackknife_groups_rest": None if is_whole else int(figures["jackknife_groups_rest"]),
        "difference": None if is_whole else empty(figures["difference"]),
        "difference_standard_error": None if is_whole else empty(figures["difference_standard_error"]),
    }


def empty(value: float) -> float | None:
    return None if np.isnan(value) else value


@pytest.fixture(scope="module")
def tested() -> pa.Table:
    return judge_weaknesses(estimates(), RULES, SEVERITIES, CATALOG, SETTINGS)


def row(table: pa.Table, metric: str, *segments_: str) -> dict[str, Any]:
    """Return the row of a cell, named by its segments."""
    wanted = (*segments_, None)[:2]
    found = [
        one
        for one in table.to_pylist()
        if one["metric_name"] == metric and (one["first_segment"], one["second_segment"]) == wanted
    ]
    assert len(found) == 1
    return dict(found[0])


def test_the_weak_topic_is_found(tested: pa.Table) -> None:
    weak = row(tested, "grounded", "weak")
    assert weak["measurement"] == "share_failing"
    assert weak["is_weak"]
    assert weak["difference"] > 0.5
    assert weak["severity"] == "severe"
    assert weak["difference_lower"] < weak["difference_bound"] < weak["difference"] < weak["difference_upper"]
    assert weak["value_lower"] <= weak["value"] <= weak["value_upper"]
    assert (weak["share_failing_lower"], weak["share_failing_upper"]) == (weak["value_lower"], weak["value_upper"])
    # only its own clusters failed: what shares none of them is not flagged
    assert not row(tested, "grounded", "topic 1")["is_weak"]
    assert row(tested, "grounded", "topic 1")["severity"] is None


def test_a_reader_can_recompute_the_test(tested: pa.Table) -> None:
    family = [one for one in tested.to_pylist() if one["test_status"] == "tested"]
    assert len(family) > 10
    for one in family:
        t_value = one["difference"] / one["difference_standard_error"]
        assert_allclose(one["p_value"], stats.t.sf(t_value, one["degrees_of_freedom"]), atol=1e-12)
        bound = one["difference"] - stats.t.ppf(0.95, one["degrees_of_freedom"]) * one["difference_standard_error"]
        assert_allclose(one["difference_bound"], bound)
        assert one["is_weak"] == (one["q_value"] <= 0.05 and one["difference_bound"] > one["margin"])
    p_values = np.array([one["p_value"] for one in family])
    assert_allclose([one["q_value"] for one in family], stats.false_discovery_control(p_values), atol=1e-12)


def test_lower_is_better_turns_the_sign(tested: pa.Table) -> None:
    weak = row(tested, "distance", "weak")
    assert weak["measurement"] == "mean_score"
    assert weak["value"] > weak["rest_value"]
    assert_allclose(weak["difference"], weak["value"] - weak["rest_value"])
    assert weak["is_weak"]
    higher = row(tested, "unruled", "weak")
    assert_allclose(higher["difference"], higher["rest_value"] - higher["value"])


def test_every_status_has_its_row(tested: pa.Table) -> None:
    expected = {
        ("grounded", "weak"): "tested",
        ("grounded", "rare"): "too_few_clusters",
        ("grounded", "all"): "no_rest",
        ("grounded", "everywhere"): "no_rest",
        ("grounded", "long"): "not_in_family",
        ("grounded", "weak", "short"): "not_in_family",
        ("undecided", "weak"): "no_threshold",
        ("silent", "weak"): "no_scores",
        ("flat", "weak"): "constant",
        ("unruled", "weak"): "not_in_family",
    }
    for (metric, *names), status in expected.items():
        assert row(tested, metric, *names)["test_status"] == status, (metric, names)
    assert set(tested["test_status"].to_pylist()) == set(TEST_STATUSES)
    for one in tested.to_pylist():
        assert (one["p_value"] is not None) == (one["test_status"] == "tested")
        assert one["test_status"] == "tested" or not one["is_weak"]


def test_cells_without_a_rule_are_described(tested: pa.Table) -> None:
    one = row(tested, "unruled", "weak")
    assert one["margin"] is None
    assert one["value_lower"] < one["value"] < one["value_upper"]
    assert one["difference_lower"] < one["difference"] < one["difference_upper"]
    assert one["minimum_detectable_difference"] is None


def test_what_was_not_found_says_how_large_it_could_be(tested: pa.Table) -> None:
    quiet = [one for one in tested.to_pylist() if one["test_status"] == "tested" and not one["is_weak"]]
    assert quiet
    assert all(one["minimum_detectable_difference"] > one["margin"] for one in quiet)


def test_shrunken_values_lie_between_cell_and_fit(tested: pa.Table) -> None:
    topics = [
        one
        for one in tested.to_pylist()
        if one["metric_name"] == "distance" and one["first_dimension"] == "topic" and one["second_dimension"] is None
    ]
    values = [one["value"] for one in topics]
    assert len(topics) == 5
    assert all(min(values) <= one["shrunken_value"] <= max(values) for one in topics)
    assert row(tested, "silent", "weak")["shrunken_value"] is None
    assert row(tested, "flat", "weak")["shrunken_value"] == 0.25


def test_intervals_of_means_stay_in_the_range(tested: pa.Table) -> None:
    unruled = [one for one in tested.to_pylist() if one["metric_name"] == "unruled"]
    assert all(-1 <= one["mean_score_lower"] <= one["mean_score_upper"] <= 1 for one in unruled)
    # without an upper end there is nothing to cut
    assert row(tested, "distance", "weak")["mean_score_upper"] > 1.4


def test_rows_have_one_order_and_no_nan(tested: pa.Table) -> None:
    assert tested.schema == WEAKNESS_SCHEMA
    cluster = estimates()
    shuffled = cluster.take(np.random.default_rng(2).permutation(cluster.num_rows))
    assert judge_weaknesses(shuffled, RULES, SEVERITIES, CATALOG, SETTINGS).equals(tested)
    for column in tested.columns:
        if pa.types.is_floating(column.type):
            assert np.isfinite(column.drop_null().to_numpy()).all()


def test_an_empty_warehouse_gives_an_empty_table() -> None:
    nothing = estimates(metrics=("grounded",)).slice(0, 0)
    found = judge_weaknesses(nothing, RULES, SEVERITIES, CATALOG, SETTINGS)
    assert found.schema == WEAKNESS_SCHEMA
    assert found.num_rows == 0


def change(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, pa.array(values, table.schema.field(name).type))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("measurement", ["median", *["mean_score"] * 4], "measurement of weakness_rules must be one of .*, got median"),
        ("margin", [-0.1, 0.0, 0.0, 0.0, 0.0], "margin of weakness_rules must be at least 0, got -0.1 for grounded"),
    ],
)
def test_bad_rules_are_refused(name: str, values: list[Any], message: str) -> None:
    rules = change(RULES, name, values)
    with pytest.raises(ValueError, match=message):
        judge_weaknesses(estimates(metrics=("grounded",)), rules, SEVERITIES, CATALOG, SETTINGS)


def test_bad_severities_are_refused() -> None:
    severities = change(SEVERITIES, "measurement", ["share_failing", "share", "mean_score"])
    with pytest.raises(ValueError, match=r"measurement of weakness_severities must be one of .*, got share"):
        judge_weaknesses(estimates(metrics=("grounded",)), RULES, severities, CATALOG, SETTINGS)


def test_a_metric_without_its_whole_is_refused() -> None:
    cluster = estimates(metrics=("grounded",))
    without = cluster.filter(pa.compute.not_equal(cluster["first_dimension"], "all"))
    with pytest.raises(ValueError, match="every metric must have the cell 'all', got none for grounded"):
        judge_weaknesses(without, RULES, SEVERITIES, CATALOG, SETTINGS)


def test_repeated_cells_are_refused() -> None:
    cluster = estimates(metrics=("grounded",))
    with pytest.raises(ValueError, match="one row per measurement"):
        judge_weaknesses(pa.concat_tables([cluster, cluster]), RULES, SEVERITIES, CATALOG, SETTINGS)
