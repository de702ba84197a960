"""One million scored interactions: what calibrated probabilities and prediction sets cost beside a bare copy.

Calibrators that are a formula or a step table are applied by the project's own SQL (its models are rendered and run as
they are), the boosted ones by `hcat.calibration.calibrators` in Arrow batches. A bare copy reads and writes the same
columns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

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
from benchmarks.rendering import render_model
from hcat.calibration.calibrators import Calibrator, CalibratorRow, fit_calibrator, from_rows, label_scores
from hcat.statistics.arrays import Floats

COUNT_INTERACTIONS = 1_000_000
#: Median seconds of probabilities and sets over those of a bare scan-and-write of the same columns.
LIMIT_RATIO = 3.0
#: Of the boosted calibrator: wall seconds and MiB, start of the interpreter included.
LIMIT_SECONDS = 60.0
LIMIT_MEBIBYTES = 2_048.0
#: Largest difference of a probability between SQL and :mod:`hcat.calibration.calibrators`.
LIMIT_DIFFERENCE = 1e-12
COUNT_REPEATS = 5
SEED = 20260101
FAMILIES = ("logistic", "isotonic")

MODELS = ("int_evaluations_calibrated", "int_prediction_sets")
_FOLDER = ROOT / "models" / "intermediate" / "calibration"
_ALPHA = 0.1
_METRIC = "groundedness"
_COUNT_LABELS = 2_000
_COUNT_FEATURES = 4
_BATCH_ROWS = 50_000
_QUICK_INTERACTIONS = 20_000


@dataclass(frozen=True, slots=True)
class Boosted:
    """What applying a boosted calibrator took."""

    seconds: float
    peak_mebibytes: float
    count_rows: int


def draw_labels(
    random: np.random.Generator, count: int, count_features: int = 1
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return scores in (0, 1), shape (n, n_features), and labels that rise with each of them."""
    scores = random.beta(3, 2, (count, count_features))
    log_odds = 6 * (scores.mean(axis=1) - 0.55) * np.sqrt(count_features)
    return scores, (random.random(count) < 1 / (1 + np.exp(-log_odds))).astype(np.int64)


def fit(family: str, count_features: int = 1, seed: int = SEED) -> Calibrator:
    """Return a calibrator of made-up labels."""
    scores, labels = draw_labels(np.random.default_rng(seed), _COUNT_LABELS, count_features)
    is_probability = family == "logistic"
    data = label_scores(scores, labels, np.arange(_COUNT_LABELS), is_probability=is_probability)
    found = fit_calibrator(data, family)
    if found.calibrator is None:
        raise BenchmarkError(f"{family} could not be fitted: {found.status}")
    return found.calibrator


def write_inputs(connection: duckdb.DuckDBPyConnection, calibrator: Calibrator, count: int) -> None:
    """Write the tables that the models read: scores, parameters, strata, quantiles, and no boosted scores."""
    connection.execute(
        f"""
        create or replace table int_evaluations_completed as
        select
            'interaction-' || lpad(number::varchar, 9, '0') as interaction_id,
            '{_METRIC}' as metric_name,
            hash(number)::double / 18446744073709551616 as raw_score
        from range({count}) as numbers (number)
        """
    )
    connection.execute(
        """
        create or replace table int_interaction_strata as
        select interaction_id, 'stratum ' || (hash(interaction_id) % 5)::varchar as stratum, 'all' as segment
        from int_evaluations_completed
        """
    )
    connection.execute(
        f"""
        create or replace view int_scores_located as
        select interaction_id, metric_name, 'all' as segment, '{calibrator.family}' as family, raw_score
        from int_evaluations_completed
        """
    )
    connection.execute(
        """
        create or replace table int_scores_boosted (interaction_id varchar, metric_name varchar, probability double)
        """
    )
    connection.execute(
        """
        create or replace table int_calibrator_parameters (
            metric_name varchar, segment varchar, family varchar, is_chosen boolean, parameter varchar,
            position integer, value double, lower_bound double, probability double
        )
        """
    )
    connection.executemany(
        "insert into int_calibrator_parameters values (?, 'all', ?, true, ?, ?, ?, ?, ?)",
        [
            [_METRIC, row.family, row.parameter, row.position, row.value, row.lower_bound, row.probability]
            for row in calibrator.to_rows()
        ],
    )
    connection.execute(
        """
        create or replace table int_interactions_joined as
        select interaction_id, 'cluster ' || (row_number() over () // 5)::varchar as cluster_id
        from int_evaluations_completed
        """
    )
    connection.execute(
        f"create or replace table int_calibration_targets as select '{_METRIC}' as metric_name,"
        " 'higher_is_better' as direction"
    )
    connection.execute(
        f"""
        create or replace table int_labels_fitted as
        select 'quantiles' as part, '{_METRIC}' as metric_name, 'label_conditional' as stratification,
            {_ALPHA}::double as alpha, 'stratum ' || number::varchar as stratum, null::varchar as cluster_id, label,
            .6 + .02 * number - .3 * label as score_limit, 'conformalized' as status
        from range(5) as strata (number), range(2) as labels (label)
        union all
        select 'limits', '{_METRIC}', null, null, 'stratum ' || (number % 5)::varchar, 'cluster ' || number::varchar,
            label, .61 - .3 * label, null
        from range({_COUNT_LABELS}) as clusters (number), range(2) as labels (label)
        """
    )


def measure_sql(
    calibrator: Calibrator, count: int, database: Path, count_repeats: int
) -> dict[str, tuple[float, float]]:
    """Return, per model, the median seconds of building it and of a bare copy of the table that it wrote.

    Repeats alternate, so that a slow minute of the machine meets all of them.

    Raises
    ------
    BenchmarkError
        If a model lost or doubled a row.
    """
    variables = {"hcat_conformal_alpha": _ALPHA}
    with duckdb.connect(str(database)) as connection:
        write_inputs(connection, calibrator, count)
        statements = {name: f"create or replace table {name} as {render_model(name, variables)}" for name in MODELS}
        statements |= {
            f"copy_{name}": f"create or replace table copy_{name} as select * from {name}" for name in MODELS
        }
        for statement in statements.values():
            connection.execute(statement)
        seconds: dict[str, list[float]] = {name: [] for name in statements}
        for _ in range(count_repeats):
            for name, statement in statements.items():
                started = time.perf_counter()
                connection.execute(statement)
                seconds[name].append(time.perf_counter() - started)
        for name in MODELS:
            found = connection.execute(f"select count(distinct interaction_id), count(*) from {name}").fetchall()[0]
            if found != (count, count):
                raise BenchmarkError(f"{name} must have one row for each of {count} interactions, got {found}")
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    return {name: (medians[name], medians[f"copy_{name}"]) for name in MODELS}


def largest_difference(calibrator: Calibrator, database: Path) -> float:
    """Return the largest difference between the probabilities of SQL and of :mod:`hcat.calibration.calibrators`."""
    with duckdb.connect(str(database), read_only=True) as connection:
        found = connection.execute(
            """
            select evaluations.raw_score, calibrated.calibrated_probability
            from int_evaluations_completed as evaluations
            inner join int_evaluations_calibrated as calibrated using (interaction_id, metric_name)
            """
        ).fetchnumpy()
    return float(np.abs(calibrator.apply(found["raw_score"]) - found["calibrated_probability"]).max())


def apply_boosted(folder: Path) -> int:
    """Calibrate scores.parquet of a folder in batches into probabilities.parquet; return the number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rows = json.loads((folder / "calibrator.json").read_text(encoding="utf-8"))
    calibrator = from_rows(CalibratorRow(**row) for row in rows)
    schema = pa.schema([("interaction_id", pa.string()), ("calibrated_probability", pa.float64())])
    names = [f"score_{feature}" for feature in range(_COUNT_FEATURES)]
    count = 0
    with parquet.ParquetWriter(folder / "probabilities.parquet", schema) as writer:
        for batch in parquet.ParquetFile(folder / "scores.parquet").iter_batches(_BATCH_ROWS):
            scores = np.column_stack([batch.column(name).to_numpy(zero_copy_only=False) for name in names])
            probabilities = pa.array(calibrator.apply(scores))
            writer.write_batch(pa.record_batch([batch.column("interaction_id"), probabilities], schema=schema))
            count += batch.num_rows
    return count


def measure_boosted(count: int, folder: Path) -> Boosted:
    """Return what a process of its own takes for ``count`` rows of several scores, some of them missing."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    random = np.random.default_rng(SEED)
    scores = random.beta(3, 2, (count, _COUNT_FEATURES))
    scores[random.random(scores.shape) < 0.05] = np.nan
    scores[:, 0] = np.where(np.isnan(scores).all(axis=1), 0.5, scores[:, 0])
    columns = {f"score_{feature}": scores[:, feature] for feature in range(_COUNT_FEATURES)}
    parquet.write_table(
        pa.table({"interaction_id": [f"interaction-{n:09d}" for n in range(count)], **columns}),
        folder / "scores.parquet",
    )
    rows = [_to_json(row) for row in fit("boosted", _COUNT_FEATURES).to_rows()]
    (folder / "calibrator.json").write_text(json.dumps(rows), encoding="utf-8")
    started = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.scored_million", "--apply-boosted", str(folder)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if found.returncode:
        raise BenchmarkError(f"the boosted calibrator broke: {found.stderr[-500:]}")
    answer = json.loads(found.stdout)
    return Boosted(seconds, answer["peak_mebibytes"], answer["count_rows"])


def _to_json(row: CalibratorRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__slots__}


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome:
    """Return the outcome; the data are made up."""
    count = _QUICK_INTERACTIONS if is_quick else COUNT_INTERACTIONS
    met = True
    lines: list[Sequence[str]] = []
    with working_folder(folder) as work:
        for family in FAMILIES:
            calibrator = fit(family)
            database = work / f"{family}.duckdb"
            measured = measure_sql(calibrator, count, database, COUNT_REPEATS)
            difference = largest_difference(calibrator, database)
            together, copies = (sum(seconds[place] for seconds in measured.values()) for place in (0, 1))
            is_within = together / copies <= LIMIT_RATIO
            met &= is_within and difference <= LIMIT_DIFFERENCE
            for name, (model, copy) in measured.items():
                lines.append((f"{family}, {name}", f"{model:.2f}", f"{copy:.2f}", f"{model / copy:.2f}", "", "", ""))
            lines.append(
                (
                    f"{family}, both",
                    f"{together:.2f}",
                    f"{copies:.2f}",
                    f"{together / copies:.2f}",
                    f"<= {LIMIT_RATIO:g}",
                    verdict(is_within),
                    f"{difference:.1e}",
                )
            )
        boosted = measure_boosted(count, work)
    is_within = boosted.seconds <= LIMIT_SECONDS and boosted.peak_mebibytes <= LIMIT_MEBIBYTES
    met &= is_within and boosted.count_rows == count
    tables = [
        Table(
            f"{count:,} scored interactions in DuckDB, seconds, medians of {COUNT_REPEATS}",
            (
                "calibrator, model",
                "model",
                "bare copy",
                "model / copy",
                "limit",
                "verdict",
                "largest difference to hcat.calibration.calibrators",
            ),
            lines,
        ),
        Table(
            f"Boosted calibrator of {_COUNT_FEATURES} scores, {count:,} rows in batches of {_BATCH_ROWS:,}",
            ("figure", "measured", "limit", "verdict"),
            [
                (
                    "seconds",
                    f"{boosted.seconds:.1f}",
                    f"<= {LIMIT_SECONDS:g}",
                    verdict(boosted.seconds <= LIMIT_SECONDS),
                ),
                (
                    "peak memory, MiB",
                    f"{boosted.peak_mebibytes:,.0f}",
                    f"<= {LIMIT_MEBIBYTES:,.0f}",
                    verdict(boosted.peak_mebibytes <= LIMIT_MEBIBYTES),
                ),
            ],
        ),
    ]
    notes = [
        "Probabilities and sets are the models int_evaluations_calibrated and int_prediction_sets, rendered and run as "
        "they are, with five strata. A bare copy reads the table that the model wrote and writes it again.",
        "The boosted calibrator runs in a process of its own from Parquet to Parquet; its start counts.",
    ]
    return Outcome("scored_million", "A million scored interactions", tables, notes, is_quick, is_quick or met)


def _peak_mebibytes() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("scored_million", __doc__.splitlines()[0])
    parser.add_argument("--apply-boosted", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.apply_boosted is not None:
        count = apply_boosted(options.apply_boosted)
        print(json.dumps({"count_rows": count, "peak_mebibytes": _peak_mebibytes()}))
        return 0
    return finish(run(options.quick, options.folder), "python -m benchmarks.scored_million")


if __name__ == "__main__":
    sys.exit(main())
