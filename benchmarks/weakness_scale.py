"""Ten million evaluations: what cells with jackknife errors and quantiles cost beside one bare group by.

The project's own models are compiled by dbt and run as they are on made-up evaluations and segments; the bare statement
joins the same evaluations to the dimensions of their interactions and groups them by the same dimensions and pairs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.harness import (
    ROOT,
    BenchmarkError,
    Outcome,
    Table,
    argument_parser,
    finish,
    verdict,
    working_folder,
)

COUNT_INTERACTIONS = 500_000
COUNT_METRICS = 20
#: Dimension -> segments.
DIMENSIONS = {
    "system": 2,
    "topic": 20,
    "query_type": 7,
    "difficulty": 3,
    "language": 5,
    "customer_group": 4,
    "answer_length": 3,
    "asked_week": 12,
}
#: Interactions of a cluster, on average.
SIBLINGS = 5
#: Seconds of the models over those of the bare group by.
LIMIT_INTERVALS = 8.0
LIMIT_QUANTILES = 12.0
LIMIT_MEBIBYTES = 6 * 1024.0
COUNT_REPEATS = 3
THREADS = 2
#: As in profiles.yml.
MEMORY_LIMIT = "2GB"

#: In the order in which they are built.
PREPARATION = (
    "int_clusters_bucketed",
    "int_interactions_numbered",
    "int_cell_segments",
    "int_cell_dimensions",
    "int_segments_numbered",
    "int_metrics_numbered",
    "int_evaluations_numbered",
    "int_interactions_celled",
    "int_cells",
)
INTERVALS = ("int_cell_clusters", "int_cell_sums", "int_partition_sums", "int_cell_totals", "int_cell_estimates")
QUANTILES = (
    "int_marginal_cell_quantiles",
    "int_bivariate_cell_quantiles",
    "int_cell_quantiles",
    "int_cell_descriptions",
    "fct_score_distributions",
)
#: Not tables but views of the project.
VIEWS = ("int_cell_segments", "int_cell_dimensions", "int_cell_quantiles")

_QUICK_INTERACTIONS = 20_000
_SHARE_SCORED = 0.95
_PAIRS = tuple(itertools.combinations(DIMENSIONS, 2))
_MODELS = (*PREPARATION, *INTERVALS, *QUANTILES)


def compile_models(folder: Path) -> dict[str, str]:
    """Return the SQL of the models as dbt compiles it for the file hcat.duckdb of a folder.

    Raises
    ------
    BenchmarkError
        If dbt does not compile them.
    """
    target = folder / "target"
    command = [str(Path(sys.executable).parent / "dbt"), "--quiet", "compile", "--select", *_MODELS]
    command += ["--target-path", str(target), "--log-path", str(folder / "logs")]
    variables = dict(os.environ) | {"HCAT_WAREHOUSE": str(folder.resolve()), "DBT_PROFILES_DIR": str(ROOT)}
    found = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    if found.returncode:
        raise BenchmarkError(f"dbt does not compile the models: {(found.stdout + found.stderr)[-1000:]}")
    nodes = json.loads((target / "manifest.json").read_text(encoding="utf-8"))["nodes"].values()
    paths = {node["name"]: target / "compiled" / "hcat" / node["original_file_path"] for node in nodes}
    return {name: paths[name].read_text(encoding="utf-8") for name in _MODELS}


def write_inputs(connection: duckdb.DuckDBPyConnection, count: int) -> None:
    """Write the tables that the models read, and the interactions with all dimensions as columns."""
    columns = ", ".join(
        f"'{name} ' || (hash(number * 31 + {place}) % {size})::varchar as {name}"
        for place, (name, size) in enumerate(DIMENSIONS.items())
    )
    connection.execute(
        f"""
        create or replace table interactions as
        select
            'interaction-' || lpad(number::varchar, 9, '0') as interaction_id,
            'cluster-' || md5((hash(number) % {max(count // SIBLINGS, 1)})::varchar) as cluster_id,
            {columns}
        from range({count}) as numbers (number)
        """
    )
    segments = " union all ".join(
        f"select interaction_id, cluster_id, '{name}' as dimension, {name} as segment from interactions"
        for name in DIMENSIONS
    )
    connection.execute(
        f"""
        create or replace table int_interaction_segments as
        select interaction_id, cluster_id, 'all' as dimension, 'all' as segment from interactions
        union all {segments}
        """
    )
    # every second metric has a decided threshold; an interaction in twenty was refused
    connection.execute(
        f"""
        create or replace table int_primary_evaluations as
        select
            interaction_id,
            metric_name,
            case when score is null then 'refused' else 'scored' end as score_status,
            score as raw_score,
            threshold,
            score < threshold as is_failing,
            case when threshold is not null then coalesce(score < threshold, true) end as is_failing_of_all
        from (
            select
                interaction_id,
                'metric_' || lpad(metric::varchar, 2, '0') as metric_name,
                case when metric % 2 = 0 then 0.2::double end as threshold,
                case
                    when hash(interaction_id)::double < {_SHARE_SCORED} * 18446744073709551616
                        then hash(interaction_id || metric::varchar)::double / 18446744073709551616
                end as score
            from interactions
            cross join range({COUNT_METRICS}) as metrics (metric)
        )
        """
    )


def write_pairs(connection: duckdb.DuckDBPyConnection, pairs: Sequence[tuple[str, str]]) -> None:
    """Write the seed of pairs."""
    # cells as they are without a headline, and without documents
    connection.execute(
        "create or replace table headline_cells"
        " (metric_name varchar, first_dimension varchar, second_dimension varchar, third_dimension varchar)"
    )
    connection.execute("create or replace table int_cell_documents (cell_number bigint, count_documents bigint)")
    connection.execute(
        "create or replace table analysis_dimension_pairs"
        " (first_dimension varchar, second_dimension varchar, rationale varchar)"
    )
    if pairs:
        connection.executemany("insert into analysis_dimension_pairs values (?, ?, '')", [list(pair) for pair in pairs])


def bare_statement(pairs: Sequence[tuple[str, str]]) -> str:
    """Return the group by of all interactions, each dimension and each pair in one statement."""
    groupings = ["(metric_name)", *(f"(metric_name, {name})" for name in DIMENSIONS)]
    groupings += [f"(metric_name, {first}, {second})" for first, second in pairs]
    return f"""
        create or replace table bare as
        select
            metric_name,
            {", ".join(DIMENSIONS)},
            count(*) as count_interactions,
            avg(raw_score) as mean_score,
            avg(is_failing::integer) as share_failing
        from int_primary_evaluations
        inner join interactions using (interaction_id)
        group by grouping sets ({", ".join(groupings)})
    """


def _seconds(connection: duckdb.DuckDBPyConnection, statement: str) -> float:
    started = time.perf_counter()
    connection.execute(statement)
    return time.perf_counter() - started


def measure(folder: Path, count: int, count_repeats: int) -> dict[str, Any]:
    """Return seconds per model and of the bare group by, without and with pairs, the least of the repeats.

    Runs of models and of the bare statement alternate. The least is what the work takes when nothing else disturbs.

    Raises
    ------
    BenchmarkError
        If the models and the bare statement do not find the same cells and means.
    """
    statements = {name: f"create or replace table {name} as {sql}" for name, sql in compile_models(folder).items()}
    found: dict[str, Any] = {}
    with duckdb.connect(str(folder / "hcat.duckdb")) as connection:
        connection.execute(f"set threads = {THREADS}")
        connection.execute("set preserve_insertion_order = false")
        connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
        write_inputs(connection, count)
        for kind, pairs in (("marginal", ()), ("bivariate", _PAIRS)):
            write_pairs(connection, pairs)
            seconds: dict[str, list[float]] = {name: [] for name in ("bare", *_MODELS)}
            for _ in range(count_repeats):
                seconds["bare"].append(_seconds(connection, bare_statement(pairs)))
                for name, statement in statements.items():
                    seconds[name].append(_seconds(connection, statement))
            compare_cells(connection)
            found[kind] = {name: min(values) for name, values in seconds.items()}
    found["peak_mebibytes"] = _peak_mebibytes()
    return found


def compare_cells(connection: duckdb.DuckDBPyConnection) -> None:
    """Compare counts and means of the models' cells with those of the bare statement.

    Raises
    ------
    BenchmarkError
        If a cell is missing on one side or differs.
    """
    places = ", ".join(f"case when {name} is not null then '{name}' end" for name in DIMENSIONS)
    segments = ", ".join(DIMENSIONS)
    wrong, total = connection.execute(
        f"""
        with bare_cells as (
            select
                metric_name || '|' || coalesce(nullif(concat_ws('|', {places}), ''), 'all') as dimensions,
                coalesce(nullif(concat_ws('|', {segments}), ''), 'all') as segments,
                count_interactions,
                mean_score
            from bare
        ),
        cells as (
            select
                concat_ws('|', metric_name, first_dimension, second_dimension) as dimensions,
                concat_ws('|', first_segment, second_segment) as segments,
                count_interactions,
                mean_score
            from int_cell_descriptions
        )
        select
            count(*) filter (
                where cells.count_interactions is distinct from bare_cells.count_interactions
                or (cells.mean_score is null) <> (bare_cells.mean_score is null)
                or abs(cells.mean_score - bare_cells.mean_score) > 1e-8
            ),
            count(*)
        from cells
        full join bare_cells using (dimensions, segments)
        """
    ).fetchall()[0]
    if wrong or not total:
        raise BenchmarkError(f"{wrong} of {total} cells differ between the models and the bare group by")


def _peak_mebibytes() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome:
    """Return the outcome; the data are made up."""
    count = _QUICK_INTERACTIONS if is_quick else COUNT_INTERACTIONS
    with working_folder(folder) as work:
        # a process of its own: memory counts
        command = [sys.executable, "-m", "benchmarks.weakness_scale", "--measure", str(count)]
        command += ["--folder", str(work.resolve())]
        answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise BenchmarkError(f"the measurement broke: {answer.stderr[-1000:]}")
        found = json.loads(answer.stdout)
    met = found["peak_mebibytes"] <= LIMIT_MEBIBYTES
    lines: list[Sequence[str]] = []
    nodes: list[Sequence[str]] = []
    for kind, pairs in (("marginal", ()), ("bivariate", _PAIRS)):
        seconds = found[kind]
        bare = seconds["bare"]
        for name, models, limit in (
            ("intervals", (*PREPARATION, *INTERVALS), LIMIT_INTERVALS),
            ("quantiles", QUANTILES, LIMIT_QUANTILES),
        ):
            together = sum(seconds[model] for model in models)
            is_within = together / bare <= limit
            met &= is_within
            lines.append(
                (
                    f"{name}, {kind} ({1 + len(DIMENSIONS) + len(pairs)} groupings)",
                    f"{together:.1f}",
                    f"{bare:.1f}",
                    f"{together / bare:.1f}",
                    f"<= {limit:g}",
                    verdict(is_within),
                )
            )
    for model in _MODELS:
        times = [found[kind][model] for kind in ("marginal", "bivariate")]
        nodes.append((model, *(f"{value:.2f}" for value in times)))
    memory = (
        "peak memory, MiB",
        f"{found['peak_mebibytes']:,.0f}",
        "",
        "",
        f"<= {LIMIT_MEBIBYTES:,.0f}",
        verdict(found["peak_mebibytes"] <= LIMIT_MEBIBYTES),
    )
    tables = [
        Table(
            f"{count * COUNT_METRICS:,} evaluations ({COUNT_METRICS} metrics x {count:,} interactions), "
            f"{len(DIMENSIONS)} dimensions, {len(_PAIRS)} pairs: seconds, least of {COUNT_REPEATS}",
            ("models", "models", "bare group by", "ratio", "limit", "verdict"),
            [*lines, memory],
        ),
        Table("Seconds by model", ("model", "marginal", "bivariate"), nodes),
    ]
    notes = [
        "The bare statement is one `group by grouping sets` with count, mean and share of failures over the "
        "evaluations, joined to a table that holds all dimensions as columns. `bivariate` includes the marginal "
        "cells, in the models and in the bare statement.",
        "`intervals` start from evaluations and segments: numbering, sums by jackknife group, estimates with rest and "
        "difference for all clusters and both halves. `quantiles` start from the numbered evaluations.",
        f"Models as dbt compiles them, run in one process with {THREADS} threads and a DuckDB memory limit of "
        f"{MEMORY_LIMIT}; lists of scores for quantiles lie outside of that limit. Counts and means of all cells were "
        "compared with those of the bare statement.",
    ]
    return Outcome("weakness_scale", "Ten million evaluations", tables, notes, is_quick, is_quick or met)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("weakness_scale", __doc__.splitlines()[0])
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure is not None:
        print(json.dumps(measure(options.folder, options.measure, COUNT_REPEATS)))
        return 0
    return finish(run(options.quick, options.folder), "python -m benchmarks.weakness_scale")


if __name__ == "__main__":
    sys.exit(main())
