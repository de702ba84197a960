"""Where raw logs may come from: CSV, JSONL, Parquet, warehouse tables; and what a missing file or column says."""

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from builds import (
    DEMO,
    ENTITIES,
    SMALL,
    Build,
    Dbt,
    ask_server,
    dbt_arguments,
    dbt_environment,
    folder_of_links,
    read_lines,
    write_lines,
)
from test_spans import ANSWER, ASKED_AT, EXPORTS, QUERY

from hcat.landing.shapes import explain_no_files

STAGING = "build --select +path:models/staging --exclude-resource-type test"
LANDING = "build --select +base_interactions"
#: Where a record stood and the key made from it; everything else must agree between formats.
PLACE_COLUMNS = ("record_id", "source_file")
#: Keys that tell the copies of one content apart; the raw contract's source_group is staged as cluster_id.
MARKED = ("interaction_id", "query_id", "parent_query_id", "source_group", "document_id", "chunk_id")
STAGED_MARKED = (*MARKED, "cluster_id")


def demo_records(mark: str) -> dict[str, list[dict[str, Any]]]:
    """Return a part of the demo with ``mark`` before its ids, and an answer that CSV has to quote."""
    rated = {row["interaction_id"] for row in read_lines(DEMO / "ratings.jsonl")[:40]}
    records: dict[str, list[dict[str, Any]]] = {}
    for entity in ENTITIES:
        rows = read_lines(DEMO / f"{entity}.jsonl")
        key = "interaction_id" if "interaction_id" in rows[0] else None
        rows = [row for row in rows if key is None or row[key] in rated][:40]
        # CSV has no way to tell an empty text from none
        assert all(value != "" for row in rows for value in row.values())
        records[entity] = [row | {name: mark + row[name] for name in MARKED if row.get(name)} for row in rows]
    records["interactions"][0]["answer"] = 'It is "5",\r\nor 6; see\ttable. 🙂'
    return records


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8-sig", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(names)
        for row in rows:
            values = [row.get(name) for name in names]
            # spaced and unsorted JSON: the spelling must not matter
            writer.writerow(
                [json.dumps(value, indent=1) if isinstance(value, dict | list) else value for value in values]
            )


def to_table(rows: list[dict[str, Any]]) -> pa.Table:
    """Return typed columns, as a warehouse has them: timestamps, integers, lists, maps."""
    # pyarrow takes the columns of the first row alone
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.Table.from_pylist([{"": None} | {name: row.get(name) for name in names} for row in rows])
    table = table.drop_columns([""])
    for name in table.column_names:
        values = table.column(name).to_pylist()
        if name in ("asked_at", "rated_at"):
            typed = pa.array([datetime.fromisoformat(value) for value in values], pa.timestamp("us", tz="UTC"))
        elif name == "tags":
            typed = pa.array([list(value.items()) for value in values], pa.map_(pa.string(), pa.string()))
        else:
            continue
        table = table.set_column(table.column_names.index(name), name, typed)
    return table


@pytest.fixture(scope="module")
def from_files(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The same content three times in one folder: as JSONL, CSV and Parquet."""
    raw = tmp_path_factory.mktemp("formats")
    for entity in ENTITIES:
        write_lines(raw / f"{entity}.jsonl", demo_records("jsonl:")[entity])
        write_csv(raw / f"{entity}.csv", demo_records("csv:")[entity])
        parquet.write_table(to_table(demo_records("parquet:")[entity]), raw / f"{entity}.parquet", row_group_size=7)
    return dbt(STAGING, raw, tmp_path_factory.mktemp("formats_warehouse"))


@pytest.fixture(scope="module")
def from_tables(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The same content in tables of the warehouse; the folder of raw logs is empty."""
    warehouse = tmp_path_factory.mktemp("tables_warehouse")
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("create schema raw")
        for entity, rows in demo_records("table:").items():
            connection.register("arrow_rows", to_table(rows))
            connection.execute(f"create table raw.rag_{entity} as select * from arrow_rows")
            connection.unregister("arrow_rows")
        connection.execute(f"create table raw.rag_spans as from '{EXPORTS / 'spans_trulens.parquet'}'")
    variables = {"hcat_raw_relations": {entity: f"raw.rag_{entity}" for entity in (*ENTITIES, "spans")}}
    return dbt(STAGING, tmp_path_factory.mktemp("no_files"), warehouse, variables=variables)


def staged_rows(build: Build, entity: str, mark: str) -> list[tuple[Any, ...]]:
    """Return the staged rows of one source without its mark."""
    names = [name for name, *_ in build.query(f"describe stg_{entity}")]
    # how a record was read, and the texts behind its values
    own = names[: names.index("record_hash")]
    names = [name for name in own if name == "query_text" or not name.endswith("_text")]
    # a typed column of tags has every key, null where a row lacks it
    shown = ", ".join(
        f"replace({name}, '{mark}', '') as {name}"
        if name in STAGED_MARKED
        else "replace(tags, ', \"register\": null', '') as tags"
        if name == "tags"
        else name
        for name in names
        if name not in PLACE_COLUMNS
    )
    source = f"raw.rag_{entity}" if mark == "table:" else f"{entity}.{mark[:-1]}"
    return build.query(f"select {shown} from stg_{entity} where source_file = ? order by source_row", source)


@pytest.mark.parametrize("entity", ENTITIES)
def test_every_format_stages_the_same_rows(from_files: Build, entity: str) -> None:
    assert from_files.exit_code == 0, from_files.output
    expected = staged_rows(from_files, entity, "jsonl:")
    assert len(expected) == len(demo_records("")[entity])
    assert staged_rows(from_files, entity, "csv:") == expected
    assert staged_rows(from_files, entity, "parquet:") == expected


@pytest.mark.parametrize("entity", ENTITIES)
def test_warehouse_tables_stage_the_same_rows(from_files: Build, from_tables: Build, entity: str) -> None:
    assert from_tables.exit_code == 0, from_tables.output
    assert staged_rows(from_tables, entity, "table:") == staged_rows(from_files, entity, "jsonl:")


def test_a_table_of_spans_is_staged(from_tables: Build) -> None:
    shown = "select query_text, answer, asked_at, tags from stg_interactions where interaction_id = 'record-1'"
    ((*said, tags),) = from_tables.query(shown)
    assert (said, json.loads(tags)) == ([QUERY, ANSWER, ASKED_AT], {"user": "ANALYST"})
    reasons = "select reject_reason from stg_rejected_records where entity = 'spans'"
    assert from_tables.query(reasons) == [("record_type is not SPAN: LOG",)]


def only_problem(build: Build) -> str:
    """Return the one line that says what is wrong; fails when it comes with a stack trace, late or not alone."""
    # a hook stopped it before its first model
    assert build.exit_code == 2, build.output
    assert "Traceback" not in build.output
    assert "START sql" not in build.output
    assert "START python" not in build.output
    problems = {line.strip() for line in build.output.splitlines() if "hcat raw logs:" in line}
    assert len(problems) == 1, build.output
    return problems.pop()


def test_missing_files_and_columns_are_one_line_each_and_can_be_mended(
    dbt: Dbt, tmp_path_factory: pytest.TempPathFactory
) -> None:
    raw, warehouse = tmp_path_factory.mktemp("broken"), tmp_path_factory.mktemp("broken_warehouse")
    problem = only_problem(dbt("build", raw, warehouse))
    folder = folder_of_links(dbt.target(None)) / "logs"
    assert f"folder '{folder}' (HCAT_RAW_LOGS) has no file interactions.*, calls.* or spans.* (" in problem

    (raw / "interactions.csv").write_text("interaction_id,query_text\ni1,What?\n")
    write_lines(raw / "interactions_2.jsonl", [{"query_text": "What?"}])
    problem = only_problem(dbt(LANDING, raw, warehouse))
    assert "interactions.csv has no column 'answer' (found: interaction_id, query_text); " in problem
    assert "interactions_2.jsonl has no column 'interaction_id', 'answer'" in problem

    (raw / "interactions.csv").write_text("interaction_id,query_text,answer\ni1,What?,5\n")
    (raw / "interactions_2.jsonl").unlink()
    mended = dbt(LANDING, raw, warehouse)
    assert mended.exit_code == 0, mended.output
    assert mended.query("select interaction_id, is_file_problem from landed_records") == [("i1", False)]

    # what a warehouse remembers is evaluated again when the files are gone
    (raw / "interactions.csv").unlink()
    gone = dbt(LANDING, raw, warehouse)
    assert gone.exit_code == 0, gone.output
    assert gone.query("select interaction_id from landed_records") == [("i1",)]
    assert "has no file interactions" in only_problem(dbt(f"{LANDING} --full-refresh", raw, warehouse))


def test_a_build_without_logs_stops_before_its_first_model(dbt: Dbt, tmp_path: Path) -> None:
    environment = dbt_environment(tmp_path, tmp_path, is_demo=False) | {"HCAT_RAW_LOGS": ""}
    target = dbt.target(SMALL, is_demo=False)
    printed = ask_server("dbt", dbt_arguments(["build"], target, SMALL), environment)
    assert only_problem(Build(*printed, tmp_path, tmp_path)) == f"hcat raw logs: {explain_no_files('')}"


def test_a_broken_file_is_rejected_and_read_once_it_is_whole(dbt: Dbt, tmp_path: Path) -> None:
    raw, warehouse = tmp_path / "raw", tmp_path / "warehouse"
    call = {"question": "What is the fee?", "answer": "It is 5.", "contexts": ["The fee is 5."]}
    write_lines(raw / "calls" / "day=2026-05-01" / "application_version=2" / "part-0.jsonl", [call | {"id": "i1"}])
    write_lines(raw / "old" / "calls.jsonl", [call | {"id": "i9"}])
    # the query of a call goes before a variable of its form
    write_lines(raw / "calls.jsonl", [call | {"id": "i2", "inputs": {"locale": "en-GB"}}])
    table = pa.Table.from_pylist([{"interaction_id": "i3", "query_text": "Why?", "answer": "So."}])
    parquet.write_table(table, raw / "interactions.parquet")
    whole = (raw / "interactions.parquet").read_bytes()
    (raw / "interactions.parquet").write_bytes(whole[: len(whole) // 2])
    things = "stg_interactions +int_records_counted +stg_rejected_records"
    command = f"build --exclude-resource-type test --select {things}"
    night = dbt(command, raw, warehouse)
    assert night.exit_code == 0, night.output
    assert "hcat: not read: old/calls.jsonl (did you mean calls.jsonl?)" in night.output
    assert "hcat: file rejected: interactions.parquet cannot be read: Parquet magic bytes not found" in night.output
    staged = "select interaction_id, query_text, application_version from stg_interactions order by 1"
    assert night.query(staged) == [("i1", "What is the fee?", "2"), ("i2", "What is the fee?", None)]
    rejected = "select source_file, source_row from stg_rejected_records where entity = 'interactions'"
    assert night.query(rejected) == [("interactions.parquet", 0)]
    counted = "select count_landed, count_staged, count_rejected from int_records_counted where entity = 'interactions'"
    assert night.query(counted) == [(3, 2, 1)]
    # still broken, the file counts once; whole, it is no reject any more
    dbt(command, raw, warehouse)
    assert night.query(rejected) == [("interactions.parquet", 0)]
    (raw / "interactions.parquet").write_bytes(whole)
    later = dbt(command, raw, warehouse)
    assert later.exit_code == 0, later.output
    assert later.query("select interaction_id from stg_interactions order by 1") == [("i1",), ("i2",), ("i3",)]
    assert later.query(rejected) == []
