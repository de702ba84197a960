"""Logs from a real server of PostgreSQL and marts back to it: each row once, whatever is killed in between."""

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import yaml
from alert_materials import run
from builds import REPOSITORY, Build, read_lines

from hcat.exchange import pulling, pushing
from hcat.exchange.connections import Warehouse, address_of
from hcat.exchange.settings import Stream
from hcat.landing.check import check_logs
from hcat.landing.reading import read_folder

ANSWERS = {"as": "interactions", "key": ["call_id"], "columns": {"answer": "reply", "query_text": "question"}}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server on a socket in a folder of its own; skipped where there is none."""
    pytest.importorskip("adbc_driver_postgresql", reason="the extra `warehouse` is not installed")
    # Debian keeps versions beside each other
    places = [*map(str, Path("/usr/lib/postgresql").glob("*/bin")), os.environ["PATH"]]
    program = shutil.which("pg_ctl", path=os.pathsep.join(places))
    names = [each.pw_name for each in pwd.getpwall() if each.pw_name in ("postgres", "nobody")]
    if program is None or (os.geteuid() == 0 and not names):
        pytest.skip("no server of PostgreSQL, or no account that may run it (Debian: apt-get install postgresql)")
    folder, account = tempfile.mkdtemp(prefix="hcat_"), max(names) if os.geteuid() == 0 else None
    if account:
        shutil.chown(folder, account)
    run = partial(subprocess.run, cwd=folder, user=account, check=True)
    control = [program, "-D", f"{folder}/data", "-s"]
    options = f"-c listen_addresses= -c fsync=off -k {folder}"
    run([*control, "initdb", "-o", "-U hcat --auth=trust -E UTF8 --no-sync"])
    run([*control, "start", "-w", "-l", f"{folder}/log", "-o", options])
    yield f"postgresql://hcat@/postgres?host={folder}"
    run([*control, "stop", "-m", "immediate"])
    shutil.rmtree(folder)


def run_sql(uri: str, *statements: str) -> list[dict[str, Any]]:
    """Run statements in one transaction, and return the rows of the last one."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        rows = cursor.fetch_arrow_table().to_pylist()
        connection.commit()
        return list(rows)


@pytest.fixture
def schema(server: str, request: pytest.FixtureRequest) -> str:
    """The name of a new schema with 200 calls."""
    name = f"s{abs(hash(request.node.name))}"
    calls = """'c' || i as call_id, 'What is fee ' || i || '?' as question, 'It is ' || i || '.' as reply,
        timestamptz '2026-05-04 09:12:00Z' as created_at, 'me' as mail from generate_series(1, 200) as i"""
    run_sql(server, f"create schema {name}", f"create table {name}.calls as select {calls}")
    return name


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command of hcat on settings, and returns what it printed."""

    def call(command: str, settings: dict[str, Any], *options: object, code: int = 0) -> str:
        (tmp_path / "warehouse.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        options = options or ("--raw-logs", tmp_path / "logs")
        assert run(monkeypatch, command, "--settings", tmp_path / "warehouse.yml", *options) == code
        return capsys.readouterr()[1 if code else 0]

    return call


def settings_of(uri: str, **streams: Any) -> dict[str, Any]:
    return {"connection": {"uri": uri}, "pull": streams}


def read_rows(logs: Path, stem: str) -> list[dict[str, Any]]:
    return [row for path in sorted(logs.glob(f"{stem}_*.parquet")) for row in parquet.read_table(path).to_pylist()]


def test_new_and_changed_rows_are_pulled_once(server: str, schema: str, call: Any, tmp_path: Path) -> None:
    query = f"select call_id, rank, 'Fee' as text from {schema}.calls, generate_series(1, 2) as rank"
    passages = {"as": "retrievals", "query": query, "key": ["call_id", "rank"]}
    settings = settings_of(server, calls=ANSWERS | {"table": f"{schema}.calls"}, passages=passages)
    assert "calls: 200 rows read, 200 new" in call("pull", settings)
    assert "passages: 400 rows read, 0 new" in call("pull", settings)
    run_sql(
        server,
        f"update {schema}.calls set reply = 'Other.' where call_id = 'c7'",
        f"update {schema}.calls set mail = 'read by nobody' where call_id = 'c8'",
        f"insert into {schema}.calls (call_id, question, reply) values ('new', 'Why?', 'Because.')",
    )
    assert "calls: 201 rows read, 2 new, 1 of them changed" in call("pull", settings)
    rows = read_rows(tmp_path / "logs", "interactions_calls")
    assert (len(rows), sum(row["call_id"] == "c7" for row in rows)) == (202, 2)
    # what hcat does not read stays where it is, and types are kept
    assert set(rows[0]) == {"call_id", "answer", "query_text", "created_at"}
    kept = parquet.read_schema(tmp_path / "logs" / "interactions_calls_000001.parquet")
    assert kept.field("created_at").type == pa.timestamp("us", tz="UTC")
    assert check_logs(tmp_path / "logs", REPOSITORY).inputs["context"] == 201
    settings["pull"]["calls"] = settings["pull"]["calls"] | {"mask": ["reply"]}
    assert "calls was pulled with other settings: delete interactions_calls_*" in call("pull", settings, code=2)


@pytest.mark.parametrize("scheme", ["postgresql", "redshift"])
def test_types_names_and_masks(server: str, scheme: str, call: Any, tmp_path: Path) -> None:
    table = f'"logs""; drop table ""kept{scheme}"'
    columns = f"""id uuid, "an""swer" {scheme}, "ANSWER" text, contexts jsonb, n numeric, list text[], took interval,
        f float8, other inet"""
    values = """'00000000-0000-0000-0000-000000000001', 'größer', 'x', '[{"text": "Ask x@example.com",
        "score": 0.123456789012}]', 1.50, '{a@example.com,NULL}', '1 day', 'NaN', '10.0.0.1'"""
    run_sql(server, f"create type {scheme} as enum ('glad', 'größer')", f"create table {table} ({columns})")
    run_sql(server, f"insert into {table} values ({values})")
    stream = {"as": "calls", "key": ["id"], "columns": {"answer": 'an"swer'}, "leave_out": ["ANSWER"]}
    stream |= {"query": f"select *, 'Why?' as question from {table} -- all", "mask": ["contexts", "list"]}
    settings = settings_of(server.replace("postgresql", scheme), c=stream)
    for count in (1, 0):
        assert f"1 rows read, {count} new" in call("pull", settings)
    (row,) = read_rows(tmp_path / "logs", "calls_c")
    assert json.loads(row["contexts"]) == [{"text": "Ask [email]", "score": 0.123456789012}]
    assert (row["id"][-2:], row["answer"], row["n"], str(row["f"])) == ("01", "größer", "1.50", "nan")
    assert (row["list"], row["took"], row["other"]) == (["[email]", None], "1 day", "10.0.0.1/32")
    assert check_logs(tmp_path / "logs", REPOSITORY).inputs["context"] == 1


class EndedError(BaseException):
    """What a process that ends does not catch."""


def test_a_pull_that_ends_at_any_step_loses_and_doubles_nothing(
    server: str, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, rename, steps_left = Warehouse.read, Path.replace, 0

    @contextmanager
    def read_slices(warehouse: Warehouse, query: str) -> Iterator[pa.RecordBatchReader]:
        with read(warehouse, query) as reader:
            table = reader.read_all().combine_chunks()
            yield pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=50))

    def replace(self: Path, target: Path) -> Path:
        # each name that a file takes is two steps: the process ends before it, or after it
        nonlocal steps_left
        for act in (lambda: None, lambda: rename(self, target)):
            act()
            steps_left -= 1
            if steps_left == 0:
                raise EndedError
        return target

    monkeypatch.setattr(Warehouse, "read", read_slices)
    wanted, target = {"calls": Stream.model_validate(ANSWERS | {"table": f"{schema}.calls"})}, address_of(server)
    # the settings, and three names for each of four batches
    for step in range(1, 1 + 2 * (1 + 3 * 4)):
        steps_left, logs = step, tmp_path / str(step)
        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", replace)
            with pytest.raises(EndedError):
                list(pulling.pull(wanted, target, logs, tmp_path))
        list(pulling.pull(wanted, target, logs, tmp_path))
        rows = [row["call_id"] for row in read_rows(logs, "interactions_calls")]
        assert sorted(rows) == sorted(f"c{number}" for number in range(1, 201))


def test_parquet_files_of_a_folder_are_pulled(call: Any, tmp_path: Path) -> None:
    for day, names in (("1", ["a", "b"]), ("2", ["c", "a"])):
        path = tmp_path / "unload" / f"day={day}" / "part-0.parquet"
        path.parent.mkdir(parents=True)
        parquet.write_table(pa.table({"id": names, "response": names, "mail": names}), path)
    stream = {"as": "interactions", "files": "unload/**/*.parquet", "key": ["id"]}
    for count in (3, 0):
        assert f"4 rows read, {count} new" in call("pull", {"pull": {"unloaded": stream}})
    rows = sorted(read_rows(tmp_path / "logs", "interactions_unloaded"), key=lambda row: row["id"])
    assert rows == [{"id": name, "response": name} for name in "abc"]


def hashes(logs: Path) -> Counter[str]:
    """Return how often each record of a folder lands, by the hash of its content."""
    return Counter(value for _, batch in read_folder(logs) for value in batch["record_hash"].to_pylist())


def test_logs_and_marts_go_round(
    server: str, small: Build, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes back from the server lands as what was built, and the marts there are those that are published."""
    columns = ("interaction_id", "query_text", "answer")
    rows = (tuple(map(row.get, columns)) for row in read_lines(small.raw / "interactions.jsonl"))
    values = ", ".join(map(repr, rows))
    run_sql(server, f"create table round as select * from (values {values}) as t ({', '.join(columns)})")
    settings = settings_of(server, all={"as": "interactions", "table": "round", "key": ["interaction_id"]})
    settings["push"] = {"schema": 'Ma"rts'}
    call("pull", settings)
    assert hashes(tmp_path / "logs") == hashes(small.raw)
    published = {path.stem: path for path in (small.warehouse / "published").glob("*.parquet")}
    push = ("push", settings, "--warehouse", small.warehouse)
    # a push that ends before its last table leaves nothing, and a table of somebody else stays
    with monkeypatch.context() as patched:
        patched.setattr(pushing, "_exchange", Mock(side_effect=[None, None, EndedError]))
        with pytest.raises(EndedError):
            call(*push)
    assert run_sql(server, "select * from pg_namespace where nspname = 'Ma\"rts'") == []
    run_sql(server, 'create schema "Ma""rts"', 'create table "Ma""rts".dim_runs (somebodys text)')
    assert 'Ma"rts.dim_runs is there and not from hcat' in call(*push, code=2)
    run_sql(server, 'drop table "Ma""rts".dim_runs')
    assert call(*push).count("pushed") == len(published)
    assert f"{len(published)} marts are as before" in call(*push)
    for name, path in published.items():
        found = run_sql(server, f'select * from "Ma""rts".{name}')
        assert Counter(map(repr, found)) == Counter(map(repr, parquet.read_table(path).to_pylist())), name
    assert "0 new" in call("pull", settings)
    # a table that is gone is sent again, and so is one whose content is another
    stale = """update "Ma""rts".hcat_pushed set sha256 = 'x' where mart = 'fct_verdicts'"""
    # a mart that is not published any more leaves the server, and a table of somebody else does not
    old = """insert into "Ma""rts".hcat_pushed values ('fct_old', 'x', 1, null), ('fct"; x', 'x', 1, null)"""
    tables = [f'create table "Ma""rts".{name} as select 1 as secret' for name in ("fct_old", "theirs")]
    run_sql(server, 'drop table "Ma""rts".dim_runs', stale, old, *tables)
    said = [line.split()[:2] for line in call(*push).splitlines()[:-1]]
    assert said == [["pushed", "dim_runs:"], ["pushed", "fct_verdicts:"], ["dropped", "fct_old:"]]
    left = run_sql(server, "select tablename from pg_tables where tablename in ('fct_old', 'theirs')")
    assert left == [{"tablename": "theirs"}]
    assert run_sql(server, """select mart from "Ma""rts".hcat_pushed where mart = 'fct_old'""") == []
    assert run_sql(server, "select * from pg_tables where tablename like 'hcat!_staging%' escape '!'") == []


def test_init_guesses_what_tables_hold(
    server: str, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_sql(server, f"create table {schema}.chat (id text, user_question text, bot_answer text, docs jsonb)")
    run_sql(server, f"create table {schema}.orders (id int, status text, response text)")
    assert run(monkeypatch, "init", tmp_path / "new", "--from", server) == 0
    said = capsys.readouterr().out
    assert f"{schema}.chat holds calls: id, user_question, bot_answer, docs" in said
    assert "orders" not in said
    written = yaml.safe_load((tmp_path / "new" / "warehouse.yml").read_text(encoding="utf-8"))
    assert written["connection"] == {"uri": server}
    assert written["pull"]["chat"] == {"as": "calls", "table": [schema, "chat"], "key": ["id"]}


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ({"table": "nowhere.calls"}, 'relation "nowhere.calls" does not exist'),
        ({"query": "select 1 as call_ids"}, "c: no column call_id (found: call_ids; did you mean call_ids?)"),
        ({"query": "select 1 as call_id"}, "c: no column answer: map it under columns (found: call_id)"),
        ({"query": "select 1/(9-i) as call_id, 'x' as answer from generate_series(1, 9) as i"}, "division by zero"),
    ],
)
def test_what_is_refused_is_one_line_without_secrets(
    server: str, stream: dict[str, Any], message: str, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "hunter2")
    uri = server.replace("hcat@", "hcat:${WORD}@")
    said = call("pull", settings_of(uri, c={"as": "interactions", "key": ["call_id"]} | stream), code=2)
    assert message in said
    assert (said.count("\n"), "hunter2" in said) == (1, False)
