"""The benchmark of ten million evaluations, tried on a few: the models and the bare statement find the same cells."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from benchmarks import weakness_scale
from benchmarks.__main__ import BENCHMARKS
from benchmarks.harness import BenchmarkError


def test_the_benchmark_is_registered() -> None:
    assert BENCHMARKS["weakness_scale"] is weakness_scale.run


def test_the_inputs_have_the_stated_size_and_siblings() -> None:
    with duckdb.connect() as connection:
        weakness_scale.write_inputs(connection, 400)
        counts = connection.execute(
            """
            select
                (select count(*) from int_primary_evaluations),
                (select count(distinct metric_name) from int_primary_evaluations),
                (select count(*) from int_interaction_segments),
                (select count(distinct cluster_id) from int_interaction_segments),
                (select avg((raw_score is null)::integer) from int_primary_evaluations)
            """
        ).fetchall()[0]
        assert counts[:3] == (400 * weakness_scale.COUNT_METRICS, weakness_scale.COUNT_METRICS, 400 * 9)
        assert 50 < counts[3] <= 400 / weakness_scale.SIBLINGS
        assert 0 < counts[4] < 0.15
        weakness_scale.write_pairs(connection, [("topic", "system")])
        connection.execute(weakness_scale.bare_statement([("topic", "system")]))
        missing = ", ".join(f"{name} is null" for name in weakness_scale.DIMENSIONS)
        groupings = connection.execute(f"select count(distinct concat_ws('|', {missing})) from bare").fetchall()[0][0]
        assert groupings == 1 + len(weakness_scale.DIMENSIONS) + 1


def test_cells_that_differ_are_noticed() -> None:
    with duckdb.connect() as connection:
        weakness_scale.write_inputs(connection, 50)
        connection.execute(weakness_scale.bare_statement(()))
        connection.execute(
            """
            create table int_cell_descriptions as
            select metric_name, 'all' as first_dimension, null::varchar as second_dimension, 'all' as first_segment,
                null::varchar as second_segment, count(*) as count_interactions, avg(raw_score) + 1 as mean_score
            from int_primary_evaluations group by metric_name
            """
        )
        with pytest.raises(BenchmarkError, match="cells differ"):
            weakness_scale.compare_cells(connection)


def test_models_and_bare_statement_agree(tmp_path: Path) -> None:
    found = weakness_scale.measure(tmp_path, 60, 1)
    assert set(found) == {"marginal", "bivariate", "peak_mebibytes"}
    for kind in ("marginal", "bivariate"):
        assert all(seconds > 0 for seconds in found[kind].values())
        assert {"bare", "int_cell_estimates", "fct_score_distributions"} <= set(found[kind])
