"""The commands find the build of a project as dbt does: profile, target, file and schema."""

from pathlib import Path

import duckdb
import pytest

from hcat.engine.project import find_place
from hcat.engine.warehouse import Place, WarehouseError, as_place, candidate_database, check_finished, open_warehouse

PROFILE = """
bank:
  target: "{{ env_var('BANK_TARGET', 'dev') }}"
  outputs:
    dev: {type: duckdb, path: "data/{{ env_var('BANK_USER', 'anyone') }}.duckdb", schema: dev, threads: 2}
    lake: {type: sparksession, schema: hcat}
    cloud: {type: snowflake, account: bank}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a profile of its own, and nothing of the machine's settings."""
    for name in ("DBT_PROFILES_DIR", "HCAT_WAREHOUSE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "dbt_project.yml").write_text("name: own\nprofile: bank\nvars: {hcat: {hcat_warehouse: results}}\n")
    (tmp_path / "profiles.yml").write_text(PROFILE)
    return tmp_path


def build(path: Path, *schemas: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(path)) as connection:
        for schema in schemas:
            connection.execute(f"create schema if not exists {schema}")
            connection.execute(f"create table {schema}.dim_runs as select '{schema}' as run_id")


def read(place: Place | Path) -> list[str]:
    with open_warehouse(place) as warehouse:
        return [row["run_id"] for row in warehouse.rows("select run_id from dim_runs", ["dim_runs"])]


def test_file_and_folder_are_those_of_profile_and_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = find_place(project)
    assert (place.database, place.folder) == (project / "data" / "anyone.duckdb", project / "results")
    monkeypatch.setenv("BANK_USER", "me")
    assert find_place(project, "dev").database == project / "data" / "me.duckdb"
    assert find_place(project, "lake").database == project / "results" / "published" / "candidate" / "hcat.duckdb"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("prod", r"profile bank has no target prod \(has: dev, lake, cloud\)"),
        ("cloud", "target cloud of profile bank has the type snowflake: hcat builds on duckdb and sparksession"),
    ],
)
def test_a_target_that_cannot_be_read_is_one_line(project: Path, target: str, message: str) -> None:
    with pytest.raises(WarehouseError, match=message):
        find_place(project, target)


def test_a_variable_that_is_not_set_is_named(project: Path) -> None:
    (project / "profiles.yml").write_text("bank: {outputs: {default: {type: duckdb, path: \"{{ env_var('NONE') }}\"}}}")
    with pytest.raises(WarehouseError, match="the environment variable NONE is not set"):
        find_place(project)


def test_the_schema_is_the_one_that_holds_a_build(project: Path) -> None:
    place = find_place(project)
    build(place.database, "other_hcat")
    assert read(place) == ["other_hcat"]
    build(place.database, "dev_hcat")
    assert read(place) == ["dev_hcat"]
    with pytest.raises(WarehouseError, match="several builds of hcat: name one of dev_hcat, other_hcat with --schema"):
        read(place.database)
    assert read(Place(place.database, project, schema="other_hcat")) == ["other_hcat"]
    with pytest.raises(WarehouseError, match=r"no build of hcat in schema none \(has: dev_hcat, other_hcat\)"):
        read(Place(place.database, project, schema="none"))


def test_the_tables_of_the_project_are_read_beside_those_of_hcat(project: Path) -> None:
    place = find_place(project)
    build(place.database, "dev_hcat", "development_hcat")
    with duckdb.connect(str(place.database)) as connection:
        connection.execute("create table my_calls as select 'i1' as interaction_id")
    with open_warehouse(place) as warehouse:
        found = warehouse.connection.sql("select run_id, interaction_id from dim_runs, my_calls").fetchall()
    # the schema of a target whose name only starts alike is another one
    assert found == [("dev_hcat", "i1")]


def test_alerts_read_the_copy_of_the_last_build(project: Path) -> None:
    published = project / "results" / "published"
    copy = published / "candidate" / "hcat.duckdb"
    assert candidate_database(find_place(project)) == copy
    build(published / "hcat.duckdb", "main")
    build(copy, "main")
    assert candidate_database(project / "results") == candidate_database(published) == copy
    # a file that is named is the one
    assert candidate_database(as_place(published / "hcat.duckdb")) == published / "hcat.duckdb"


def test_a_database_without_a_build_is_an_error(project: Path) -> None:
    place = find_place(project)
    with pytest.raises(WarehouseError, match=r"no warehouse at .*anyone.duckdb \(target dev of profile bank\)"):
        read(place)
    place.database.parent.mkdir()
    duckdb.connect(str(place.database)).close()
    with (
        pytest.raises(WarehouseError, match="the warehouse holds no build of hcat"),
        open_warehouse(place) as warehouse,
    ):
        check_finished(warehouse)
