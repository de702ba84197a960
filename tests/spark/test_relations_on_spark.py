"""The Spark side of hcat.engine.relations: the same rows as DuckDB, each once, also when a Python worker dies."""

import os
import signal

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet

from hcat.encoders.embedding import EMBEDDED_SCHEMA, _embed_slice, embed_pending
from hcat.encoders.identities import ModelIdentity, resolve_encoder
from hcat.engine.relations import (
    Lookup,
    count_rows,
    map_batches,
    map_batches_with_lookup,
    order_by,
    read_batches,
    read_rows,
    select_pending,
    write_parquet,
)
from hcat.landing.reading import land

NUMBERS = pa.schema([("number", pa.int64())])
TEXTS = pa.table(
    {
        "text_id": [f"t{number:03d}" for number in range(200)],
        "encoder_key": ["key"] * 200,
        "encoded_text": [f"text {number}" for number in range(200)],
        "count_characters": pa.array([6] * 200, pa.int32()),
    }
)


def identity() -> ModelIdentity:
    return resolve_encoder("hashing:8", "cpu")


def as_set(table: pa.Table) -> set:
    return {
        tuple(tuple(value) if isinstance(value, list) else value for value in row.values()) for row in table.to_pylist()
    }


def test_embeddings_are_equal_on_both_engines(spark, tmp_path):
    there = read_rows(embed_pending(spark.createDataFrame(TEXTS), identity(), str(tmp_path)))
    with duckdb.connect() as session:
        here = embed_pending(session.from_arrow(TEXTS), identity(), str(tmp_path)).read_all()
    assert there.num_rows == 200
    assert as_set(there) == as_set(here)


def test_a_worker_that_is_killed_loses_nothing_and_doubles_nothing(spark, tmp_path):
    encoder, mark = identity(), str(tmp_path / "was_killed")

    def embed(batch):
        if "t150" in batch.column("text_id").to_pylist() and not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return _embed_slice(batch, encoder)()

    work = spark.createDataFrame(TEXTS).repartition(4)
    map_batches(work, embed, EMBEDDED_SCHEMA, 16).write.mode("overwrite").saveAsTable("hcat.killed")
    assert os.path.exists(mark), "no worker was killed"
    assert sorted(row.text_id for row in spark.table("hcat.killed").collect()) == TEXTS["text_id"].to_pylist()


def test_pending_rows_are_those_whose_whole_key_is_not_done(spark):
    work = spark.createDataFrame([(1, "a"), (1, "b"), (2, "a")], "id int, revision string")
    spark.createDataFrame([(1, "a")], "id int, revision string").write.mode("overwrite").saveAsTable("hcat.done")
    pending = order_by(select_pending(work, "hcat.done", ["revision", "id"]), "id, revision")
    assert pending.columns == ["id", "revision"]
    assert [tuple(row) for row in pending.collect()] == [(1, "b"), (2, "a")]
    assert count_rows(select_pending(work, None, ["id"])) == 3
    assert sum(batch.num_rows for batch in read_batches(work, 2)) == 3


def test_a_lookup_brings_each_batch_the_rows_that_it_names(spark):
    schema = pa.schema([("id", pa.int64()), ("total", pa.int64())])

    def add(batch, found):
        assert found["key"].to_pylist() == sorted(set(found["key"].to_pylist()))
        values = dict(zip(found["key"].to_pylist(), found["value"].to_pylist(), strict=True))
        totals = [sum(values[key] for key in keys or ()) for keys in batch["keys"].to_pylist()]
        return pa.RecordBatch.from_pydict({"id": batch["id"].to_pylist(), "total": totals}, schema=schema)

    keys = [[f"k{number}", f"k{number + 1}"] for number in range(99)] + [None]
    work = pa.table({"id": range(100), "keys": pa.array(keys, pa.list_(pa.string()))})
    rows = pa.table({"key": [f"k{number}" for number in range(150)], "value": range(150)})
    expected = {(number, 2 * number + 1) for number in range(99)} | {(99, 0)}
    for batch_rows in (7, 1000):
        lookup = Lookup(spark.createDataFrame(rows), "key", ["keys"])
        result = map_batches_with_lookup(spark, spark.createDataFrame(work), lookup, add, schema, batch_rows)
        assert {tuple(row) for row in result.collect()} == expected


def test_files_are_landed_by_tasks_and_only_once(spark, tmp_path):
    for number in (1, 2):
        lines = "".join(f'{{"chunk_id": "c{number}{row}", "text": "it\'s {row}"}}\n' for row in range(3))
        (tmp_path / f"chunks_{number}.jsonl").write_text(lines)
    (tmp_path / "interactions.jsonl").write_text('{"interaction_id": "i1", "answer": "5"}\n')
    inputs = spark.createDataFrame([], "entity string, relation_name string, relation string")
    land(spark, str(tmp_path), inputs, "hcat", None).write.mode("overwrite").saveAsTable("hcat.landed")
    chunks = spark.table("hcat.landed").where("entity = 'chunks'").collect()
    assert sorted(row.chunk_id for row in chunks)[:2] == ["c10", "c11"]
    assert land(spark, str(tmp_path), inputs, "hcat", "hcat.landed").count() == 0
    (tmp_path / "chunks_3.jsonl").write_text('{"chunk_id": "new", "text": "more"}\n')
    added = land(spark, str(tmp_path), inputs, "hcat", "hcat.landed").collect()
    assert [(row.chunk_id, row.landing_number) for row in added] == [("new", 2)]


def test_rows_come_to_the_driver_a_task_at_a_time_and_in_order(spark):
    rows = [(number, None if number % 7 == 0 else f"text {number}", [number / 2]) for number in range(5_000)]
    relation = spark.createDataFrame(rows, "number int, text string, halves array<double>").repartition(5)
    ordered = order_by(relation, "number")
    batches = list(read_batches(ordered, 512))
    assert {batch.num_rows for batch in batches[:-1]} == {512}
    assert pa.Table.from_batches(batches).equals(read_rows(ordered))
    assert pa.Table.from_batches(batches).to_pylist() == [
        dict(zip(("number", "text", "halves"), row, strict=True)) for row in rows
    ]
    assert list(read_batches(relation.where("number < 0"), 512)) == []


def test_an_empty_table_is_published_with_its_columns(spark, tmp_path):
    relation = spark.createDataFrame([], "number int not null, day date, asked_at timestamp_ntz, texts array<string>")
    assert write_parquet(relation, tmp_path / "empty.parquet") == 0
    with duckdb.connect() as session:
        described = session.read_parquet(str(tmp_path / "empty.parquet"))
        assert [str(kind) for kind in described.types] == ["INTEGER", "DATE", "TIMESTAMP", "VARCHAR[]"]


def test_a_table_is_published_as_one_sorted_file(spark, tmp_path):
    relation = spark.createDataFrame([(number * 7 % 1_000,) for number in range(1_000)], "number int").repartition(3)
    assert write_parquet(relation, tmp_path / "numbers.parquet", "number") == 1_000
    assert parquet.read_table(tmp_path / "numbers.parquet")["number"].to_pylist() == list(range(1_000))
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.parquet"]
