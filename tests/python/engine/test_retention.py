"""Deletion on request: a killed command has done nothing or is finished by the next one, and bad input is one line."""

import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hcat.cli import main
from hcat.engine import retention
from hcat.engine.project import find_place
from hcat.engine.retention import PENDING, finish_deletion, forget_interactions, prune_weeks, read_ids
from hcat.engine.retention_rules import choose_rule, hash_id
from hcat.engine.warehouse import WarehouseError

PROFILE = (
    "own: {target: dev, outputs: {dev: {type: duckdb, path: warehouse/hcat.duckdb, schema: main}, far: {type: %s}}}"
)
SECRET = "Ms Quendelin may pay in June."
MADE = f"""
create table hcat_builds (run_id varchar, event varchar, logged_at timestamp, build_number bigint);
insert into hcat_builds values ('r1', 'started', '2026-05-01 10:00', 1), ('r1', 'ended', '2026-05-01 10:05', 1);
create table hcat_deletions (id_kind varchar, hashed_id varchar, deletion_number bigint);
create table hcat_deletion_log (
    deletion_number bigint, command varchar, reason varchar, ids_sha256 varchar, count_ids bigint,
    count_interactions bigint, count_queries bigint, count_texts bigint, count_evaluations bigint, weeks_before date,
    deleted_at timestamp, finished_at timestamp, after_build_number bigint
);
create table landed_records as
    select 'r' || i as record_id, 'interactions' as entity, 'calls.jsonl' as source_file, 'f' as source_file_hash,
        'h' || i as record_hash, null::varchar as read_error, null::varchar as unread_record,
        'i' || i as interaction_id, 'q' || i // 2 as query_id, 'Q' || i // 2 as query_text,
        if(i = 1, '{SECRET}', 'Answer ' || i) as answer, if(i < 4, 'talk', null) as conversation_id,
        null::varchar as trace_id, i as source_row, 1 as landing_number, false as is_file_problem, false as is_cleaned
    from range(6) as numbers(i)
    union all by name
    select 'r9' as record_id, 'interactions' as entity, 'calls.jsonl' as source_file, 'f' as source_file_hash,
        'h9' as record_hash, 'malformed JSON' as read_error, '{{"id": "i1", "answer": "{SECRET}' as unread_record,
        9 as source_row, 1 as landing_number, false as is_file_problem, false as is_cleaned
    union all by name
    select 'd' || i as record_id, 'documents' as entity, 'documents.jsonl' as source_file, 'h' || i as record_hash,
        if(i = 1, 'malformed JSON', null) as read_error, if(i = 1, '{{"text": "{SECRET} (i1)', null) as unread_record,
        if(i = 1, null, 'Fees') as text, i as source_row
    from range(2) as numbers(i)
    union all by name
    select 's' || i as record_id, 'queries' as entity, 'calls.jsonl' as source_file, 'h' || i as record_hash,
        'q' || i as query_id, if(i = 2, 'q0', null) as parent_query_id, 'Q' || i as text
    from range(3) as numbers(i);
create table base_interactions as
    select record_id, interaction_id, answer, unread_record, read_error as reject_reason,
        if(read_error is null, 'staged', 'rejected') as record_status,
        timestamp '2026-06-01' + to_days(7 * source_row::integer) as asked_at
    from landed_records where entity = 'interactions';
create table base_documents as
    select record_id, text, unread_record from landed_records where entity = 'documents';
create view staged as from base_interactions where record_status = 'staged';
create table int_interaction_passages as
    select interaction_id, 'answer' as role, md5(answer) as passage_id, answer as passage_text from staged
    union all
    -- the last turn of the conversation has read what was said in the first
    select 'i3', 'statement', md5('Q0'), 'Q0';
create table int_passages_split as
    select distinct passage_id, md5('part of ' || passage_text) as text_id, passage_text as sentence_text
    from int_interaction_passages;
create table int_texts_embedded as select text_id, [1.0] as embedding from int_passages_split;
create table int_interaction_cells as select 'fees' as first_segment;
create table fct_evaluations as select interaction_id, 'm' as metric_name from staged;
create table fct_interactions as
    select interaction_id, answer, 'c' || interaction_id as cluster_id, asked_at from staged;
comment on table fct_interactions is 'One row per interaction.';
create table int_clusters_seen as select cluster_id from fct_interactions;
create table dim_runs as select 'r1' as run_id, timestamp '2026-05-01 10:00' as started_at, 1 as build_number;
create view all_answers as select answer from fct_interactions;
create table notes as select 'i1' as interaction_id, 'a table of the project' as note;
create table int_leftover__dbt_tmp as select '{SECRET}' as answer;
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DBT_PROFILES_DIR", "HCAT_WAREHOUSE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "dbt_project.yml").write_text("name: own\nprofile: own\n")
    (tmp_path / "profiles.yml").write_text(PROFILE % "sparksession")
    published = tmp_path / "warehouse" / "published" / "candidate"
    published.mkdir(parents=True)
    change(tmp_path, MADE)
    with duckdb.connect(str(published / "hcat.duckdb")) as copy:
        rows = f"select 'i' || i as interaction_id, '{SECRET}' as answer from range(6) numbers(i)"
        copy.execute(f"create table fct_interactions as {rows}")
        copy.execute("comment on table fct_interactions is 'One row per interaction.'")
        copy.sql("from fct_interactions").write_parquet(str(published / "fct_interactions.parquet"), compression="zstd")
    (tmp_path / "warehouse" / "slices" / "encoder").mkdir(parents=True)
    (tmp_path / "warehouse" / "slices" / "encoder" / "one.parquet").write_bytes(b"vectors")
    (tmp_path / "ids.txt").write_text("i1\n i0 \n")
    return tmp_path


def change(project: Path, sql: str) -> None:
    with duckdb.connect(str(project / "warehouse" / "hcat.duckdb")) as connection:
        connection.execute(sql)


def read(project: Path, sql: str, file: str = "hcat.duckdb") -> list[tuple[Any, ...]]:
    with duckdb.connect(str(project / "warehouse" / file), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def read_column(project: Path, sql: str, file: str = "hcat.duckdb") -> list[Any]:
    return [row[0] for row in read(project, sql, file)]


def test_the_secret_is_in_no_file(project: Path) -> None:
    # a build was killed while it published
    copy = project / "warehouse" / "published" / "candidate"
    shutil.copyfile(copy / "hcat.duckdb", copy / ".hcat.duckdb.writing")
    (copy / ".hcat.duckdb.writing.tmp").mkdir()
    shutil.copyfile(copy / "hcat.duckdb", copy / ".hcat.duckdb.writing.tmp" / "spilled")
    forget_interactions(project, project / "ids.txt")
    change(project, "checkpoint")
    files = [path for path in (project / "warehouse").rglob("*") if path.is_file() and path.suffix != ".parquet"]
    assert len(files) == 2
    # the copy calls every answer so; of the warehouse, only the leftover of a killed build and i1 did
    assert SECRET.encode() not in (project / "warehouse" / "hcat.duckdb").read_bytes()


@pytest.mark.parametrize(
    ("identifier", "written"),
    [
        ("torn-7", '{"id": "torn-7", "answer": "Ms Quen'),
        ("töne", r'{"id": "t\u00f6ne", "answer": "Ms Quen'),
        ("töne", r'{"id": "t\u00F6ne", "answer": "Ms Quen'),
        ("to\u0308ne", '{"id": "t\u00f6ne", "answer": "Ms Quen'),
        ('a "b"', r'{"id": "a \"b\"", "answer": "Ms Quen'),
        ("a/b", r'{"id": "a\/b", "answer": "Ms Quen'),
        ("a+b", r'{"id": "a\u002Bb", "answer": "Ms Quen'),
        ('a "b"', 'x,"a ""b""","Ms Quen'),
    ],
)
def test_a_record_that_only_an_unreadable_text_names_is_deleted_and_counted(
    project: Path, identifier: str, written: str
) -> None:
    values = {"id": "u1", "text": written}
    with duckdb.connect(str(project / "warehouse" / "hcat.duckdb")) as connection:
        connection.execute(
            "insert into landed_records by name select $id as record_id, 'interactions' as entity,"
            " 'malformed JSON' as read_error, $text as unread_record",
            values,
        )
        connection.execute(
            "insert into base_interactions by name select $id as record_id, $text as unread_record", values
        )
    (project / "ids.txt").write_text(f"{identifier}\nnobody\n", encoding="utf-8")
    said = dict(forget_interactions(project, project / "ids.txt"))
    assert said["deleted"].endswith("; 1 of 2 ids are in no landed record")
    assert said["records"] == "interactions 1"
    for table in ("base_interactions", "landed_records"):
        assert read(
            project, f"select count(*) from {table} where unread_record like '%Quen%' and record_id = 'u1'"
        ) == [(0,)]
    assert read(project, "select count(*) from hcat_deletions where id_kind = 'record'") == [(1,)]
    (project / "ids.txt").write_text(identifier, encoding="utf-8")
    said = dict(forget_interactions(project, project / "ids.txt"))
    assert said["deleted"] == "nothing: all 1 ids were deleted before"


def test_files_that_are_not_written_anew_are_named(project: Path) -> None:
    warehouse = project / "warehouse"
    (warehouse / "ratings_one_ann.csv").write_text("interaction_id,comment\ni1,a note\n")
    (warehouse / "review_one.csv").write_text("interaction_id,answer\ni1,a\ni2,b\n")
    (warehouse / "review_two.csv").write_text("interaction_id,answer\ni2,as in i1\n")
    (warehouse / "alerts.jsonl").write_text('{"gate": "release"}\n')
    (warehouse / "explorer_old.html").write_text("packed")
    (warehouse / "explorer.html").write_text("packed")
    (warehouse / "mine").mkdir()
    shutil.copyfile(warehouse / "hcat.duckdb", warehouse / "mine" / "before.duckdb")
    packed = "explorer_old.html, mine/before.duckdb: no text to search, delete what must go"
    said = dict(forget_interactions(project, project / "ids.txt", is_dry_run=True))
    assert said["not deleted"] == "ratings_one_ann.csv: an id stands there, delete what must go"
    assert said["not searched"] == packed
    said = dict(forget_interactions(project, project / "ids.txt"))
    assert said["removed"].startswith("explorer.html: ")
    # a note in a sheet that was written anew
    named = "ratings_one_ann.csv, review_two.csv: an id stands there, delete what must go"
    assert (said["not deleted"], said["not searched"]) == (named, packed)
    # until they are gone, a second call names them again
    said = dict(forget_interactions(project, project / "ids.txt"))
    assert (said["deleted"], said["not deleted"]) == ("nothing: all 2 ids were deleted before", named)


def test_a_query_goes_with_the_last_interaction_that_asks_it(project: Path) -> None:
    (project / "ids.txt").write_text("i2\ni3\n")
    assert "queries 1 " in dict(forget_interactions(project, project / "ids.txt"))["deleted"]
    queries = "select query_id from landed_records where entity = 'queries' order by 1 nulls last"
    assert read_column(project, queries) == ["q0", "q2", None]


def test_spans_go_with_the_interaction_that_they_give(project: Path) -> None:
    change(
        project,
        """
        create table base_folded_traces as
            select 'i' || i as interaction_id, 't' || i as trace_id, null::varchar as query_id,
                'Why ' || i || '?' as query_text, null::varchar as conversation_id, 'interactions' as entity
            from range(7, 9) as numbers(i);
        alter table landed_records add column attributes varchar;
        insert into landed_records by name
            select 'x' || i as record_id, 'spans' as entity, 'spans.jsonl' as source_file, 'h' || i as record_hash,
                't' || (i // 2) as trace_id, '{"input": "Why?"}' as attributes
            from range(14, 18) as numbers(i);
        insert into base_folded_traces by name
            select trace_id, 'spans' as entity from landed_records where entity = 'spans';
        """,
    )
    (project / "ids.txt").write_text("i7\n")
    assert dict(forget_interactions(project, project / "ids.txt"))["records"] == "spans 2"
    spans = read(
        project, "select trace_id, attributes is null from landed_records where entity = 'spans' order by record_id"
    )
    assert spans == [(None, True), (None, True), ("t8", False), ("t8", False)]
    assert read_column(project, "select distinct trace_id from base_folded_traces") == ["t8"]
    assert read_column(project, "select hashed_id from hcat_deletions where id_kind = 'trace'") == [hash_id("t7")]


@pytest.mark.parametrize("step", ["_fill", "replace"])
def test_a_command_that_is_killed_before_the_end_of_writing_has_done_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def die(*values: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(*((retention._Deletion, "_fill") if step == "_fill" else (Path, "replace")), die)
        with pytest.raises(KeyboardInterrupt):
            forget_interactions(project, project / "ids.txt")
    assert read(project, "select count(*) from fct_interactions") == [(6,)]
    assert read(project, "select count(*) from hcat_deletion_log") == [(0,)]
    forget_interactions(project, project / "ids.txt")
    assert read(project, "select count(*) from fct_interactions") == [(3,)]
    assert sorted(path.name for path in (project / "warehouse").iterdir()) == ["hcat.duckdb", "published"]


def test_a_disk_that_is_full_keeps_nothing_of_the_new_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*values: object) -> None:
        raise duckdb.IOException("Checkpoint failed. Original error: No space left on device")

    monkeypatch.setattr(retention._Deletion, "_fill", fail)
    with pytest.raises(WarehouseError, match=r"^nothing was deleted: No space left on device$"):
        forget_interactions(project, project / "ids.txt")
    assert sorted(path.name for path in (project / "warehouse").iterdir()) == ["hcat.duckdb", "published", "slices"]


def test_a_command_that_is_killed_beside_the_database_is_finished_by_the_next_one(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*values: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(retention, "delete_from_files", die)
        with pytest.raises(KeyboardInterrupt):
            forget_interactions(project, project / "ids.txt")
    assert read(project, "select count(*) from fct_interactions") == [(3,)]
    assert read(project, "select finished_at from hcat_deletion_log") == [(None,)]
    assert read(project, f"select count(*) > 0 from {PENDING}") == [(True,)]
    copy = "published/candidate/hcat.duckdb"
    assert read(project, "select count(*) from fct_interactions", copy) == [(6,)]
    assert finish_deletion(find_place(project))
    assert read(project, "select count(*) from fct_interactions", copy) == [(3,)]
    assert read(project, "select finished_at is not null from hcat_deletion_log") == [(True,)]
    assert not finish_deletion(find_place(project))


def test_bad_input_is_one_line(project: Path) -> None:
    path = project / "ids.csv"
    for text, message in (
        ("id\n1\n", "no column interaction_id (found: id)"),
        ("interaction_id\n\n", "names no interaction"),
        ("interaction_id\nnobody\n", "none of 1 ids is in a landed record"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"^[^\n]+$") as raised:
            forget_interactions(project, path)
        assert message in str(raised.value)
    lines = project / "ids.jsonl"
    lines.write_text('{"interaction_id": "i1"}\n7\n')
    with pytest.raises(ValueError, match="line 2 is no object with an interaction_id"):
        read_ids(lines)
    with pytest.raises(WarehouseError, match="nothing is deleted on Apache Spark yet"):
        forget_interactions(project, project / "ids.txt", target="far")
    change(project, "drop table hcat_deletions")
    with pytest.raises(WarehouseError, match="knows no deletions yet: build once"):
        forget_interactions(project, project / "ids.txt")


def test_the_commands_print_what_they_would_do_and_refuse_a_day_that_is_none(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: str) -> tuple[object, str]:
        monkeypatch.setattr(sys, "argv", ["hcat", *arguments, "--project-dir", str(project)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out + printed.err

    code, said = run("forget", "--ids", str(project / "ids.txt"), "--dry-run")
    assert (code, said.splitlines()[0][:28]) == (0, "would delete  interactions 2")
    assert run("prune", "--before", "june") == (2, "hcat: --before must be a day such as 2026-01-31, got june\n")
    assert run("prune", "--before", "2026-06-17", "--dry-run")[0] == 0


def test_tables_in_a_schema_of_their_own_are_found_beside_those_of_the_project(project: Path) -> None:
    tables = read_column(
        project, "select table_name from duckdb_tables() where table_name not in ('notes', 'int_interaction_cells')"
    )
    change(project, "drop view all_answers; create schema main_hcat")
    for table in tables:
        change(project, f"create table main_hcat.{table} as from main.{table}; drop table main.{table}")
    said = dict(forget_interactions(project, project / "ids.txt"))
    assert said["not hcat's"] == "main.notes: rows 1, delete them there"
    assert read(project, "select count(*) from main_hcat.fct_interactions") == [(3,)]
    # a table of the project may have the name of a model
    assert read(project, "select count(*) from main.int_interaction_cells") == [(1,)]
    assert not finish_deletion(find_place(project))


def test_another_process_keeps_the_warehouse(project: Path) -> None:
    program = "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print(1, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(project / "warehouse" / "hcat.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "1\n"
        with pytest.raises(WarehouseError, match=r"another process \(PID \d+\) writes [^\n]+$"):
            forget_interactions(project, project / "ids.txt")
        other.communicate("")


def test_weeks_are_pruned_whole_and_only_after_a_build(project: Path) -> None:
    # 2026-06-17 is a Wednesday: the weeks of 06-01 and 06-08 are over
    said = dict(prune_weeks(project, date(2026, 6, 17)))
    assert said["deleted"].startswith("interactions 2,")
    assert said["weeks"] == "all before 2026-06-15: no sums stay: drift is switched off"
    assert read_column(project, "select interaction_id from staged order by 1") == ["i2", "i3", "i4", "i5"]
    # what a finding was found on is known for ever, and a pruned query may be sent again
    assert read(project, "select count(*) from int_clusters_seen") == [(6,)]
    assert read(project, "select count(*) from hcat_deletions where id_kind = 'query'") == [(0,)]
    # a build of a part does not renew the sums
    change(project, "insert into hcat_builds values ('r2', 'started', now(), 2), ('r2', 'ended', now(), 2)")
    with pytest.raises(ValueError, match="deleted since the last whole build: build first"):
        prune_weeks(project, date(2026, 6, 24))
    change(project, "insert into dim_runs values ('r2', '2026-04-01', 2)")
    assert dict(prune_weeks(project, date(2026, 6, 17)))["deleted"].startswith("nothing: no interaction was asked")
    with pytest.raises(ValueError, match="would leave no interaction with a time"):
        prune_weeks(project, date(2027, 1, 1))
    change(project, "create table int_week_sums as select date '2026-06-15' as week_start")
    change(project, "delete from fct_interactions where interaction_id = 'i2'")
    with pytest.raises(ValueError, match="interactions came since the last whole build"):
        prune_weeks(project, date(2026, 6, 24))


def test_a_table_of_another_schema_and_a_seed_stay() -> None:
    columns = {"interaction_id": "VARCHAR"}
    assert choose_rule("my_calls", columns, is_model=False).action == "foreign"
    assert choose_rule("safety_texts", columns, is_seed=True).action == "keep"
