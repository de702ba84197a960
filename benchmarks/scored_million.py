"""One million scored interactions: what calibrated probabilities and prediction sets cost, by family."""

from __future__ import annotations

import sys
import time
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.harness import BenchmarkError, Outcome, Table, argument_parser, finish, verdict
from hcat.calibration.calibrated_scores import CALIBRATED_SCHEMA, ScoreCalibration
from hcat.calibration.calibrators import Calibrator, fit_calibrator, label_scores
from hcat.calibration.conformal_tables import CELL_SCHEMA, LEFT_OUT_SCHEMA
from hcat.calibration.tables import CALIBRATOR_SCHEMA
from hcat.engine.relations import map_batches
from hcat.engine.stacking import stack_parts
from hcat.statistics.arrays import Floats

COUNT_INTERACTIONS = 1_000_000
#: Wall seconds of one metric.
LIMIT_SECONDS = 60.0
SEED = 20260101
FAMILIES = ("logistic", "isotonic", "boosted")

_ALPHA = 0.1
_METRIC = "groundedness"
_COUNT_LABELS = 2_000
_COUNT_STRATA = 5
_BATCH_ROWS = 100_000
_QUICK_INTERACTIONS = 20_000


def draw_labels(random: np.random.Generator, count: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return scores in (0, 1), shape (n,), and labels that rise with them."""
    scores = random.beta(3, 2, count)
    return scores, (random.random(count) < 1 / (1 + np.exp(-6 * (scores - 0.55)))).astype(np.int64)


def fit(family: str, seed: int = SEED) -> Calibrator:
    """Return a calibrator of made-up labels."""
    scores, labels = draw_labels(np.random.default_rng(seed), _COUNT_LABELS)
    data = label_scores(scores, labels, np.arange(_COUNT_LABELS), is_probability=family == "logistic")
    found = fit_calibrator(data, family)
    if found.calibrator is None:
        raise BenchmarkError(f"{family} could not be fitted: {found.status}")
    return found.calibrator


def make_calibration(calibrator: Calibrator) -> ScoreCalibration:
    """Return what calibrates scores: one calibrator, limits of strata, and limits of clusters with labels."""
    parameters = [
        {name: getattr(row, name) for name in row.__slots__ if name != "family"} for row in calibrator.to_rows()
    ]
    chosen = {"metric_name": _METRIC, "segment": "all", "family": calibrator.family, "status": "fitted"}
    chosen |= {"is_chosen": True, "parameters": parameters}
    cell = {"metric_name": _METRIC, "stratification": "label_conditional", "alpha": _ALPHA}
    cells = [
        cell | {"stratum": f"stratum {number}", "label": label, "score_limit": 0.6 + 0.02 * number - 0.3 * label}
        for number in range(_COUNT_STRATA)
        for label in range(2)
    ]
    left_out = [
        {
            "metric_name": _METRIC,
            "stratum": f"stratum {number % _COUNT_STRATA}",
            "cluster_id": f"cluster {number}",
            "label": label,
            "score_limit": 0.61 - 0.3 * label,
        }
        for number in range(_COUNT_LABELS)
        for label in range(2)
    ]
    fitted = stack_parts(
        {
            "calibrators": pa.Table.from_pylist([chosen], schema=CALIBRATOR_SCHEMA),
            "quantiles": pa.Table.from_pylist(cells, schema=CELL_SCHEMA),
            "limits": pa.Table.from_pylist(left_out, schema=LEFT_OUT_SCHEMA),
        }
    )
    validity = pa.table({"metric_name": [_METRIC], "version_class": ["one"], "calibration_status": ["in_force"]})
    return ScoreCalibration(fitted, validity, _ALPHA)


def measure(calibrator: Calibrator, count: int) -> float:
    """Return the seconds in which as many scores have their probabilities and sets in a table of DuckDB.

    Raises
    ------
    BenchmarkError
        If a row is lost or doubled, or its probability is not that of the calibrator.
    """
    with duckdb.connect() as connection:
        connection.execute(
            f"""
            create table scores as
            select
                'interaction-' || lpad(number::varchar, 9, '0') as interaction_id,
                '{_METRIC}' as metric_name,
                'cluster ' || (number // 5)::varchar as cluster_id,
                'one' as version_class,
                'stratum ' || (number % {_COUNT_STRATA})::varchar as stratum,
                'all' as segment,
                hash(number)::double / 18446744073709551616 as raw_score
            from range({count}) as numbers (number)
            """
        )
        calibration = make_calibration(calibrator)
        started = time.perf_counter()
        calibrated: Any = map_batches(connection.table("scores"), calibration, CALIBRATED_SCHEMA, _BATCH_ROWS)
        cursor = connection.cursor()
        cursor.register("calibrated", calibrated)
        cursor.execute("create table evaluations_calibrated as from calibrated")
        seconds = time.perf_counter() - started
        found = connection.execute(
            "select raw_score, calibrated_probability from evaluations_calibrated"
            " inner join scores using (interaction_id)"
        ).fetchnumpy()
    if len(found["raw_score"]) != count:
        raise BenchmarkError(f"each of {count} scores must have one row, got {len(found['raw_score'])}")
    if not np.array_equal(calibrator.apply(found["raw_score"]), found["calibrated_probability"]):
        raise BenchmarkError(f"probabilities are not those of the calibrator {calibrator.family}")
    return seconds


def run(is_quick: bool = False) -> Outcome:
    """Return the outcome; the data are made up."""
    count = _QUICK_INTERACTIONS if is_quick else COUNT_INTERACTIONS
    seconds = {family: measure(fit(family), count) for family in FAMILIES}
    lines = [
        (family, f"{found:.1f}", f"<= {LIMIT_SECONDS:g}", verdict(found <= LIMIT_SECONDS))
        for family, found in seconds.items()
    ]
    table = Table(
        f"{count:,} scores of one metric in batches of {_BATCH_ROWS:,}",
        ("calibrator", "seconds", "limit", "verdict"),
        lines,
    )
    notes = [
        "A score gets its probability and its prediction set, as int_evaluations_calibrated gives them, with five"
        " strata and 2,000 clusters with labels. Each probability is that of the calibrator, bit for bit."
    ]
    met = max(seconds.values()) <= LIMIT_SECONDS
    return Outcome("scored_million", "A million scored interactions", [table], notes, is_quick, is_quick or met)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    options = argument_parser("scored_million", __doc__.splitlines()[0]).parse_args(arguments)
    return finish(run(options.quick), "python -m benchmarks.scored_million")


if __name__ == "__main__":
    sys.exit(main())
