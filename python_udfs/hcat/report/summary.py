"""The summary: the results of the last build in about ten lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hcat.engine.warehouse import Place, Row, Warehouse, check_finished, find_database, find_folder, open_warehouse
from hcat.language.display import clean_label
from hcat.report.changes import describe_changes
from hcat.report.data import DESCRIBE_SYSTEMS, LIST_RECORD_COUNTS, read_counts, say_what_was_deleted
from hcat.report.decision import MAXIMUM_FINDINGS, list_findings, say_what_was_tested
from hcat.report.ledger import read_build
from hcat.report.outcomes import MEASURE_SYSTEMS, VIOLIN_METRICS, describe_gates
from hcat.report.ratings import KINDS, describe_labels
from hcat.report.robustness import describe_headlines
from hcat.report.showing import format_number, format_percent, format_period, format_time
from hcat.report.verdict import describe_verdict
from hcat.report.weaknesses import describe_claims


def summarise(warehouse: Path | Place) -> list[tuple[str, str]]:
    """Return about ten lines (name, text) on the last build, without control characters."""
    path = find_database(warehouse)
    with open_warehouse(warehouse) as source:
        check_finished(source)
        build = read_build(source)
        run = build.run
        overview = _describe_overview_counts(source)
        gates = describe_gates(source, run)
        changes = describe_changes(source, build)
        sections = {"weaknesses": describe_claims(source), "robustness": {"pairs": describe_headlines(source)}}
        measured = {
            row["metric_name"]: row
            for row in source.rows(MEASURE_SYSTEMS, ["fct_marginal_weaknesses", "dim_metrics"])
            if row["dimension"] == "all"
        }
        records = source.rows(LIST_RECORD_COUNTS, ["int_records_counted"])
        labels = describe_labels(source)
        deleted = say_what_was_deleted(source)
    verdict = describe_verdict(run, gates)
    switched_off = build.settings.get("modules_off") or []
    lines = [
        (
            "build",
            f"{verdict['word']}: {verdict['text']} ({format_time(run['started_at']) if run else 'time not recorded'})",
        ),
        *overview,
        *_summarise_metrics(measured),
        ("gates", _summarise_gates(gates)),
        ("rejected records", _summarise_records(records, run)),
        *([("deleted", deleted)] if deleted else []),
        *([] if "calibration" in switched_off else [("labels", _summarise_labels(labels["counts"]))]),
        *_summarise_findings(sections),
        ("signed", _summarise_signatures(changes)),
        *([("switched off", ", ".join(switched_off))] if switched_off else []),
        ("warehouse", str(path)),
    ]
    folder = find_folder(warehouse)
    published = folder / "published" / "hcat.duckdb"
    report = folder / "report.html"
    lines.append(("published copy", str(published) if published.is_file() else "none yet: run `dbt build`"))
    lines.append(("report", str(report) if report.is_file() else "none yet: run `hcat report`"))
    return lines


def _describe_overview_counts(source: Warehouse) -> list[tuple[str, str]]:
    count = read_counts(source)
    if count is None:
        return [("interactions", "none: load logs and run `dbt build`")]
    systems = source.rows(DESCRIBE_SYSTEMS, ["fct_interactions"])
    named = ", ".join(f"{clean_label(row['system'])} ({row['count_interactions']:,})" for row in systems[:3])
    more = f", and {len(systems) - 3} more" if len(systems) > 3 else ""
    total = count["count_interactions"]
    return [
        ("systems", named + more),
        ("interactions", f"{total:,} from {count['count_clusters']:,} clusters, {format_period(count)}"),
        (
            "answered",
            f"{format_percent(count['count_answered'] / total)} of interactions;"
            f" refusals {format_percent(count['count_refusals'] / total)}",
        ),
    ]


def _summarise_metrics(measured: Mapping[str, Row]) -> list[tuple[str, str]]:
    names = [name for name in VIOLIN_METRICS if measured.get(name, {}).get("count_scored")]
    parts = []
    for name in names:
        row = measured[name]
        failing = "" if row["share_failing"] is None else f", {format_percent(row['share_failing'])} failing"
        parts.append(f"{name} {format_number(row['mean_score'])} (n {row['count_scored']:,}{failing})")
    return [("metric", part) for part in parts] or [("metrics", "no main metric has a score")]


def _summarise_gates(gates: Mapping[str, Any]) -> str:
    if not gates["count_all"]:
        return "none evaluated"
    named = ", ".join(
        f"{row['gate_name']} {row['verdict']} ({row['severity']})" for row in gates["rows"] if not row["is_passing"]
    )
    failing = gates["count_all"] - gates["count_passing"]
    return f"{gates['count_passing']} pass, {failing} do not pass" + (f": {named}" if named else "")


def _summarise_records(records: Sequence[Row], run: Row | None) -> str:
    if records:
        rejected = sum(row["count_rejected"] for row in records)
        return f"{rejected:,} of {sum(row['count_landed'] for row in records):,} landed records"
    return f"{run['count_rejected']:,} of {run['count_landed']:,} landed records" if run else "unknown"


def _summarise_labels(counts: Mapping[str, int]) -> str:
    given = [f"{count:,} answers by {KINDS[kind][2]}" for kind, count in counts.items()]
    return ", ".join(given) or "none: `hcat labels export` writes a sheet for raters"


def _summarise_findings(sections: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the findings of the first page of the report, in its words."""
    lines = list_findings(sections)[:MAXIMUM_FINDINGS]
    return [("finding", line.text) for line in lines] or [("findings", say_what_was_tested(sections))]


def _summarise_signatures(changes: Mapping[str, Any]) -> str:
    if changes["own"]:
        last = changes["own"][0]
        return f"this build: {last['decision']} by {last['signed_by']} ({last['role']}) on {last['signed_at']}"
    if changes["signed"]:
        return f"build {changes['signed']['run_id']}; since then {changes['signed']['summary']}"
    return "no report yet: `hcat sign` records a signature"
