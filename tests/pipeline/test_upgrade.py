"""The warehouse of hcat 0.1.0 under this version: a build says what to do, and `hcat upgrade` loses nothing."""

from pathlib import Path

import duckdb
import pytest
from builds import UNTESTED, Build, Dbt, checksum_tables, dbt_environment, query, run_hcat
from old_warehouse import restore, write_old_logs

#: What nobody can make again, or only at a price: history, raw records and results by content key.
REMEMBERED = {
    "dim_runs": 2,
    "fct_threshold_gates": 40,
    "int_findings_seen": 4,
    "int_interactions_sampled_for_review": 24,
    "int_texts_embedded": 342,
    "landed_chunks": 48,
    "landed_documents": 4,
    "landed_interactions": 48,
    "landed_ratings": 24,
    "landed_retrievals": 48,
}
SAID = "the warehouse was made by hcat 0.1.0: run `hcat upgrade` before this build"


def now(table: str) -> str:
    """Return where the rows of a table of the old warehouse are: the landed records of all entities are in one."""
    entity = table.removeprefix("landed_")
    return table if entity == table else f"landed_records where entity = '{entity}'"


#: Columns that an upgrade drops (macros/warehouse_changes.sql).
DROPPED = {"confirmed_difference", "is_confirmed", "repeats_run_id"}


def lost_rows(old: Path, new: Path, schema: str, table: str) -> int:
    """Return the rows of a table of the old warehouse that the new one, which may have more columns, does not have."""
    with duckdb.connect(str(new), read_only=True) as connection:
        connection.execute(f"attach '{old}' as old_warehouse (read_only)")
        columns = connection.execute(f"describe old_warehouse.main.{table}").fetchall()
        names = ", ".join(f'"{column[0]}"' for column in columns if column[0] not in DROPPED)
        lost = f"select {names} from old_warehouse.main.{table} except all select {names} from {schema}.{now(table)}"
        return int(connection.sql(f"select count(*) from ({lost})").fetchall()[0][0])


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The old warehouse as it was."""
    database = tmp_path_factory.mktemp("untouched") / "hcat.duckdb"
    restore(database)
    return database


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The old warehouse and its logs, to work on."""
    folder = tmp_path_factory.mktemp("old")
    write_old_logs(folder / "logs")
    restore(folder / "warehouse" / "hcat.duckdb")
    return Build(0, "", folder / "logs", folder / "warehouse")


def upgrade(build: Build, *arguments: str) -> str:
    """Run `hcat upgrade` in the repository on the warehouse of a build."""
    return run_hcat("upgrade", *arguments, environment=dbt_environment(build.raw, build.warehouse))


def test_a_build_and_a_dry_run_on_an_older_warehouse_say_what_to_do_and_touch_nothing(dbt: Dbt, old: Build) -> None:
    before = checksum_tables(old.warehouse / "hcat.duckdb")
    build = dbt("build", old.raw, old.warehouse)
    assert build.exit_code == 2
    assert SAID in build.output
    said = upgrade(old, "--dry-run")
    assert said.splitlines()[0] == "made by hcat 0.1.0"
    for dropped in ("int_answers_overlapped", "int_pairs_entailed", "int_sentences_supported", "int_cell_totals"):
        assert dropped in said
    assert checksum_tables(old.warehouse / "hcat.duckdb") == before


def test_the_next_build_goes_on_with_what_the_old_warehouse_remembers(
    dbt: Dbt, old: Build, small: Build, untouched: Path
) -> None:
    assert upgrade(old).splitlines()[-1] == "next: dbt build"
    build = dbt(UNTESTED, old.raw, old.warehouse, encoder="hashing:8", classifier="hashing")
    assert build.exit_code == 0, build.output
    database = old.warehouse / "hcat.duckdb"
    for table, count in REMEMBERED.items():
        assert query(untouched, f"select count(*) from {table}") == [(count,)]
        assert lost_rows(untouched, database, "main", table) == 0, table
    # records, vectors, labels and the drawn round are those of before: nothing came twice
    for table in ("landed_interactions", "landed_ratings", "int_texts_embedded", "int_interactions_sampled_for_review"):
        assert build.query(f"select count(*) from {now(table)}") == [(REMEMBERED[table],)]
    assert build.query("select code_version, build_number from dim_runs order by started_at") == [
        ("0.1.0", 1),
        ("0.1.0", 2),
        ("0.2.0", 3),
    ]
    # old rows are numbered in their old order, in every history
    for table in ("fct_threshold_gates", "int_findings_seen"):
        wrong = f"select count(*) from {table} inner join dim_runs as runs using (run_id)"
        assert build.query(f"{wrong} where {table}.build_number is distinct from runs.build_number") == [(0,)]
    # a finding goes on under its first build
    first = "(select run_id from dim_runs where build_number = 1)"
    assert build.query(f"select count(*) > 0 from fct_findings where first_seen_run = {first}") == [(True,)]
    # all tables have the columns that a new warehouse has, so the list of changes is complete
    listed = "select table_name, column_name, data_type from information_schema.columns where table_schema = 'main'"
    expected = small.query(listed)
    assert len(expected) > 1_000
    tables = {table for table, *_ in expected}
    assert {row for row in build.query(listed) if row[0] in tables} == set(expected)
