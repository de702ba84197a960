"""The summary: the lines of the first page of the report, for a terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hcat.engine.warehouse import Place, Row, check_finished, find_database, find_folder, open_warehouse
from hcat.language.display import clean_label
from hcat.report.changes import describe_changes
from hcat.report.data import LIST_RECORD_COUNTS, read_counts, say_what_was_deleted
from hcat.report.decision import describe_decisions, list_to_read
from hcat.report.ledger import describe_verdict, read_build
from hcat.report.outcomes import describe_gates
from hcat.report.showing import format_number, format_period, format_time

#: Characters of a question that are shown.
QUESTION_CHARACTERS = 90
#: Answers to read that one line names.
SHOWN_IDS = 5


def summarise(warehouse: Path | Place) -> list[tuple[str, str]]:
    """Return the lines (name, text) on the last build, without control characters."""
    path = find_database(warehouse)
    with open_warehouse(warehouse) as source:
        check_finished(source)
        build = read_build(source)
        run = build.run
        counts = read_counts(source)
        decisions = describe_decisions(source)
        gates = describe_gates(source, run)
        changes = describe_changes(source, build)
        records = source.rows(LIST_RECORD_COUNTS, ["int_records_counted"])
        deleted = say_what_was_deleted(source)
        to_read = list_to_read(source)
        is_rated = any(each["is_rated"] for each in decisions)
    verdict = describe_verdict(run, gates)
    switched_off = build.settings.get("modules_off") or []
    size = "none: load logs and run `dbt build`"
    if counts is not None:
        size = f"{counts['count_interactions']:,} from {counts['count_clusters']:,} clusters, {format_period(counts)}"
    folder = find_folder(warehouse)
    files = (
        ("report", folder / "report.html", "hcat report"),
        ("published copy", folder / "published" / "hcat.duckdb", "dbt build"),
    )
    return [
        *(
            ("" if number else "release", line)
            for decision in decisions
            for number, line in enumerate(decision["lines"])
        ),
        *_list_answers(to_read, is_rated),
        ("build", f"{verdict['word']}: {verdict['text']} ({format_time(run['started_at'] if run else None)})"),
        ("interactions", f"{size}; {_summarise_records(records, run)}"),
        *([("deleted", deleted)] if deleted else []),
        ("signed", _summarise_signatures(changes)),
        *([("switched off", ", ".join(switched_off))] if switched_off else []),
        ("warehouse", str(path)),
        *((name, str(file) if file.is_file() else f"none yet: run `{command}`") for name, file, command in files),
    ]


def _list_answers(rows: Sequence[Row], is_rated: bool) -> list[tuple[str, str]]:
    """Return the answers to read first: each on its line where nobody rated an answer, else their ids."""
    if not is_rated:
        return [("read", _name_answer(row)) for row in rows]
    named = ", ".join(clean_label(row["interaction_id"]) for row in rows[:SHOWN_IDS])
    return [("read", f"{named} and {len(rows) - SHOWN_IDS} more: `hcat report`")] if len(rows) > SHOWN_IDS else []


def _name_answer(row: Row) -> str:
    asked, said = (clean_label(row[name], QUESTION_CHARACTERS) for name in ("query_text", "sentence_text"))
    score = "" if row["raw_score"] is None else f", score {format_number(row['raw_score'])}"
    why = clean_label(row["reason"], QUESTION_CHARACTERS)
    return f"{row['reading_rank']}. {asked} {said} [{why}] ({clean_label(row['interaction_id'])}{score})"


def _summarise_records(records: Sequence[Row], run: Row | None) -> str:
    if records:
        rejected = sum(row["count_rejected"] for row in records)
        return f"{rejected:,} of {sum(row['count_landed'] for row in records):,} records rejected"
    return f"{run['count_rejected']:,} of {run['count_landed']:,} records rejected" if run else "rejects unknown"


def _summarise_signatures(changes: Mapping[str, Any]) -> str:
    if changes["own"]:
        last = changes["own"][0]
        return f"this build: {last['decision']} by {last['signed_by']} ({last['role']}) on {last['signed_at']}"
    if changes["signed"]:
        return f"build {changes['signed']['run_id']}; since then {changes['signed']['summary']}"
    return "no report yet: `hcat sign` records a signature"
