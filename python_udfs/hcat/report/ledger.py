"""The build that the report describes, its verdict, and the section that lists everything that it depends on."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from hcat.engine.warehouse import Row, Warehouse, WarehouseError
from hcat.language.display import clean_label
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Section
from hcat.report.showing import EXCERPT_CHARACTERS, format_time, read_json
from hcat.report.words import WORDS

VOID_DECISIONS: Final = WORDS["ledger"]["void_decisions"]
#: Columns that marts got since hcat 0.1.0 and that pages read: a mart without its column is of an earlier version.
_ADDED_COLUMNS: Final = (
    "dim_runs.build_number",
    "fct_findings.last_seen_build_number",
    "fct_metric_thresholds.is_shown",
    "fct_ratings.count_raters",
    "fct_run_metrics.build_number",
    "fct_threshold_gates.build_number",
    "fct_version_comparisons.count_segments_without_rule",
)


class Build(NamedTuple):
    """The last build of a warehouse: rows of dim_runs, the last one first, its settings, and rows of dim_metrics."""

    runs: Sequence[Row]
    settings: Mapping[str, Any]
    metrics: Sequence[Row]

    @property
    def run(self) -> Row | None:
        """Return the ledger row of the last build."""
        return self.runs[0] if self.runs else None

    @property
    def confidence(self) -> float | None:
        """Return the confidence of the intervals, inside (0, 1); None when the ledger does not tell."""
        value = self.settings.get("hcat_confidence")
        return float(value) if isinstance(value, int | float) and 0 < value < 1 else None

    @property
    def level(self) -> str:
        """Return the confidence of the intervals in words."""
        return "–" if self.confidence is None else f"{self.confidence * 100:g} %"

    @property
    def primary(self) -> dict[str, Row]:
        """Return the primary metrics by name."""
        return {metric["metric_name"]: metric for metric in self.metrics if metric["is_primary"]}


def read_build(source: Warehouse) -> Build:
    """Return the last build of `source`; a warehouse of an earlier version is an error that says what to do."""
    for column in _ADDED_COLUMNS:
        if source.has(column.partition(".")[0]) and not source.has(column):
            raise WarehouseError(
                f"an earlier version of hcat made this warehouse (it lacks {column}):"
                " run `hcat upgrade`, then `dbt build`"
            )
    runs = source.rows("select * from dim_runs order by build_number desc", ["dim_runs"])
    settings = read_json(runs[0]["settings"] if runs else None)
    return Build(
        runs,
        settings,
        source.rows("select * from dim_metrics order by is_primary desc, family, metric_name", ["dim_metrics"]),
    )


def describe_ledger(build: Build) -> Section:
    """Return how to rebuild the report, what the build depends on, and the builds of the warehouse."""
    run = build.run
    if run is None:
        return blocks.section(
            blocks.absent("The warehouse holds no ledger row (dim_runs): this report cannot be traced to a build.")
        )
    commands = (
        "export HCAT_RAW_LOGS=FOLDER_OF_THE_LOGS\ndbt build        # code {}, random seed {}\n"
        "hcat report      # build {}"
    )
    rebuilt = blocks.rich(commands, clean_label(run["code_hash"])[:16], run["random_seed"], clean_label(run["run_id"]))
    hidden = {"settings", "library_versions", "seed_checksums"}
    seeds = {name: str(checksum)[:16] for name, checksum in read_json(run.get("seed_checksums")).items()}
    return blocks.section(
        blocks.paragraph(
            "What this build depends on. Two builds with the same input, settings, code, models, seeds and encoder on"
            " the same kind of device should give the same tables. To rebuild this report, put the same logs into an"
            " empty warehouse, check out the same code and seeds, and run:"
        ),
        blocks.paragraph(rebuilt, "code commands"),
        blocks.paragraph(
            "Build id and times differ; the hashes below and the figures do not. From this warehouse as it is, hcat"
            " report alone writes this file again, byte for byte.",
            "note",
        ),
        blocks.facts(
            [
                (name, format_time(value) if name == "started_at" else clean_label(value, EXCERPT_CHARACTERS))
                for name, value in run.items()
                if name not in hidden and value is not None
            ],
            "code",
        ),
        _fold_pairs("Settings", {name: json.dumps(value) for name, value in build.settings.items()}),
        _fold_pairs("Seeds: the decisions of people, by checksum", seeds),
        _fold_pairs("Libraries", read_json(run["library_versions"])),
        blocks.heading("Builds of this warehouse"),
        blocks.table(
            "",
            (
                "started_at=Started",
                "run_id=Build",
                Column("Verdict", lambda row: blocks.pill(*_name_result(row)), ""),
                "count_gates",
                "count_gates_not_passing",
                "input_hash",
                "settings_hash",
                "code_hash",
            ),
            [{**row, "code_hash": str(row["code_hash"])[:16]} for row in build.runs],
            noun="builds",
        ),
    )


def _fold_pairs(title: str, values: Mapping[str, Any]) -> Block | None:
    pairs = sorted((clean_label(name), clean_label(value)) for name, value in values.items())
    return blocks.fold(title, blocks.facts(pairs, "code"), level=3)


def _name_result(run: Row) -> tuple[str, str]:
    """Return the state and the words of a build, as the first page has them."""
    if run["is_passing"]:
        return ("undecided", "! not all pass") if run["count_gates_not_passing"] else ("passed", "✓ passed")
    return ("failed", "✗ not published") if passes_gates(run) else ("failed", "✗ failed")


def passes_gates(run: Row) -> bool:
    """Return whether all gates of severity error pass; such a build passes once its tables are published."""
    return bool(run["count_gates"]) and not run["count_error_gates_not_passing"]


def describe_verdict(run: Row | None, gates: Mapping[str, Any]) -> dict[str, str]:
    """Return the verdict of a build: a word, its state (a class of the style sheet) and a sentence."""
    return dict(zip(("word", "state", "text"), _judge(run, gates), strict=True))


def _judge(run: Row | None, gates: Mapping[str, Any]) -> tuple[str, str, str]:
    if run is None:
        return "unknown", "not_evaluated", "The warehouse holds no build: dim_runs has no row."
    if run["count_gates"] == 0:
        return "Failed", "failed", "No gate was evaluated. A build without gates proves nothing."
    count, passing = gates["count_all"], gates["count_passing"]
    if passing == count and run["is_passing"]:
        return "Passed", "passed", f"All {count} gates pass."
    share = f"{count - passing} of {count} gates {'does' if count - passing == 1 else 'do'} not pass"
    by_verdict = gates["count_by_verdict"]
    others = ", ".join(
        f"{by_verdict[verdict]} {words[by_verdict[verdict] != 1]}"
        for verdict, words in WORDS["verdict"]["words"].items()
        if verdict in by_verdict
    )
    if run["is_passing"]:
        told = f"{share}: {others}. They are of severity warn, so the build ends without an error."
        return "Published", "warned", told
    if passes_gates(run):
        told = f"{share}, but the build broke off before it published its tables: published/ holds those of an"
        return "Not published", "failed", f"{told} earlier build. Run it again."
    errors = run["count_error_gates_not_passing"]
    stopping = f"{errors} of severity error {'does' if errors == 1 else 'do'} not pass"
    return "Failed", "failed", f"{share}: {others}. {stopping}: this page is of this build, and published/ is not."
