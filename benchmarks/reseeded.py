"""The demo made anew from other seeds: prediction sets, their coverage, and what is planted against the marts.

A seed of `demo/make_demo.py` moves which questions customers ask, how an answer is worded, and which answers get which
fault. The written texts stay. Nobody read the answers of other seeds, so their labels are simulated: an answer that the
shipped demo also holds keeps its reading, and any other one takes the points of a read answer of the same planted kind.
Coverage is measured on the answers that the build saw no label of.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import yaml

from benchmarks import planted
from benchmarks.harness import ROOT, BenchmarkError, Outcome, Table, argument_parser, build, finish, working_folder
from benchmarks.simulated_readings import (
    digest,
    read_lines,
    read_readings,
    read_shown,
    simulate_readings,
    write_lines,
)
from hcat.statistics.intervals import wilson_interval

COUNT_SEEDS: Final = 10
COUNT_SEEDS_QUICK: Final = 1
#: Interactions that a quick run keeps of a demo.
QUICK_INTERACTIONS: Final = 500
#: Coverage may lie so many standard errors below what is promised.
STANDARD_ERRORS: Final = 2.0
QUANTILE: Final = 1.96

#: Where the results of seeds are kept, so that a second run goes on.
FOLDER: Final = ROOT / "warehouse" / "reseeded"
#: Who rates a reseeded demo. The kind is that of the reader, because rules give no label.
SIMULATED: Final = {"rater": "simulated_reading", "rater_kind": "language_model", "rating_pass": 1}

#: Tables with one row per distinct text or pair and model. A build that finds them reads new texts alone.
_READ_BEFORE: Final = ("int_texts_embedded", "int_pairs_entailed", "int_texts_recognised")
#: What a result depends on, beside the seed.
_INPUTS: Final = ("demo", "macros", "models", "python_udfs", "seeds", "dbt_project.yml")
_LABELS: Final = {1: "accepted", 0: "failed"}

#: Metrics that a gate names and that labels calibrate, with the ceiling of their sets.
_METRICS = """
select metric_name, criterion, share_decidable
from fct_conformal_coverage
where
    stratification = 'label_conditional' and scope = 'marginal' and alpha = $alpha
    and metric_name in (select metric_name from fct_threshold_gates)
order by metric_name
"""

_SETS = """
select evaluations.interaction_id, evaluations.prediction_set, interactions.cluster_id, interactions.system
from fct_evaluations as evaluations
inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
where evaluations.metric_name = $metric_name and evaluations.prediction_set is not null
"""

_CALIBRATION_CLUSTERS = """
select stratum, human_label, count_calibration_clusters
from fct_conformal_coverage
where
    stratification = 'label_conditional' and scope = 'label_and_group' and alpha = $alpha
    and metric_name = $metric_name
"""

#: The family that needs the fewest labels says why there is no calibrator.
_STATUS = "select status from fct_calibrators where metric_name = $metric_name and family = 'logistic'"

_ACCEPT_FROM = "select accept_from from calibration_targets where metric_name = $metric_name"


@dataclass(frozen=True, slots=True)
class LabelCoverage:
    """How often the sets of answers outside of the calibration hold one true label.

    Attributes
    ----------
    label : str
        accepted or failed.
    count_rows, count_covered, count_clusters : int
        A cluster counts once in each system.
    coverage : float
        Mean over clusters of the share of covered rows, in [0, 1].
    variance : float
        Of that mean, by chance in the answers and in the labels of the calibration.
    """

    label: str
    count_rows: int
    count_covered: int
    count_clusters: int
    coverage: float
    variance: float


@dataclass(frozen=True, slots=True)
class MetricResult:
    """The prediction sets of one metric.

    Attributes
    ----------
    count_sets, count_single : int
        Sets, and those with one label.
    ceiling : float or None
        Largest share of sets with one label that the AUROC allows, in [0, 1]; None where the marts do not know it.
    labels : tuple of LabelCoverage
    why_no_sets : str
        Status of the calibrator where the build makes no sets; empty where it makes some.
    """

    metric_name: str
    criterion: str
    count_sets: int
    count_single: int
    ceiling: float | None
    labels: tuple[LabelCoverage, ...]
    why_no_sets: str = ""

    @property
    def is_decided(self) -> bool:
        """Return whether enough sets have one label, or the marts name a lower ceiling, or why there are no sets."""
        if not self.count_sets:
            return bool(self.why_no_sets)
        return self.count_single >= planted.LEAST_DECIDED * self.count_sets or (
            self.ceiling is not None and self.ceiling < planted.LEAST_DECIDED
        )


@dataclass(frozen=True, slots=True)
class Item:
    """One planted item: found or not, what the mart says, and why not."""

    name: str
    is_found: bool
    effect: str
    missing: str


@dataclass(frozen=True, slots=True)
class SeedResult:
    """All that is measured of one seed.

    Attributes
    ----------
    inputs : str
        Hash of code, seeds and texts: a result of others is void.
    seconds_made, seconds_built : float
        Wall time of the generator and of the build.
    count_interactions, count_read, count_kept : int
        Interactions; those with a label in the calibration; of these, those whose reading is that of the shipped demo.
    failed_tests : tuple of str
        Data tests and gates of severity error that failed.
    count_severe : int
        Most severe findings that were looked at.
    false : tuple of str
        Those of them that nothing planted explains.
    """

    seed: int
    inputs: str
    seconds_made: float
    seconds_built: float
    count_interactions: int
    count_read: int
    count_kept: int
    failed_tests: tuple[str, ...]
    metrics: tuple[MetricResult, ...]
    items: tuple[Item, ...]
    count_severe: int
    false: tuple[str, ...]


def read_alpha() -> float:
    """Return the miscoverage of the prediction sets in force, in (0, 1)."""
    settings = yaml.safe_load((ROOT / "dbt_project.yml").read_text(encoding="utf-8"))
    return float(settings["vars"]["hcat"]["hcat_conformal_alpha"])


def measure_labels(
    rows: Iterable[tuple[str, str, str, str]],
    labels: Mapping[str, int],
    calibration_clusters: Mapping[tuple[str, int], int | None],
    alpha: float,
) -> tuple[LabelCoverage, ...]:
    """Return the coverage by true label over the rows that have one.

    Parameters
    ----------
    rows : iterable of tuples
        Interaction, prediction set (its labels, joined by `|`, or `empty`), cluster and system.
    labels : mapping of str to int
        1 (accepted) or 0 (failed) by interaction, of those outside of the calibration.
    calibration_clusters : mapping
        Number of clusters that a quantile rests on, by (system, label); None where there is no quantile.
    alpha : float
        Promised miscoverage, in (0, 1).
    """
    covered: dict[int, dict[tuple[str, str], list[bool]]] = {label: defaultdict(list) for label in _LABELS}
    for interaction_id, prediction_set, cluster_id, system in rows:
        if interaction_id in labels:
            label = labels[interaction_id]
            covered[label][system, cluster_id].append(_LABELS[label] in prediction_set.split("|"))
    found = []
    for label, name in _LABELS.items():
        if clusters := covered[label]:
            flags = [flag for cluster in clusters.values() for flag in cluster]
            coverage = float(np.mean([np.mean(cluster) for cluster in clusters.values()]))
            variance = _variance([system for system, _ in clusters], label, calibration_clusters, alpha)
            found.append(LabelCoverage(name, len(flags), sum(flags), len(clusters), coverage, variance))
    return tuple(found)


def _variance(
    systems: Sequence[str], label: int, calibration_clusters: Mapping[tuple[str, int], int | None], alpha: float
) -> float:
    """Return the variance of a coverage over clusters, one entry of ``systems`` each, that meets its promise exactly.

    The answers add alpha (1 - alpha) / m. A quantile of K clusters has a coverage of law Beta(k, K + 1 - k), whose
    variance is alpha (1 - alpha) / (K + 2); quantiles of systems are independent (Vovk 2012). Shares within clusters
    vary less than single rows, so that this is an upper bound.
    """
    total = 1 / len(systems)
    for system in set(systems):
        weight = systems.count(system) / len(systems)
        if count := calibration_clusters.get((system, label)):
            total += weight**2 / (count + 2)
    return alpha * (1 - alpha) * total


def _make_demo(seed: int, logs: Path, sheet: Path) -> float:
    """Write the logs of a seed and its rating sheet, and return the seconds that it took."""
    command = [sys.executable, str(planted.DEMO / "make_demo.py"), "--seed", str(seed)]
    command += ["--output", str(logs), "--rating-sheet", str(sheet)]
    started = time.perf_counter()
    process = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "0"}
    )
    if process.returncode:
        raise BenchmarkError(f"make_demo.py --seed {seed} broke: {process.stderr.strip()[-1000:]}")
    return time.perf_counter() - started


def _keep_first(logs: Path, count: int) -> None:
    """Cut logs to ``count`` interactions in seeded order."""
    rows = read_lines(logs / "interactions.jsonl")
    kept = set(sorted((row["interaction_id"] for row in rows), key=digest)[:count])
    for name in ("interactions", "retrievals", "ratings_by_rule"):
        path = logs / f"{name}.jsonl"
        write_lines(path, (row for row in read_lines(path) if row["interaction_id"] in kept))


def _write_ratings(
    path: Path, readings: Mapping[str, Mapping[str, int]], rated: Iterable[str], moment: Mapping[str, str]
) -> None:
    """Write the points of the rated interactions as `ratings.jsonl`."""
    write_lines(
        path,
        (
            {"interaction_id": interaction_id, "criterion": criterion, "scale_point": point, **SIMULATED, **moment}
            for interaction_id in sorted(rated)
            for criterion, point in readings[interaction_id].items()
        ),
    )


def measure_seed(seed: int, folder: Path, is_quick: bool) -> SeedResult:
    """Return the result of one seed: make the demo, rate it, build it, and hold it against what is planted."""
    inputs = hash_inputs()
    logs, sheet, warehouse = folder / "logs", folder / "sheet.jsonl", folder / "build"
    for leftover in (logs, warehouse):
        shutil.rmtree(leftover, ignore_errors=True)
    seconds_made = _make_demo(seed, logs, sheet)
    if is_quick:
        _keep_first(logs, QUICK_INTERACTIONS)
    shown = read_shown(logs)
    shipped = planted.DEMO / "logs"
    simulated, real = simulate_readings(shown, read_shown(shipped), read_readings(shipped), seed)
    rated = {row["interaction_id"] for row in read_lines(sheet)} & simulated.keys()
    last = max(read_lines(shipped / "ratings.jsonl"), key=lambda row: row["rated_at"])
    moment = {name: last[name] for name in ("guideline_version", "rated_at")}
    _write_ratings(logs / "ratings.jsonl", simulated, rated, moment)

    carry_texts(folder / "texts.duckdb", warehouse / "hcat.duckdb")
    # unit tests do not depend on the logs; data tests do
    built = build(
        logs,
        warehouse,
        arguments=("--exclude-resource-type", "unit_test"),
        environment={"HCAT_CLASSIFIER": "compact"} if is_quick else None,
    )
    carry_texts(warehouse / "hcat.duckdb", folder / "texts.duckdb")
    held = planted.hold(warehouse, logs, planted.read_planted())
    held_out = {key: points for key, points in simulated.items() if key not in rated}
    result = SeedResult(
        seed=seed,
        inputs=inputs,
        seconds_made=seconds_made,
        seconds_built=built.seconds,
        count_interactions=len(shown),
        count_read=len(rated),
        count_kept=len(rated & real),
        failed_tests=tuple(built.failed_tests),
        metrics=_measure_sets(warehouse / "hcat.duckdb", held_out),
        items=tuple(Item(one.item, one.is_found, one.effect, one.missing) for one in held.found),
        count_severe=len(held.severe),
        false=tuple(f"{planted.cell_name(row)} ({row['metric_name']})" for row in held.false),
    )
    shutil.rmtree(warehouse)
    return result


def _measure_sets(database: Path, points: Mapping[str, Mapping[str, int]]) -> tuple[MetricResult, ...]:
    """Return the sets of every gated metric with labels; ``points`` are those outside of the calibration."""
    alpha = read_alpha()
    found = []
    with duckdb.connect(str(database), read_only=True) as connection:
        for metric_name, criterion, ceiling in connection.execute(_METRICS, {"alpha": alpha}).fetchall():
            rows = connection.execute(_SETS, {"metric_name": metric_name}).fetchall()
            why = "" if rows else str(connection.execute(_STATUS, {"metric_name": metric_name}).fetchall()[0][0])
            own = {"alpha": alpha, "metric_name": metric_name}
            clusters = {row[:2]: row[2] for row in connection.execute(_CALIBRATION_CLUSTERS, own).fetchall()}
            ((accept_from,),) = connection.execute(_ACCEPT_FROM, {"metric_name": metric_name}).fetchall()
            labels = {key: int(one[criterion] >= accept_from) for key, one in points.items() if criterion in one}
            count_single = sum(row[1] in _LABELS.values() for row in rows)
            covered = measure_labels(rows, labels, clusters, alpha)
            found.append(MetricResult(metric_name, criterion, len(rows), count_single, ceiling, covered, why))
    return tuple(found)


def carry_texts(source: Path, target: Path) -> None:
    """Copy what was read of texts from one database to another, which is made anew; without a source do nothing."""
    if not source.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with duckdb.connect(str(fresh)) as connection:
        connection.execute(f"attach '{source}' as source (read_only)")
        for table in _READ_BEFORE:
            connection.execute(f"create table {table} as from source.main.{table}")
        connection.execute("detach source")
    fresh.replace(target)


def hash_inputs() -> str:
    """Return the hash of all that a result depends on beside its seed."""
    found = hashlib.sha256()
    for name in _INPUTS:
        path = ROOT / name
        files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
        for one in files:
            if one.suffix not in (".pyc", ".md"):
                found.update(str(one.relative_to(ROOT)).encode() + b"\0" + one.read_bytes() + b"\0")
    return found.hexdigest()


def write_result(result: SeedResult, path: Path) -> None:
    """Write a result, so that a later run need not measure it again."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(result), indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def read_result(path: Path) -> SeedResult | None:
    """Return a written result of these very inputs; None where there is none."""
    if not path.exists():
        return None
    values = json.loads(path.read_text(encoding="utf-8"))
    if values["inputs"] != hash_inputs():
        return None
    metrics = tuple(
        MetricResult(**one | {"labels": tuple(LabelCoverage(**label) for label in one["labels"])})
        for one in values["metrics"]
    )
    items = tuple(Item(**one) for one in values["items"])
    lists = {name: tuple(values[name]) for name in ("failed_tests", "false")}
    return SeedResult(**values | lists | {"metrics": metrics, "items": items})


def run(is_quick: bool = False, folder: Path | None = None, count_seeds: int | None = None) -> Outcome:
    """Return the outcome over seeds 1, 2, ...; results that lie in the working folder are not measured again."""
    count = count_seeds or (COUNT_SEEDS_QUICK if is_quick else COUNT_SEEDS)
    with working_folder(folder if folder or is_quick else FOLDER) as work:
        results = []
        for seed in range(1, count + 1):
            path = work / f"{'quick_' if is_quick else ''}seed_{seed}.json"
            result = read_result(path)
            if result is None:
                result = measure_seed(seed, work, is_quick)
                write_result(result, path)
            print(f"seed {seed} of {count}: {_found_of(result)}", flush=True)
            results.append(result)
    return summarise(results, is_quick)


def summarise(results: Sequence[SeedResult], is_quick: bool = False) -> Outcome:
    """Return tables by seed, sums with intervals, and whether the limits of sets and coverage are met."""
    names = [one.metric_name for one in results[0].metrics]
    alpha = read_alpha()
    tables, is_within = [], True
    for name in names:
        own = {result.seed: one for result in results for one in result.metrics if one.metric_name == name}
        table, is_kept = _sets_table(name, own, alpha)
        tables.append(table)
        is_within = is_within and is_kept
    tables += [_planted_table(results), _items_table(results), _false_table(results), _readings_table()]
    read = [sum(getattr(result, name) for result in results) for name in ("count_read", "count_kept")]
    seconds = [result.seconds_made + result.seconds_built for result in results]
    notes = [
        "Labels are simulated: nobody read these answers. An answer whose question, contexts and words are those of an"
        f" answer that was read in the shipped demo keeps its reading ({read[1]:,} of {read[0]:,} labels of the"
        " calibration). Any other answer takes the points of a read answer of the same planted kind.",
        "So a label errs as often as the reading of the shipped demo does (last table), and only the planted kind moves"
        " it. A poor answer without a planted fault is called failing by chance. The labels of relevance therefore say"
        " less about the text than a reading would, and its sets are wider.",
        "An answer is read with the same chance as in the shipped demo: 400 of those that test no risk. Coverage is"
        " measured on all the others. It is the mean over clusters of the share of answers whose set holds their"
        " label; in brackets are plain counts of answers and Wilson's interval of them.",
        f"Limit of coverage, per label: the mean over seeds is at most {STANDARD_ERRORS:.0f} standard errors below"
        f" {1 - alpha:.2f}. The error counts chance in the answers and in the labels of the calibration. A single seed"
        " may lie below by chance.",
        f"Limit of sets: {planted.LEAST_DECIDED:.0%} have one label, or the marts name a lower ceiling"
        " (`share_decidable` of fct_conformal_coverage), which follows from the AUROC of the score. Where the build"
        " makes no sets, the status of the calibrator says why (`wrong_direction`: a better score was not accepted more"
        " often), and nothing is promised.",
        "The metrics are those that a gate names and that labels calibrate. Items and false findings have no limit"
        " here: the strength of each item was chosen for one seed.",
        "`a false statement is confirmed` counts an answer that turned wrong: where chance gives a fault to the answer"
        " without the false statement, nothing turned.",
        "The window of the drift starts on 2026-08-03 where a customer asked on the last Sunday. Elsewhere the last"
        " week counts as open (`hcat_drift_closing_day`), and the window holds a week from before the drift.",
        f"Seeds 1 to {len(results)} were run, and none was left out. A seed takes {min(seconds):,.0f} to"
        f" {max(seconds):,.0f} s. Each distinct text is read once for all seeds, so the first one of a new folder takes"
        " longest; the rest of the warehouse is made anew. Data tests run in each build.",
    ]
    title = f"The demo from {len(results)} other seeds"
    return Outcome("reseeded", title, tables, notes, is_quick=is_quick, is_within_limits=is_within)


def _sets_table(name: str, own: Mapping[int, MetricResult], alpha: float) -> tuple[Table, bool]:
    """Return the table of one metric by seed with its sums, and whether both limits are met."""
    rows = []
    for seed, one in own.items():
        by_label = {label.label: label for label in one.labels}
        cells = [_coverage_cell(by_label.get(label)) for label in _LABELS.values()]
        single = f"{one.count_single / one.count_sets:.1%} of {one.count_sets:,}" if one.count_sets else "no sets"
        rows.append((str(seed), single, one.why_no_sets or _ceiling(one.ceiling), *cells))
    count_single, count_sets = (
        sum(getattr(one, field) for one in own.values()) for field in ("count_single", "count_sets")
    )
    sums, kept, is_kept = [], [], True
    for label in _LABELS.values():
        found = [each for one in own.values() for each in one.labels if each.label == label]
        if not found:
            sums.append("no answers")
            kept.append("nothing is promised")
            continue
        mean, error = mean_coverage(found)
        is_promised = mean >= 1 - alpha - STANDARD_ERRORS * error
        is_kept = is_kept and is_promised
        counts = [sum(getattr(each, field) for each in found) for field in ("count_covered", "count_rows")]
        sums.append(f"{mean:.3f} ± {error:.3f} ({_share_of(*counts)})")
        kept.append(f"at least {1 - alpha:.2f} within the error: {'yes' if is_promised else 'NO'}")
    is_decided = all(one.is_decided for one in own.values())
    rows.append(("all", _share_of(count_single, count_sets), "", *sums))
    wanted = f"{planted.LEAST_DECIDED:.0%} or a lower ceiling named: {'yes' if is_decided else 'NO'}"
    rows.append(("limit", wanted, "", *kept))
    columns = ("seed", "sets with one label", "ceiling", *(f"coverage of {label}" for label in _LABELS.values()))
    return Table(f"{name}: prediction sets at alpha {alpha:g}", columns, rows), is_kept and is_decided


def mean_coverage(found: Sequence[LabelCoverage]) -> tuple[float, float]:
    """Return the mean over seeds of a coverage and its standard error where the promise is met exactly.

    Examples
    --------
    >>> one = LabelCoverage("failed", 10, 9, 10, 0.9, 0.01)
    >>> two = LabelCoverage("failed", 10, 8, 10, 0.8, 0.03)
    >>> mean, error = mean_coverage([one, two])
    >>> round(mean, 3), round(error, 3)
    (0.85, 0.1)
    """
    return float(np.mean([one.coverage for one in found])), math.sqrt(sum(one.variance for one in found)) / len(found)


def _planted_table(results: Sequence[SeedResult]) -> Table:
    rows = [
        (
            str(result.seed),
            _found_of(result),
            "; ".join(one.name for one in result.items if not one.is_found) or "–",
            f"{len(result.false)} of {result.count_severe}",
            ", ".join(result.failed_tests) or "none",
            f"{result.count_interactions:,}",
            f"{result.seconds_made:.0f} + {result.seconds_built:.0f}",
        )
        for result in results
    ]
    found = sum(one.is_found for result in results for one in result.items)
    false, severe = sum(len(result.false) for result in results), sum(result.count_severe for result in results)
    total = sum(len(result.items) for result in results)
    rows.append(("all", _share_of(found, total), "", _share_of(false, severe), "", "", ""))
    columns = ("seed", "items found", "missed", f"false of the {planted.MOST_SEVERE} most severe", "failed data tests")
    return Table("What is planted, by seed", (*columns, "interactions", "s made + built"), rows)


def _items_table(results: Sequence[SeedResult]) -> Table:
    rows = []
    for place, item in enumerate(results[0].items):
        own = [(result.seed, result.items[place]) for result in results]
        missed = [f"seed {seed}: {one.effect} ({one.missing})" for seed, one in own if not one.is_found]
        rows.append((item.name, _share_of(sum(one.is_found for _, one in own), len(own)), "; ".join(missed)))
    return Table("What is planted, by item", ("item", "found in seeds", "where missed: effect (why not)"), rows)


def _false_table(results: Sequence[SeedResult]) -> Table:
    seeds: dict[str, list[str]] = defaultdict(list)
    for result in results:
        for name in result.false:
            seeds[name].append(str(result.seed))
    rows = [(name, ", ".join(own)) for name, own in sorted(seeds.items())]
    return Table("Most severe findings that nothing planted explains", ("cell (metric)", "seeds"), rows)


def _readings_table() -> Table:
    """Return how often the reader of the shipped demo called answers failing, by planted kind."""
    logs = planted.DEMO / "logs"
    shown, points = read_shown(logs), read_readings(logs)
    criteria = sorted({criterion for one in points.values() for criterion in one})
    with (ROOT / "seeds" / "calibration_targets.csv").open(encoding="utf-8") as lines:
        accept_from = {row["criterion"]: int(row["accept_from"]) for row in csv.DictReader(lines)}
    rows = []
    for fault in sorted({shown[key].fault for key in points}):
        own = [one for key, one in points.items() if shown[key].fault == fault]
        cells = []
        for criterion in criteria:
            rated = [one[criterion] < accept_from[criterion] for one in own if criterion in one]
            cells.append(f"{sum(rated)} of {len(rated)}" if rated else "–")
        rows.append((fault, *cells))
    columns = ("planted kind", *(f"{criterion} failing" for criterion in criteria))
    return Table("What the reader of the shipped demo called failing, from which labels are simulated", columns, rows)


def _coverage_cell(one: LabelCoverage | None) -> str:
    if one is None:
        return "no answers"
    return f"{one.coverage:.3f} ({one.count_covered:,} of {one.count_rows:,}, {one.count_clusters:,} clusters)"


def _found_of(result: SeedResult) -> str:
    return f"{sum(one.is_found for one in result.items)} of {len(result.items)}"


def _ceiling(ceiling: float | None) -> str:
    return "not known" if ceiling is None else f"{ceiling:.1%}"


def _share_of(count: int, total: int) -> str:
    """Return a share in words with its 95 % interval.

    Examples
    --------
    >>> _share_of(9, 10)
    '9 of 10 (60% to 98%)'
    """
    if not total:
        return "0 of 0"
    lower, upper = wilson_interval(count / total, total, QUANTILE)
    return f"{count:,} of {total:,} ({lower:.0%} to {upper:.0%})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; see `python -m benchmarks.reseeded --help`."""
    parser = argument_parser("reseeded", "Hold sets, coverage and planted items on demos from other seeds.")
    parser.add_argument(
        "--seeds", type=int, help=f"number of seeds (default: {COUNT_SEEDS}, quick {COUNT_SEEDS_QUICK})"
    )
    options = parser.parse_args(arguments)
    if options.seeds is not None and options.seeds < 1:
        parser.error(f"--seeds must be at least 1, got {options.seeds}")
    count = options.seeds or COUNT_SEEDS
    return finish(run(options.quick, options.folder, options.seeds), f"python -m benchmarks.reseeded --seeds {count}")


if __name__ == "__main__":
    sys.exit(main())
