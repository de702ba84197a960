"""The test set as a file: what stands in it, that its bytes stay the same, and that none is overwritten unasked."""

import json
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from alert_materials import Hcat
from schemas import make_schema

from hcat.collection.queries import read_queries
from hcat.engine.warehouse import WarehouseError
from hcat.landing.raw_contract import ENTITIES
from hcat.landing.reading import read_entity
from hcat.test_set.export import COLUMNS, write_test_set

HOSTILE = 'Say "no",\r\n\tor \\ and {{query}} \u2028 \U0001f642 =1+1;'

QUERIES: list[dict[str, Any]] = [
    {
        "query_id": "q2",
        "query_text": "What is the fee?",
        "reference_answer": "€5, a month.",
        "source_chunk_ids": ["c1", 'c"2'],
    },
    {
        "query_id": "q1",
        "query_text": HOSTILE,
        "query_type": "vague",
        "expected_behaviour": "refuse",
        "sampling_weight": None,
    },
    {"query_id": "q3", "query_text": "Who pays?", "query_type": None, "language": "en"},
]
VARIANTS: list[dict[str, Any]] = [
    {"query_id": "v2", "parent_query_id": "q2", "variant_type": "omission", "query_text": "What is the fe?"},
    {"query_id": "v1", "parent_query_id": "q1", "variant_type": "keyboard", "query_text": HOSTILE + "?"},
    {"query_id": "v3", "parent_query_id": "q3", "variant_type": "negation", "variant_status": "no_place"},
]
DEFAULTS: dict[str, Any] = {
    "reference_answer": None,
    "query_type": "simple_factual",
    "difficulty": "easy",
    "answer_type": None,
    "expected_behaviour": "answer",
    "language": None,
    "source_chunk_ids": None,
    "sampling_weight": 1.25,
}
SCHEMA = make_schema(
    string="query_id query_text reference_answer query_type difficulty answer_type expected_behaviour language",
    string_lists="source_chunk_ids",
    float64="sampling_weight",
)
VARIANT_SCHEMA = pa.schema([*SCHEMA, *make_schema(string="parent_query_id variant_type variant_status")])


def make_warehouse(folder: Path, queries=QUERIES, variants=VARIANTS, extra: dict[str, Any] | None = None) -> Path:
    """Write a warehouse with the two tables; ``extra`` are further text columns of the queries."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hcat.duckdb").unlink(missing_ok=True)
    schema = pa.schema([*SCHEMA, *[(name, pa.string()) for name in extra or {}]])
    tables = {
        "int_test_queries": pa.Table.from_pylist([DEFAULTS | (extra or {}) | row for row in queries], schema),
        "int_test_variants": pa.Table.from_pylist(
            [DEFAULTS | {"variant_status": "made"} | row for row in variants], VARIANT_SCHEMA
        ),
    }
    with duckdb.connect(str(folder / "hcat.duckdb")) as connection:
        for name, table in tables.items():
            connection.register("arrow_rows", table)
            connection.execute(f"create table {name} as select * from arrow_rows")
            connection.unregister("arrow_rows")
    return folder


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().decode("utf-8").split("\n") if line]


def test_variants_stand_beside_their_parents(tmp_path: Path) -> None:
    warehouse = make_warehouse(tmp_path / "warehouse")
    written = write_test_set(warehouse)
    assert written.path == warehouse / "test_set" / "queries.jsonl"
    rows = read_jsonl(written.path)
    assert [row["query_id"] for row in rows] == ["q1", "v1", "q2", "v2", "q3"]
    assert [row["source_group"] for row in rows] == ["q1", "q1", "q2", "q2", "q3"]
    assert [row["parent_query_id"] for row in rows] == [None, "q1", None, "q2", None]
    assert [row["variant_type"] for row in rows] == ["original", "keyboard", "original", "omission", "original"]
    assert all(tuple(row) == COLUMNS for row in rows)
    assert rows[0]["text"] == HOSTILE
    assert rows[2]["source_chunk_ids"] == ["c1", 'c"2']
    assert [row["sampling_weight"] for row in rows] == [None, 1.25, 1.25, 1.25, 1.25]
    described = dict(written.lines)
    assert described["variants"] == "2: 1 keyboard, 1 omission"
    assert described["queries"] == "3: 1 no type, 1 simple_factual, 1 vague"
    assert described["not made"] == "1 variants: 1 no_place"
    # groups follow from the parents; tags and weights of sentences are the user's own
    own = {"query_group", "tags", "query_sentence_weights", "reference_sentence_weights"}
    assert set(COLUMNS) - {"language"} == set(ENTITIES["queries"].columns) - own


def test_what_is_written_is_what_lands_and_what_is_asked(tmp_path: Path) -> None:
    warehouse = make_warehouse(tmp_path / "warehouse")
    written = write_test_set(warehouse, tmp_path / "raw" / "queries.jsonl")
    asked = read_queries(written.path)
    assert {query.query_id: query.text for query in asked} == {
        row["query_id"]: row["query_text"] for row in (*QUERIES, *VARIANTS) if row.get("query_text")
    }
    carried = {query.query_id: dict(query.carried) for query in asked}
    assert carried["q3"] == {"language": "en", "population": "test_set"}
    assert {carried[row["query_id"]]["population"] for row in VARIANTS if row.get("query_text")} == {"variant"}
    landed = {
        row["query_id"]: row for batch in read_entity("queries", written.path.parent) for row in batch.to_pylist()
    }
    assert len(landed) == len(asked)
    assert all(row["read_error"] is None for row in landed.values())
    assert json.loads(landed["q2"]["source_chunk_ids"]) == ["c1", 'c"2']
    assert float(landed["v2"]["sampling_weight"]) == 1.25
    assert landed["v1"]["parent_query_id"] == "q1"
    assert not landed["q1"]["sampling_weight"]


def test_records_that_could_not_be_read_are_counted(tmp_path: Path) -> None:
    warehouse = make_warehouse(tmp_path / "warehouse")
    assert "rejected" not in dict(write_test_set(warehouse).lines)
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("create table base_documents as select 'rejected' as record_status")
        connection.execute("create table base_chunks as select 'staged' as record_status")
    written = write_test_set(warehouse)
    assert dict(written.lines)["rejected"] == "1 records: 1 documents"


@pytest.mark.parametrize(
    ("strata", "said"),
    [
        (
            [(60, 60), (8, 8)],
            "all 68 chunks taken: nothing was drawn, every weight is 1, and there is no sampling error",
        ),
        ([(1200, 40), (8, 8)], "48 of 1,208 chunks, from 2 strata; all chunks taken in 1 of these"),
        ([(1200, 40), (80, 8)], "48 of 1,280 chunks, from 2 strata"),
    ],
)
def test_a_small_corpus_is_said_to_be_taken_whole(tmp_path: Path, strata: list[tuple[int, int]], said: str) -> None:
    warehouse = make_warehouse(tmp_path / "warehouse")
    assert "sampling" not in dict(write_test_set(warehouse).lines)
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("create table fct_sampling_strata (count_population bigint, count_sampled bigint)")
        connection.executemany("insert into fct_sampling_strata values (?, ?)", strata)
    assert dict(write_test_set(warehouse).lines)["sampling"] == said


def test_bytes_are_the_same_whatever_the_order_of_rows(tmp_path: Path) -> None:
    first = write_test_set(make_warehouse(tmp_path / "one"))
    shuffled = make_warehouse(tmp_path / "two", Random(1).sample(QUERIES, 3), Random(2).sample(VARIANTS, 3))
    second = write_test_set(shuffled)
    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.sha256 == second.sha256
    assert dict(second.lines)["sha256"] == first.sha256


def test_another_test_set_is_not_overwritten_unasked(tmp_path: Path) -> None:
    warehouse = make_warehouse(tmp_path / "warehouse")
    first = write_test_set(warehouse)
    assert first.is_new
    again = write_test_set(warehouse)
    assert not again.is_new
    assert dict(again.lines)["test set"].endswith("queries.jsonl, as it was")
    before = first.path.read_bytes()
    make_warehouse(warehouse, QUERIES[:1], [])
    with pytest.raises(
        ValueError, match=r"must hold this test set or nothing .*, got another one: .* or use --replace"
    ):
        write_test_set(warehouse)
    assert first.path.read_bytes() == before
    replaced = write_test_set(warehouse, is_replacing=True)
    assert replaced.is_new
    assert [row["query_id"] for row in read_jsonl(first.path)] == ["q2"]
    assert [path.name for path in first.path.parent.iterdir()] == ["queries.jsonl"]


def test_hand_written_sets_keep_their_own_families(tmp_path: Path) -> None:
    queries = [QUERIES[0], QUERIES[2] | {"parent_query_id": "q2", "variant_type": "paraphrase", "source_group": "fees"}]
    extra = {"parent_query_id": None, "variant_type": None, "source_group": "fees"}
    warehouse = make_warehouse(tmp_path / "warehouse", queries, VARIANTS[:1] + VARIANTS[2:], extra)
    rows = {row["query_id"]: row for row in read_jsonl(write_test_set(warehouse).path)}
    assert rows["q3"]["parent_query_id"] == "q2"
    assert rows["q3"]["variant_type"] == "paraphrase"
    assert {row["source_group"] for row in rows.values()} == {"fees"}


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="no warehouse at"):
        write_test_set(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"a test set is a file \*\.jsonl, got"):
        write_test_set(tmp_path, tmp_path / "q.csv")
    warehouse = make_warehouse(tmp_path / "empty", [], [])
    with pytest.raises(ValueError, match=r"must hold queries, got none: `dbt build --select \+tag:test_set"):
        write_test_set(warehouse)
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("drop table int_test_variants")
    with pytest.raises(ValueError, match="got no int_test_variants"):
        write_test_set(warehouse)


def test_command_line(tmp_path: Path, hcat: Hcat) -> None:
    path = tmp_path / "answers" / "queries.jsonl"
    command = ("test-set", "--warehouse", make_warehouse(tmp_path / "warehouse"), "--output", path)
    printed = hcat(*command)
    assert "2: 1 keyboard, 1 omission" in printed
    assert f"hcat collect <endpoint.yml> --queries {path} --output {path.parent}" in printed
    make_warehouse(tmp_path / "warehouse", QUERIES, [])
    assert "--replace" in hcat(*command, code=2)
    hcat(*command, "--replace")
