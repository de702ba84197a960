"""The engine contract on a real DuckDB: streams, anti-joins, lookups that fit and lookups that do not."""

from functools import partial
from itertools import groupby, pairwise

import duckdb
import pyarrow as pa
import pytest

from hcat.engine import relations
from hcat.engine.relations import (
    Lookup,
    _rows_of,
    count_rows,
    map_batches,
    map_batches_with_lookup,
    order_by,
    read_batches,
    read_one,
    read_parts,
    select_pending,
    stream_pending,
)

NUMBERS = pa.schema([("number", pa.int64())])


@pytest.fixture
def session():
    connection = duckdb.connect()
    connection.execute("create table numbers as select range as number from range(10000)")
    yield connection
    connection.close()


def test_map_batches_streams_every_row_once_whatever_the_border(session):
    for batch_rows in (1, 7, 2048, 50_000):
        seen: list[int] = []

        def double(batch: pa.RecordBatch, seen: list[int] = seen) -> pa.RecordBatch:
            seen.append(batch.num_rows)
            return pa.RecordBatch.from_pydict({"number": [2 * v for v in batch["number"].to_pylist()]}, schema=NUMBERS)

        relation = session.table("numbers") if batch_rows > 1 else session.sql("select * from numbers limit 50")
        result = map_batches(relation, double, NUMBERS, batch_rows).read_all()["number"].to_pylist()
        assert sorted(result) == [2 * value for value in range(len(result))]
        assert max(seen) <= batch_rows


def test_pending_is_an_anti_join_on_the_whole_key(session):
    session.execute("create table work as select * from (values (1, 'a'), (1, 'b'), (2, 'a')) as t(id, revision)")
    session.execute("create table done as select 1 as id, 'a' as revision")
    pending = order_by(select_pending(session.table("work"), "done", ["id", "revision"]), "id, revision")
    assert pending.fetchall() == [(1, "b"), (2, "a")]
    assert len(select_pending(session.table("work"), None, ["id"]).fetchall()) == 3


def test_landing_skips_rows_that_are_there(session):
    session.execute("create table landed as select 3::bigint as number")
    part = partial(iter, [pa.RecordBatch.from_pydict({"number": [1, 3, 5]}, schema=NUMBERS)])
    streamed = read_parts(session, [part], NUMBERS)
    assert stream_pending(session, streamed, "landed", "number").read_all()["number"].to_pylist() == [1, 5]


@pytest.mark.parametrize(("budget", "part_rows"), [(1024, 300), (1024, 299), (0, 300), (0, 299)])
def test_lookup_gives_the_same_result_of_named_rows_of_all_and_by_batch(session, monkeypatch, budget, part_rows):
    monkeypatch.setattr(relations, "PART_ROWS", part_rows)
    monkeypatch.setattr(relations, "LOOKUP_MEBIBYTES", budget)
    session.execute("create table texts as select 'k' || range as key, range as value from range(500)")
    session.execute(
        "create table work as"
        " select range as id, ['k' || (range % 500), 'k' || (range * 7 % 500)] as keys from range(300)"
    )
    lookup = Lookup(session.table("texts"), "key", ["keys"])

    def add_up(batch: pa.RecordBatch, rows: pa.Table) -> pa.RecordBatch:
        values = dict(zip(rows["key"].to_pylist(), rows["value"].to_pylist(), strict=True))
        sums = [sum(values[key] for key in keys) for keys in batch["keys"].to_pylist()]
        return pa.RecordBatch.from_pydict({"number": sums}, schema=NUMBERS)

    reader = map_batches_with_lookup(session, order_by(session.table("work"), "id"), lookup, add_up, NUMBERS, 64)
    assert reader.read_all()["number"].to_pylist() == [number % 500 + number * 7 % 500 for number in range(300)]


def test_little_work_holds_no_other_row_of_a_lookup(session, monkeypatch):
    monkeypatch.setattr(relations, "LOOKUP_MEBIBYTES", 1)
    session.execute("create table texts as select 'k' || range as key, repeat('x', 1000) as value from range(50000)")
    session.execute("create table work as select 1 as id, ['k3', 'k7', null] as keys, null::varchar[] as other_keys")
    session.execute("insert into work select 2, null, ['k7', 'k9']")
    lookup = Lookup(session.table("texts"), "key", ["keys", "other_keys"])
    session.execute("insert into work select 3, ['k1', 'k2', 'k4', 'k5', 'k6', 'k8'], null")
    session.execute("create table done as select 3 as id")
    held = _rows_of(session, order_by(select_pending(session.table("work"), "done", ["id"]), "id"), lookup)
    # a budget of 1 MiB holds three of the 48 MiB, and nothing is read when they are taken
    session.execute("drop table texts")
    assert held(pa.array(["k1", "k3", "k9"]))["key"].to_pylist() == ["k3", "k9"]


def test_parts_hold_every_row_once_and_equal_keys_together(session, monkeypatch):
    monkeypatch.setattr(relations, "PART_ROWS", 1_000)
    session.execute("create table asked as select range as id, ['q' || (range % 7)] as query from range(5000)")
    work = order_by(session.table("asked"), "query, id", in_parts_by="query")
    assert count_rows(work) == 5_000
    rows = [row for batch in read_batches(work, 100) for row in batch.to_pylist()]
    assert sorted(row["id"] for row in rows) == list(range(5_000))
    runs = [query for query, _ in groupby(row["query"] for row in rows)]
    assert len(runs) == 7
    assert all(earlier["query"] != row["query"] or earlier["id"] < row["id"] for earlier, row in pairwise(rows))


def test_groups_hold_every_row_once_in_the_order_of_the_whole(session):
    session.execute(
        "create table scored as select range as id, ['b', 'a''b', 'ä', 'B'][range % 4 + 1] as metric from range(5000)"
    )
    whole, in_groups = (
        [row for batch in read_batches(work, 100) for row in batch.to_pylist()]
        for work in (
            order_by(session.table("scored"), "metric, id"),
            order_by(session.table("scored"), "metric, id", in_groups_of="metric"),
        )
    )
    assert in_groups == whole
    assert len(whole) == 5_000
    session.execute("insert into scored values (5001, null)")
    with pytest.raises(ValueError, match="metric must not be null"):
        list(read_batches(order_by(session.table("scored"), "metric, id", in_groups_of="metric")))


def test_one_row_is_one_row(session):
    assert read_one(session.sql("select 1 as a")) == {"a": 1}
    with pytest.raises(ValueError, match="one row, got 10000"):
        read_one(session.table("numbers"))
