"""Landing: every record of every file becomes one row, readable or not, whatever the file holds."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hcat.engine.keys import hash_file
from hcat.engine.retention_rules import LANDED_KEPT, hash_id
from hcat.landing import files
from hcat.landing.raw_contract import ENTITIES
from hcat.landing.reading import RECORDS, land, read_entity, read_folder
from hcat.landing.shapes import find_unread_files

any_folder = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def land_all(folder: Path, entity: str = "interactions") -> list[dict[str, Any]]:
    return [row for batch in read_entity(entity, folder) for row in batch.to_pylist()]


def write_lines(path: Path, *records: dict[str, Any] | bytes) -> None:
    lines = [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]
    path.write_bytes(b"\n".join(lines) + b"\n")


def only_problem(rows: list[dict[str, Any]]) -> str:
    (row,) = rows
    assert row["is_file_problem"]
    assert "\n" not in row["read_error"]
    return str(row["read_error"])


ANSWERED = {"interaction_id": "i1", "answer": "5"}


@pytest.mark.parametrize(
    "name",
    [
        "interactions/dt=2026-05-01/part-0.jsonl",
        "interactions/year=2026/month=05/day=01/x.jsonl",
        "interactions_may/part-0.jsonl",
        "interactions.jsonl/part-00000.jsonl",
        "year=2026/month=05/interactions.jsonl",
    ],
)
def test_a_file_in_the_folder_of_its_entity_or_in_a_partition_is_read(tmp_path: Path, name: str) -> None:
    for place, file in enumerate(("interactions.jsonl", name) if name != "interactions.jsonl" else (name,)):
        path = tmp_path / (file if "interactions.jsonl/" not in name or place else "interactions_0.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_lines(path, ANSWERED)
    for note in ("_SUCCESS", ".part-0.jsonl.crc", "_part.jsonl", ".part.jsonl"):
        (tmp_path / name).parent.joinpath(note).write_text("x")
    rows = land_all(tmp_path)
    # rows of equal files keep their own place
    assert name in {row["source_file"] for row in rows}
    assert len(rows) == len({row["record_id"] for row in rows}) == 2
    assert find_unread_files(tmp_path) == {}


def test_folders_that_name_nothing_are_said_and_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "interactions.jsonl", ANSWERED)
    for name in (
        "old/interactions.jsonl",
        "calls/part-0.ndjson",
        "calls/notes.md",
        "exports/costs.csv.gz",
        "old/README.md",
        "ratings.xlsx",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_lines(tmp_path / name, ANSWERED)
    assert [row["source_file"] for row in land_all(tmp_path)] == ["interactions.jsonl"]
    assert find_unread_files(tmp_path) == {
        "calls/notes.md": None,
        "calls/part-0.ndjson": "calls/part-0.jsonl",
        "exports/costs.csv.gz": None,
        "old/interactions.jsonl": "interactions.jsonl",
        "ratings.xlsx": "ratings.jsonl",
    }
    connection = duckdb.connect()
    connection.execute("create table hcat_deletions (id_kind varchar, hashed_id varchar)")
    assert land(connection, str(tmp_path), inputs({}), "main", None).read_all().num_rows == 1
    said = capsys.readouterr().err
    assert said.startswith("hcat: not read: calls/notes.md, calls/part-0.ndjson (did you mean calls/part-0.jsonl?), ")
    assert said.count("\n") == 1


def test_links_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    folder = tmp_path / "logs" / "interactions"
    folder.mkdir(parents=True)
    write_lines(folder / "a.jsonl", ANSWERED)
    (folder / "loop").symlink_to(tmp_path / "logs")
    (folder / "again").symlink_to(folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write_lines(elsewhere / "b.jsonl", ANSWERED)
    (folder / "linked").symlink_to(elsewhere)
    assert [row["source_file"] for row in land_all(tmp_path / "logs")] == [
        "interactions/a.jsonl",
        "interactions/linked/b.jsonl",
    ]


def test_a_partition_gives_the_fields_that_its_writer_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "calls" / "application_version=2.3%2B1" / "language=en"
    folder.mkdir(parents=True)
    call = {"id": "i1", "question": "What?", "answer": "5"}
    write_lines(folder / "part-0.jsonl", call, call | {"id": "i2", "language": "de"})
    parquet.write_table(pa.table({"id": ["i3"], "question": ["What?"], "answer": ["5"]}), folder / "part-1.parquet")
    rows = {row["interaction_id"]: row for row in land_all(tmp_path)}
    assert {row["application_version"] for row in rows.values()} == {"2.3+1"}
    assert [rows[name]["language"] for name in ("i1", "i2", "i3")] == ["en", "de", "en"]
    # a column that every record owes may stand in the folder alone
    ranked = tmp_path / "retrievals" / "rank=1"
    ranked.mkdir(parents=True)
    (ranked / "x.csv").write_text("interaction_id,text\ni1,Five.\n")
    assert [row["rank"] for row in land_all(tmp_path, "retrievals")] == ["1"]


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


BROKEN = {
    "half a file": ("interactions_b.parquet", lambda path: path.write_bytes(b"PAR1 half"), "cannot be read: Parquet "),
    "compressed": ("interactions_b.jsonl", lambda path: path.write_bytes(b"\x1f\x8b\x08\x00rest"), "is compressed: "),
    "UTF-16": ("interactions_b.csv", lambda path: path.write_bytes("id,answer\n".encode("utf-16")), "is UTF-16: "),
    "array": ("calls_b.jsonl", lambda path: path.write_text('\ufeff[\n{"query": "What?"}]'), "holds one JSON array: "),
    "lines": ("interactions_b.jsonl", lambda path: path.write_text('{\n "a": 5\n}'), "holds JSON over several lines"),
    "no column": ("interactions_b.csv", lambda path: path.write_text("id,anwser\n1,5\n"), "has no column 'answer' "),
    "no answer": ("calls_b.jsonl", lambda path: path.write_text('{"query": "What?"}\n'), "brings no answer in any "),
    "folder": ("interactions_b.jsonl", lambda path: path.mkdir(), "is a folder without a file that is read"),
    "pipe": ("interactions_b.jsonl", make_pipe, "is neither a file nor a folder"),
    "nothing": ("interactions_b.jsonl", lambda path: path.symlink_to("/no/such/file"), "cannot be read: No such file"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_one_broken_file_among_many_is_a_reject_and_alone_it_stops_the_build(tmp_path: Path, kind: str) -> None:
    name, make, reason = BROKEN[kind]
    make(tmp_path / name)
    assert only_problem(land_all(tmp_path)).startswith(f"{name} {reason}")
    write_lines(tmp_path / "interactions_a.jsonl", ANSWERED)
    rows = {row["source_file"]: row for row in land_all(tmp_path)}
    assert rows["interactions_a.jsonl"]["interaction_id"] == "i1"
    broken = rows[name]
    assert (broken["source_row"], broken["is_file_problem"], broken["source_file_hash"]) == (0, False, "")
    assert broken["read_error"].startswith(f"{name} {reason}")
    # once for all entities of the file, whatever reads them
    for entity in ENTITIES:
        assert entity == "interactions" or land_all(tmp_path, entity) == []
    at_once = [row for entity, batch in read_folder(tmp_path) for row in batch.to_pylist()]
    assert sorted(at_once, key=str) == sorted(rows.values(), key=str)


def test_a_parquet_file_that_breaks_in_the_middle_lands_no_row(tmp_path: Path) -> None:
    path = tmp_path / "interactions_b.parquet"
    table = pa.table(
        {"interaction_id": [f"i{n}" for n in range(20_000)], "answer": [f"answer {n}" for n in range(20_000)]}
    )
    parquet.write_table(table, path, row_group_size=5_000, compression="zstd")
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2_000] = b"\xff" * 2_000
    path.write_bytes(bytes(content))
    write_lines(tmp_path / "interactions_a.jsonl", ANSWERED)
    rows = land_all(tmp_path)
    assert [(row["source_file"], row["source_row"]) for row in rows] == [
        ("interactions_a.jsonl", 1),
        ("interactions_b.parquet", 0),
    ]


def test_a_first_line_that_is_a_record_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "interactions.csv").write_text("kim:x:1000:kim@example.com\nmore:x:2:y\n")
    assert only_problem(land_all(tmp_path)).endswith("(found: 1 that is no name)")


def test_a_key_that_stands_twice_is_a_note_on_the_record(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "interactions.jsonl",
        b'{"interaction_id": "i1", "answer": "5", "answer": "6"}',
        b'{"interaction_id": "i2", "answer": "5", "tags": {"a\\ud800": 1, "a\\ud800": 2}}',
        {"interaction_id": "i3", "answer": "7"},
    )
    note = "a JSON key stands twice in one object, and the last value counts: "
    rows = land_all(tmp_path)
    assert [(row["answer"], row["read_error"], row["read_note"]) for row in rows] == [
        ("6", None, f"{note}answer"),
        ("5", None, f"{note}a "),
        ("7", None, None),
    ]


NO_FILE = "has no file interactions.*, calls.* or spans.*"
FORMATS = "(.parquet, .jsonl, .csv, .tsv; found: "


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (None, "does not exist"),
        ([], f"{NO_FILE} {FORMATS}nothing that could be read)"),
        (["report.csv"], f"{NO_FILE} {FORMATS}report.csv)"),
        (["Calls.JSONL"], f"{NO_FILE} {FORMATS}Calls.JSONL; did you mean calls.jsonl?)"),
    ],
)
def test_a_folder_without_interactions_is_a_problem_that_names_what_is_there(
    tmp_path: Path, names: list[str] | None, problem: str
) -> None:
    folder = tmp_path / "logs"
    if names is not None:
        folder.mkdir()
        for name in names:
            (folder / name).write_text("x")
    assert only_problem(land_all(folder)).partition("; run ")[0] == f"folder '{folder}' (HCAT_RAW_LOGS) {problem}"


def test_a_file_in_place_of_the_folder_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text("{}")
    problem = f"'{path}' (HCAT_RAW_LOGS) is a file: name the folder that holds it, or run `hcat import calls "
    assert only_problem(land_all(path)).startswith(problem)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("interactions.csv", "INTERACTION_ID,Query Text,ANSWER\ni1,What?,5\n"),
        ("interactions.csv", "interaction_id;query_text;answer\ni1;What?;5\n"),
        ("interactions.tsv", "Interaction-ID\tquestion\tResponse\ni1\tWhat?\t5\n"),
        ("interactions.jsonl", '{"Interaction_Id": "i1", "userInput": "What?", "ANSWER": "5"}\n'),
    ],
)
def test_headers_in_other_letters_and_separators_are_read(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    (row,) = land_all(tmp_path)
    assert (row["interaction_id"], row["query_text"], row["answer"]) == ("i1", "What?", "5")


def test_a_line_that_is_too_long_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LONGEST_LINE", 2_000_000)
    record = {"interaction_id": "i1", "answer": "5"}
    path = tmp_path / "interactions.jsonl"
    for last in ([], [record]):
        write_lines(path, record, record | {"answer": "x" * 5_000_000}, *last)
        rows = land_all(tmp_path)
        assert [row["read_error"] is None for row in rows] == [True, False, *[True for _ in last]]
        assert rows[1]["read_error"] == "a line of 5.0 MB, at most 2.0 MB are read: cut its texts"
        assert len(rows[1]["unread_record"]) == 1000


def test_a_set_of_beir_is_read(tmp_path: Path) -> None:
    write_lines(tmp_path / "corpus.jsonl", {"_id": "d1", "title": "Fees", "text": "The fee is 5.", "metadata": {}})
    write_lines(tmp_path / "queries.jsonl", {"_id": "q1", "text": "What is the fee?", "metadata": {}})
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\n")
    (chunk,) = land_all(tmp_path, "chunks")
    assert (chunk["chunk_id"], chunk["document_id"], chunk["text"]) == ("d1", "d1", "The fee is 5.")
    (document,) = land_all(tmp_path, "documents")
    assert (document["document_id"], document["title"]) == ("d1", "Fees")
    (query,) = land_all(tmp_path, "queries")
    assert (query["query_id"], query["text"]) == ("q1", "What is the fee?")
    (judgement,) = land_all(tmp_path, "relevance_judgements")
    assert (judgement["query_id"], judgement["chunk_id"], judgement["grade"]) == ("q1", "d1", "2")


def test_a_set_of_autorag_is_read(tmp_path: Path) -> None:
    corpus = {"doc_id": ["p1", "p2"], "contents": ["The fee is 5.", "The rate is 2."], "path": ["a.pdf", None]}
    parquet.write_table(
        pa.table(corpus | {"metadata": [{"next_id": "p2"}, {"next_id": None}]}), tmp_path / "corpus.parquet"
    )
    questions = {
        "qid": ["q1"],
        "query": ["What is the fee?"],
        "retrieval_gt": [[["p1"], ["p2", "p1"]]],
        "generation_gt": [["5 euros", "5"]],
    }
    parquet.write_table(pa.table(questions), tmp_path / "qa.parquet")
    assert [(row["chunk_id"], row["document_id"], row["text"]) for row in land_all(tmp_path, "chunks")] == [
        ("p1", "a.pdf", "The fee is 5."),
        ("p2", "p2", "The rate is 2."),
    ]
    assert [row["document_id"] for row in land_all(tmp_path, "documents")] == ["a.pdf", "p2"]
    (query,) = land_all(tmp_path, "queries")
    assert (query["query_id"], query["text"], query["reference_answer"]) == ("q1", "What is the fee?", "5 euros")
    judged = land_all(tmp_path, "relevance_judgements")
    assert [(row["query_id"], row["chunk_id"], row["grade"]) for row in judged] == [
        ("q1", "p1", "1"),
        ("q1", "p2", "1"),
    ]


def test_a_column_that_is_there_twice_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "interactions.csv").write_text("interaction_id,answer,answer\ni1,a,b\n")
    assert only_problem(land_all(tmp_path)) == "interactions.csv has the column 'answer' twice"


def test_a_file_that_is_landed_is_not_read_again(tmp_path: Path) -> None:
    write_lines(tmp_path / "interactions.jsonl", {"interaction_id": "i1", "answer": "5"})
    (tmp_path / "interactions_broken.parquet").write_bytes(b"no parquet")
    landed = {(path.name, hash_file(path)) for path in tmp_path.iterdir()}
    assert list(read_entity("interactions", tmp_path, landed)) == []


def test_a_file_that_grew_keeps_the_ids_of_its_records(tmp_path: Path) -> None:
    path = tmp_path / "interactions.jsonl"
    first = {"interaction_id": "i1", "answer": "5"}
    write_lines(path, first, first)
    before = [row["record_id"] for row in land_all(tmp_path)]
    write_lines(path, {"interaction_id": "i0", "answer": "new"}, first, first, first)
    after = [row["record_id"] for row in land_all(tmp_path)]
    assert len(set(after)) == 4
    assert after[1:3] == before


def test_records_of_the_same_content_share_their_hash_across_files_and_formats(tmp_path: Path) -> None:
    tags = {"topic": "fees", "channel": "app"}
    write_lines(
        tmp_path / "interactions.jsonl", {"interaction_id": "i1", "answer": "5", "tags": tags, "sample_index": 0}
    )
    with (tmp_path / "interactions.csv").open("w", newline="") as handle:
        csv.writer(handle).writerows(
            [["tags", "answer", "sample_index", "interaction_id"], [json.dumps(tags, indent=2), "5", "0", "i1"]]
        )
    kinds = pa.map_(pa.string(), pa.string())
    parquet.write_table(
        pa.table(
            {
                "interaction_id": ["i1"],
                "answer": ["5"],
                "sample_index": [0],
                "tags": pa.array([list(tags.items())], kinds),
            }
        ),
        tmp_path / "interactions.parquet",
    )
    rows = land_all(tmp_path)
    assert len({row["record_hash"] for row in rows}) == 1
    assert len({row["record_id"] for row in rows}) == 3


@any_folder
@given(lines=st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b" ")), max_size=8))
def test_any_bytes_land_as_one_row_per_line(tmp_path: Path, lines: list[bytes]) -> None:
    (tmp_path / "interactions.jsonl").write_bytes(b"\n".join([b'{"interaction_id": "i1", "answer": "5"}', *lines]))
    rows = land_all(tmp_path)
    expected = [1, *[number for number, line in enumerate(lines, start=2) if line.strip()]]
    assert [row["source_row"] for row in rows] == expected
    assert all(row["unread_record"] is not None for row in rows if row["read_error"])


@any_folder
@given(content=st.binary(max_size=200))
def test_any_bytes_behind_a_csv_header_lose_no_text(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "interactions.csv").write_bytes(b"interaction_id,answer\n" + content)
    rows = land_all(tmp_path)
    landed = "".join(
        (row["unread_record"] or "") + (row["interaction_id"] or "") + (row["answer"] or "") for row in rows
    )
    for letter in b"abcdefghijklmnopqrstuvwxyz0123456789":
        assert landed.count(chr(letter)) == content.count(letter), chr(letter)
    assert not any(row["is_file_problem"] for row in rows)


def test_a_megabyte_field_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    text = "é" * 2_000_000
    (tmp_path / "interactions.csv").write_text(f"\ufeffinteraction_id,answer\ni1,{text}\n", encoding="utf-8")
    (tmp_path / "interactions.jsonl").write_text('\ufeff{"interaction_id": "i2", "answer": "5"}\n', encoding="utf-8")
    rows = land_all(tmp_path)
    assert [(row["interaction_id"], len(row["answer"])) for row in rows] == [("i1", 2_000_000), ("i2", 1)]


def test_large_texts_are_landed_in_small_batches(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "interactions.jsonl", *[{"interaction_id": f"i{n}", "answer": "x" * 6_000_000} for n in range(6)]
    )
    sizes = [batch.num_rows for batch in read_entity("interactions", tmp_path)]
    assert sum(sizes) == 6
    assert max(sizes) <= 3


def test_control_characters_hidden_in_json_are_replaced(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "interactions.jsonl",
        {"interaction_id": "i1", "answer": "a\x00b", "tags": {"topic": "fe\x00es", "\ud800": ["\x1b"]}},
        {"interaction_id": "i2", "answer": "b", "tags": '{"topic": "fe\\u0000es"}'},
        {"interaction_id": "i3", "answer": "c", "tags": "no JSON"},
    )
    rows = land_all(tmp_path)
    assert rows[0]["answer"] == "a b"
    assert rows[0]["is_cleaned"]
    assert json.loads(rows[0]["tags"]) == {"topic": "fe es", " ": [" "]}
    assert json.loads(rows[1]["tags"]) == {"topic": "fe es"}
    assert rows[2]["tags"] == "no JSON"


def test_values_that_python_cannot_hold_cost_only_their_row(tmp_path: Path) -> None:
    answers = pa.array([b"a", b"caf\xe9", b"c"], pa.binary())
    table = pa.table(
        {
            "interaction_id": ["i1", "i2", "i3"],
            "answer": pa.Array.from_buffers(pa.string(), 3, answers.buffers()),
            "asked_at": pa.array([0, 0, 400_000_000_000], pa.timestamp("s")),
        }
    )
    parquet.write_table(table, tmp_path / "interactions.parquet")
    rows = land_all(tmp_path)
    assert [row["interaction_id"] for row in rows] == ["i1", None, None]
    assert rows[1]["read_error"] == "invalid UTF-8 in answer"
    assert "caf\ufffd" in rows[1]["unread_record"]
    assert rows[2]["read_error"].startswith("unreadable value in asked_at")
    assert '"i3"' in rows[2]["unread_record"]


def inputs(relations: dict[str, str]) -> duckdb.DuckDBPyRelation:
    """Return what the model raw_relations holds."""
    schema = pa.schema([(name, pa.string()) for name in ("entity", "relation_name", "relation")])
    rows = [{"entity": entity, "relation_name": name, "relation": name} for entity, name in relations.items()]
    return duckdb.from_arrow(pa.Table.from_pylist(rows, schema=schema))


def land_tables(
    connection: Any, raw_relations: dict[str, str], landed: str | None = None, **hashed: str
) -> list[dict[str, Any]]:
    """Land tables, with a tombstone per kind of id."""
    connection.execute("create or replace table hcat_deletions (id_kind varchar, hashed_id varchar)")
    for kind, found in hashed.items():
        connection.execute("insert into hcat_deletions values (?, ?)", [kind, found])
    rows = land(connection, "no folder", inputs(raw_relations), "main", landed).read_all().to_pylist()
    return [row for row in rows if row["entity"] == "interactions"]


def test_a_warehouse_table_is_landed_and_landed_once() -> None:
    connection = duckdb.connect()
    connection.execute(
        "create table logs as select 'i' || i as interaction_id, i as answer, map {'topic': 'fees'} as tags,"
        " timestamptz '2026-05-01 10:00:00+02' as asked_at from range(3) as numbers(i)"
    )
    connection.execute("set TimeZone = 'UTC'")
    rows = land_tables(connection, {"interactions": "logs"})
    assert [(row["interaction_id"], row["answer"], row["tags"]) for row in rows] == [
        (f"i{number}", str(number), '{"topic": "fees"}') for number in range(3)
    ]
    assert {(row["asked_at"], row["source_file"], row["landing_number"]) for row in rows} == {
        ("2026-05-01T08:00:00+00:00", "logs", 1)
    }
    connection.register("arrow_rows", pa.Table.from_pylist(rows, schema=RECORDS))
    connection.execute("create table landed as select * from arrow_rows")
    connection.execute("insert into logs select 'new', 9, null, null")
    (row,) = land_tables(connection, {"interactions": "logs"}, "landed")
    assert (row["interaction_id"], row["landing_number"]) == ("new", 2)


@pytest.mark.parametrize(
    ("raw_relations", "message"),
    [
        (
            {"interactions": "raw.logs"},
            "hcat_raw_relations: interactions is 'raw.logs', which is no table of the warehouse",
        ),
        (
            {"interactions": "(select 1)"},
            "hcat_raw_relations: interactions is '(select 1)', which is no table of the warehouse",
        ),
        ({"interactions": "half"}, "warehouse table 'half' has no column 'answer' (found: interaction_id)"),
        ({"interaction": "half"}, "hcat_raw_relations names 'interaction', which is none of interactions, retrievals,"),
    ],
)
def test_wrong_warehouse_tables_are_problems_in_one_line(raw_relations: dict[str, str], message: str) -> None:
    connection = duckdb.connect()
    connection.execute("create view half as select 'i1' as interaction_id")
    assert only_problem(land_tables(connection, raw_relations)).startswith(message)


def test_a_deleted_record_lands_without_its_text() -> None:
    connection = duckdb.connect()
    connection.execute(
        "create table logs as select 'i' || i as interaction_id, i as answer from range(3) as numbers(i)"
    )
    first = land_tables(connection, {"interactions": "logs"})
    hashed = {"interaction": hash_id("i1"), "record": hash_id(first[2]["record_id"])}
    rows = land_tables(connection, {"interactions": "logs"}, **hashed)
    assert rows[0] == first[0]
    for row, before in zip(rows[1:], first[1:], strict=True):
        kept = {name: before[name] for name in LANDED_KEPT}
        assert row == dict.fromkeys(before) | kept | {"read_error": "deleted on request", "is_cleaned": False}


def test_what_is_said_beside_the_content_changes_no_hash(tmp_path: Path) -> None:
    rows = []
    for others in ({}, {"count_retrieved": 0}):
        write_lines(tmp_path / "interactions.jsonl", {"interaction_id": "a", "answer": "x"} | others)
        rows += land_all(tmp_path)
    assert [row["count_retrieved"] for row in rows] == [None, "0"]
    assert rows[0]["record_id"] == rows[1]["record_id"]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_nan_is_null_where_no_number_is_due_and_costs_no_record(tmp_path: Path, suffix: str) -> None:
    nan, infinity = float("nan"), float("inf")
    contexts = [{"text": "The fee is 5.", "score": nan}, {"text": "The rate is 2.", "score": infinity}]
    call = {"id": "c", "query": "What?", "answer": "5.", "ground_truth": nan, "turn": nan, "contexts": contexts}
    path = tmp_path / f"calls{suffix}"
    if suffix == ".jsonl":
        write_lines(path, call)
    else:
        parquet.write_table(pa.Table.from_pylist([call]), path)
    landed = {entity: land_all(tmp_path, entity) for entity in ("interactions", "retrievals", "queries")}
    assert [row["read_error"] for rows in landed.values() for row in rows] == [None] * 3
    assert [(row["text"], row["retrieval_score"]) for row in landed["retrievals"]] == [
        ("The fee is 5.", "nan"),
        ("The rate is 2.", "inf"),
    ]
    assert [row["turn_index"] for row in landed["interactions"]] == ["nan"]
    assert landed["queries"] == []
