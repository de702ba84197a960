"""Rows in, rows out: every status of the weakness table, on made-up interactions."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from hcat.weakness.tables import find_weaknesses

SETTINGS: dict[str, Any] = {"confidence": 0.95, "minimum_clusters": 10}
#: No headline is declared.
PIECES = pa.table(
    {
        name: pa.nulls(0, pa.string())
        for name in ("metric_name", "cluster_id", "jackknife_group", "cells", "count_rows", "sum_values", "sum_squares")
    }
)
UNIT = 1e6
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

COUNT_CLUSTERS = 200
ROWS_PER_CLUSTER = 2


def segments(name: str) -> list[tuple[str, str]]:
    """Dimensions and segments of the cluster with this number; every tenth cluster is of the weak topic."""
    number = int(name)
    topic = "weak" if number % 10 == 0 else ("rare" if number < 9 else f"topic {number % 3}")
    return [("all", "all"), ("topic", topic), ("length", "long" if number % 2 else "short"), ("place", "everywhere")]


@functools.cache
def made(metrics: tuple[str, ...] = tuple(CATALOG["metric_name"].to_pylist())) -> tuple[pa.Table, pa.Table]:
    """Return cells and their sums of 200 clusters with two interactions each."""
    random = np.random.default_rng(1)
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
    places = [[*((first,) for first in own), (own[1], own[2])] for own in of_cluster.values()]
    keys = {cell: key for key, cell in enumerate(dict.fromkeys(cell for own in places for cell in own))}
    cells, sums = [], []
    for metric in metrics:
        for cell, key in keys.items():
            (first, second) = (*cell, (None, None))[:2]
            own = [cluster for cluster in range(COUNT_CLUSTERS) if cell in places[cluster]]
            names = {"first_dimension": first[0], "first_segment": first[1]}
            names |= {"second_dimension": second[0], "second_segment": second[1]}
            counts = {"count_interactions": ROWS_PER_CLUSTER * len(own), "count_clusters": len(own)}
            counts |= {"count_second_clusters": len(own), "count_cluster_pairs": len(own)}
            cells.append({"cell_id": f"{metric}-{key:02}", "metric_name": metric, "cell_key": key} | names | counts)
            for cluster in own:
                values = scores[metric][clusters == cluster]
                if not np.isnan(values).any():
                    at = {"metric_name": metric, "cell_key": key, "jackknife_group": f"{cluster:03}"}
                    own_sums = at | sums_of(values, is_decided=metric in ("grounded", "silent"))
                    # each cluster is about a document of its own
                    sums += [own_sums | {"is_second": is_second} for is_second in (False, True)]
    return pa.Table.from_pylist(cells), pa.Table.from_pylist(sums)


def sums_of(values: npt.NDArray[np.float64], *, is_decided: bool) -> dict[str, float | int]:
    whole = np.round(values * UNIT).astype(np.int64)
    count, failing = (len(values), int((values < THRESHOLD).sum())) if is_decided else (0, 0)
    return {
        "scores_per_unit": UNIT,
        **{f"{kind}_scored": len(values) for kind in ("count", "weight", "squares")},
        "sum_scored": int(whole.sum()),
        "sum_squared_scores": int(whole @ whole),
        **{f"{kind}_decided{of}": count for kind in ("count", "weight", "squares") for of in ("", "_of_all")},
        "sum_decided": failing,
        "sum_decided_of_all": failing,
        "count_failing": failing,
    }


def find(cells: pa.Table, sums: pa.Table, rules: pa.Table = RULES) -> pa.Table:
    return find_weaknesses(cells, sums, PIECES, rules, CATALOG, random_seed=1, **SETTINGS)


@pytest.fixture(scope="module")
def tested() -> pa.Table:
    return find(*made())


def row(table: pa.Table, metric: str, *segments_: str) -> dict[str, Any]:
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
    assert weak["difference_lower"] < weak["difference_bound"] < weak["difference"] < weak["difference_upper"]
    assert weak["value_lower"] <= weak["value"] <= weak["value_upper"]
    assert (weak["share_failing_lower"], weak["share_failing_upper"]) == (weak["value_lower"], weak["value_upper"])
    # only its own clusters failed: what shares none of them is not flagged
    assert not row(tested, "grounded", "topic 1")["is_weak"]


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
    assert set(tested["test_status"].to_pylist()) == set(expected.values())
    for one in tested.to_pylist():
        assert (one["p_value"] is not None) == (one["test_status"] == "tested")
        assert one["test_status"] == "tested" or not one["is_weak"]


def test_cells_without_a_rule_are_described(tested: pa.Table) -> None:
    one = row(tested, "unruled", "weak")
    assert one["margin"] is None
    assert one["value_lower"] < one["value"] < one["value_upper"]
    assert one["difference_lower"] < one["difference"] < one["difference_upper"]
    assert one["minimum_detectable_difference"] is None


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


def change(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, pa.array(values, table.schema.field(name).type))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("measurement", ["median", *["mean_score"] * 4], "measurement of metric_rules must be one of .*, got median"),
        ("margin", [-0.1, 0.0, 0.0, 0.0, 0.0], "margin of metric_rules must be at least 0, got -0.1 for grounded"),
    ],
)
def test_bad_rules_are_refused(name: str, values: list[Any], message: str) -> None:
    rules = change(RULES, name, values)
    with pytest.raises(ValueError, match=message):
        find(*made(("grounded",)), rules)
