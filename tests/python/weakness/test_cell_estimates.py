"""Cells and their estimates: the models are rendered and run as they are on small tables in memory."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from schemas import make_schema
from test_weakness_tables import PIECES

from benchmarks.rendering import render_model
from hcat.weakness.estimates import estimate_cells
from hcat.weakness.tables import find_weaknesses

ROOT = Path(__file__).resolve().parents[3]
MODELS = ("int_clusters_bucketed", "int_cell_segments", "int_interaction_cells", "int_metric_cells", "int_cell_sums")
#: measurement -> column of an evaluation
MEASUREMENTS = {"mean_score": "raw_score", "share_failing": "is_failing", "share_failing_of_all": "is_failing_of_all"}
KEYS = [
    "cell_id",
    "metric_name",
    "first_dimension",
    "first_segment",
    "second_dimension",
    "second_segment",
    "count_interactions",
    "count_clusters",
]


def run_models(
    evaluations: Sequence[Mapping[str, Any]], segments: Sequence[Mapping[str, Any]], groups: int = 128
) -> duckdb.DuckDBPyConnection:
    """Return a database that holds the models over evaluations and segments, the estimates and the tested cells."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    schema = make_schema(
        string="interaction_id metric_name",
        float64="raw_score threshold",
        bool_="is_failing is_failing_of_all",
        int64="whole_weight",
    )
    rows = pa.Table.from_pylist(list(evaluations), schema=schema)
    connection.register("given_evaluations", rows)
    of_release = "select * replace (coalesce(whole_weight, 1) as whole_weight), true as is_in_release_population"
    connection.execute(f"create table int_primary_evaluations as {of_release} from given_evaluations")
    schema = make_schema(string="interaction_id cluster_id dimension segment")
    rows = pa.Table.from_pylist(list(segments), schema=schema)
    connection.register("given_segments", rows)
    connection.execute("create table int_interaction_segments as from given_segments")
    connection.execute(
        "create table analysis_dimension_pairs as select 'topic' as first_dimension, 'language' as second_dimension,"
        " null::varchar as third_dimension, null::varchar as headline_metric"
    )
    connection.execute(
        "create table fct_interactions as select distinct interaction_id, cluster_id, cluster_id as second_cluster_id"
        " from int_interaction_segments"
    )
    for name in MODELS:
        text = render_model(name, {})
        if name == "int_clusters_bucketed":
            text = text.replace("<= 1000", f"<= {groups}").replace("* 128", f"* {groups}")
        connection.execute(f"create table {name} as {text}")
    cells, sums = (
        connection.execute(statement).to_arrow_table()
        for statement in ("from int_metric_cells order by cell_id", "from int_cell_sums")
    )
    keys = cells.select(KEYS)
    estimates = pa.concat_tables(
        pa.table(
            {name: keys[name] for name in KEYS}
            | {"measurement": pa.repeat(measurement, cells.num_rows)}
            | {name: pa.array(column, from_pandas=True) for name, column in figures.items()}
        )
        for measurement, figures in estimate_cells(cells, sums)[0].items()
    )
    connection.register("given_estimates", estimates)
    connection.execute("create table int_cell_estimates as from given_estimates")
    rules = pa.table({name: pa.nulls(0, pa.string()) for name in ("metric_name", "measurement", "margin")})
    metrics = sorted({row["metric_name"] for row in evaluations})
    unbounded = {name: pa.nulls(len(metrics), pa.float64()) for name in ("range_low", "range_high")}
    directions = pa.array(["higher_is_better"] * len(metrics), pa.string())
    catalog = pa.table({"metric_name": pa.array(metrics, pa.string()), "direction": directions} | unbounded)
    connection.register(
        "given_tested",
        find_weaknesses(cells, sums, PIECES, rules, catalog, random_seed=1, confidence=0.95, minimum_clusters=10),
    )
    connection.execute("create table int_weaknesses_tested as from given_tested")
    connection.execute(f"create table fct_score_distributions as {render_model('fct_score_distributions', {})}")
    return connection


def rows_of(connection: duckdb.DuckDBPyConnection, statement: str) -> list[dict[str, Any]]:
    return connection.execute(statement).to_arrow_table().to_pylist()


def draw(seed: int, count: int = 120, count_clusters: int = 25) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return evaluations of two metrics and segments: siblings alike, some refused, one metric without a decision."""
    random = np.random.default_rng(seed)
    cluster_effects = random.normal(0, 0.2, count_clusters)
    evaluations, segments = [], []
    for number in range(count):
        # a few clusters have many interactions
        cluster = int(count_clusters * random.random() ** 2)
        own = {"interaction_id": f"i{number}", "cluster_id": f"s{cluster}"}
        segments.append(own | {"dimension": "all", "segment": "all"})
        segments.append(own | {"dimension": "topic", "segment": f"topic {random.integers(4)}"})
        # a dimension that not every interaction has
        if random.random() < 0.8:
            segments.append(own | {"dimension": "language", "segment": f"language {random.integers(2)}"})
        is_refused = random.random() < 0.1
        for metric, threshold in (("decided", 0.5), ("undecided", None)):
            # whole billionths, as the models keep them
            score = None if is_refused else round(random.normal(0.5, 0.2) + cluster_effects[cluster], 9)
            is_failing = None if score is None or threshold is None else score < threshold
            is_failing_of_all = True if is_refused and threshold is not None else is_failing
            evaluations.append(
                {
                    "interaction_id": own["interaction_id"],
                    "metric_name": metric,
                    "raw_score": score,
                    "threshold": threshold,
                    "is_failing": is_failing,
                    "is_failing_of_all": is_failing_of_all,
                    "whole_weight": 1 + number % 3,
                }
            )
    return evaluations, segments


def leave_each_out(
    values: np.ndarray, is_in_cell: np.ndarray, groups: np.ndarray, weights: np.ndarray
) -> dict[str, float | None]:
    """Return the estimates of one cell, each group left out in turn and everything computed again from the rows."""

    def mean(rows: np.ndarray) -> float:
        return float(np.average(values[rows], weights=weights[rows]))

    def kish(sizes: np.ndarray) -> float | None:
        return float(sizes.sum() ** 2 / np.sum(sizes**2)) if len(sizes) else None

    def deviation(rows: np.ndarray) -> float:
        effective = kish(weights[rows]) or 0.0
        squares = np.average((values[rows] - mean(rows)) ** 2, weights=weights[rows])
        return float(np.sqrt(squares * effective / (effective - 1)))

    cell, rest = np.flatnonzero(is_in_cell), np.flatnonzero(~is_in_cell)
    cell_groups, rest_groups = set(groups[cell]), set(groups[rest])
    everyone = cell_groups | rest_groups
    value = mean(cell) if len(cell) else None
    rest_value = mean(rest) if len(rest) else None
    error = difference_error = None
    if len(cell_groups) > 1:
        without = [mean(cell[groups[cell] != group]) for group in cell_groups]
        count = len(cell_groups)
        error = float(np.sqrt((count - 1) / count * np.sum((np.array(without) - value) ** 2)))
    if len(cell_groups) > 1 and len(rest_groups) > 1:
        without = [mean(cell[groups[cell] != group]) - mean(rest[groups[rest] != group]) for group in everyone]
        count = len(everyone)
        deviations = np.array(without) - (value - rest_value)
        difference_error = float(np.sqrt((count - 1) / count * np.sum(deviations**2)))
    sizes = np.array([weights[cell][groups[cell] == group].sum() for group in cell_groups])
    return {
        "count_rows": len(cell),
        "count_scored": kish(weights[cell]) or 0,
        "jackknife_groups": len(cell_groups),
        "clusters_effective": kish(sizes),
        "largest_share": float(sizes.max() / sizes.sum()) if len(cell) else None,
        "value": value,
        "standard_deviation": deviation(cell) if len(cell) > 1 else None,
        "standard_error": error,
        "count_scored_rest": kish(weights[rest]) or 0,
        "jackknife_groups_rest": len(rest_groups),
        "rest_value": rest_value,
        "difference": None if value is None or rest_value is None else value - rest_value,
        "difference_standard_error": difference_error,
    }


def expect_estimates(connection: duckdb.DuckDBPyConnection) -> int:
    """Compare every row of int_cell_estimates with :func:`leave_each_out`; return the number of rows."""
    group_of = {
        row["cluster_id"]: row["jackknife_group"]
        for row in rows_of(connection, "from int_clusters_bucketed where not is_second")
    }
    segment_of: dict[tuple[str, str], str] = {}
    source_of: dict[str, str] = {}
    for row in rows_of(connection, "from int_interaction_segments"):
        segment_of[row["interaction_id"], row["dimension"]] = row["segment"]
        source_of[row["interaction_id"]] = row["cluster_id"]
    evaluations = rows_of(connection, "from int_primary_evaluations")
    rows = rows_of(connection, "from int_cell_estimates")
    for row in rows:
        dimensions = [row["first_dimension"], row["second_dimension"]][: 1 if row["second_dimension"] is None else 2]
        segments = [row["first_segment"], row["second_segment"]][: len(dimensions)]
        values, is_in_cell, groups, weights = [], [], [], []
        applicable: set[str] = set()
        count_interactions = 0
        for evaluation in evaluations:
            interaction = evaluation["interaction_id"]
            places = [segment_of.get((interaction, dimension)) for dimension in dimensions]
            if evaluation["metric_name"] != row["metric_name"] or None in places:
                continue
            if places == segments:
                applicable.add(source_of[interaction])
                count_interactions += 1
            value = evaluation[MEASUREMENTS[row["measurement"]]]
            if value is not None:
                values.append(float(value))
                is_in_cell.append(places == segments)
                groups.append(group_of[source_of[interaction]])
                weights.append(float(evaluation["whole_weight"]))
        is_own, texts = np.array(is_in_cell, dtype=bool), np.array(groups, dtype=str)
        expected = leave_each_out(np.array(values), is_own, texts, np.array(weights))
        assert row["count_interactions"] == count_interactions
        if row["measurement"] != "mean_score":
            # that of a share follows from the share
            expected["standard_deviation"] = None
        assert row["count_clusters"] == len(applicable)
        for name, figure in expected.items():
            if figure is None or row[name] is None:
                assert row[name] is figure, (name, row, expected)
            else:
                # the rule of assert_allclose, which takes a hundred times as long for one number
                assert abs(row[name] - figure) <= 1e-12 * (1 + abs(figure)), (name, row, expected)
    return len(rows)


@given(seed=st.integers(0, 10_000), count_clusters=st.integers(1, 40), count=st.integers(1, 90))
@example(seed=2, count_clusters=1, count=1)
@example(seed=2, count_clusters=2, count=12)
@settings(max_examples=10, deadline=None)
def test_estimates_equal_leaving_out_one_cluster_at_a_time(seed: int, count_clusters: int, count: int) -> None:
    """And what cannot be estimated is null and never a number."""
    connection = run_models(*draw(seed, count, count_clusters))
    counts = connection.execute(
        "select count(*), count(distinct jackknife_group) from int_clusters_bucketed where not is_second"
    )
    assert len(set(counts.fetchall()[0])) == 1
    assert expect_estimates(connection) > 0


@pytest.mark.parametrize("groups", [2, 7, 16])
def test_estimates_equal_leaving_out_one_bucket_at_a_time(groups: int) -> None:
    connection = run_models(*draw(3, 200, 60), groups=groups)
    found = rows_of(connection, "select distinct jackknife_group from int_clusters_bucketed")
    assert 2 <= len(found) <= groups
    assert expect_estimates(connection) > 0


def test_descriptions_are_those_of_the_scores_and_a_threshold_is_that_of_the_cell() -> None:
    evaluations, segments = draw(17, 150, 30)
    topic_of = {row["interaction_id"]: row["segment"] for row in segments if row["dimension"] == "topic"}
    thresholds = {"topic 0": 0.25}
    evaluations = [
        row | {"whole_weight": 1, "threshold": thresholds.get(topic_of[row["interaction_id"]])} for row in evaluations
    ]
    connection = run_models(evaluations, segments)
    rows = rows_of(
        connection,
        "select tested.*, cells.threshold, columns('quantile_..')"
        " from int_weaknesses_tested as tested inner join int_metric_cells as cells using (cell_id)"
        " where tested.first_dimension = 'topic' and tested.second_dimension is null",
    )
    assert len(rows) == 2 * len(set(topic_of.values()))
    for row in rows:
        own = [
            evaluation
            for evaluation in evaluations
            if evaluation["metric_name"] == row["metric_name"]
            and topic_of[evaluation["interaction_id"]] == row["first_segment"]
        ]
        scores = np.array([evaluation["raw_score"] for evaluation in own if evaluation["raw_score"] is not None])
        failing = [evaluation["is_failing"] for evaluation in own if evaluation["is_failing"] is not None]
        assert row["count_interactions"] == len(own)
        assert row["count_scored"] == len(scores)
        assert_allclose(row["mean_score"], scores.mean(), rtol=1e-12)
        assert_allclose(row["standard_deviation"], scores.std(ddof=1), rtol=1e-12)
        found = [row[f"quantile_{share}"] for share in ("25", "50", "75")]
        assert_allclose(found, np.quantile(scores, [0.25, 0.5, 0.75]), rtol=1e-12)
        assert row["threshold"] == thresholds.get(row["first_segment"])
        if row["metric_name"] == "decided":
            assert row["count_failing"] == sum(failing)
            assert_allclose(row["share_failing"], np.mean(failing), rtol=1e-12)
        else:
            assert (row["count_failing"], row["share_failing"]) == (None, None)


def test_distributions_rise_from_least_to_largest_score() -> None:
    evaluations, segments = draw(23, 100, 20)
    rows = rows_of(
        run_models(evaluations, segments),
        "from fct_score_distributions where metric_name = 'decided' and dimension = 'all' order by quantile",
    )
    scores = [
        row["raw_score"] for row in evaluations if row["metric_name"] == "decided" and row["raw_score"] is not None
    ]
    assert [row["quantile"] for row in (rows[0], rows[-1])] == [0, 1]
    assert [row["score"] for row in (rows[0], rows[-1])] == [min(scores), max(scores)]
    assert all(one["score"] <= other["score"] for one, other in pairwise(rows))
    assert {row["count_scored"] for row in rows} == {len(scores)}


def test_bars_and_quotes_in_segments_make_no_two_cells_alike() -> None:
    evaluations, segments = [], []
    hostile = ["a|b", "a||b", "a", "'; drop table x; --", "{{ 1 }}", "", "a|language|b"]
    for number, segment in enumerate(hostile):
        own = {"interaction_id": f"i{number}", "cluster_id": segment}
        segments += [own | {"dimension": "all", "segment": "all"}, own | {"dimension": "topic", "segment": segment}]
        segments += [own | {"dimension": "language", "segment": "b"}]
        evaluations.append({"interaction_id": f"i{number}", "metric_name": "decided", "raw_score": 0.5})
    connection = run_models(evaluations, segments)
    count, distinct = connection.execute("select count(*), count(distinct cell_id) from int_metric_cells").fetchall()[0]
    assert count == distinct == 1 + len(hostile) + 1 + len(hostile)
