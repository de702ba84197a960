"""Every table has a rule by which `hcat forget` and `hcat prune` delete (hcat.engine.retention_rules)."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from hcat.engine import retention_rules
from hcat.engine.retention_rules import choose_rule


@pytest.fixture(scope="module")
def tables(warehouse: Path) -> dict[str, dict[str, str]]:
    """The columns of every table of the build, with their types."""
    found: dict[str, dict[str, str]] = {}
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        sql = "select table_name, column_name, data_type from information_schema.columns order by ordinal_position"
        for table, column, kind in connection.execute(sql).fetchall():
            found.setdefault(table, {})[column] = kind
    return found


def test_every_mart_and_every_table_that_remembers_has_a_rule_for_its_texts(
    manifest: dict[str, Any], tables: dict[str, dict[str, str]]
) -> None:
    models = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    lasting = {
        node["name"]
        for node in models
        if node["config"]["materialized"] == "incremental"
        or (node["access"] == "public" and node["config"]["materialized"] != "view")
    }
    texts = {
        name
        for name in lasting & tables.keys()
        if any(part in kind for kind in tables[name].values() for part in ("VARCHAR", "STRUCT", "FLOAT"))
    }
    # a table that nothing remembers is emptied, and the next build makes it; these would lose rows for good
    without = {name for name in texts if choose_rule(name, tables[name]).action == "empty"}
    assert sorted(without - set(retention_rules._EMPTIED)) == []


def test_a_table_that_stays_whole_names_no_interaction(tables: dict[str, dict[str, str]]) -> None:
    kept = {name for name, columns in tables.items() if choose_rule(name, columns).action == "keep"}
    assert [name for name in sorted(kept) if any("interaction_id" in column for column in tables[name])] == []


def test_the_lists_name_tables_that_exist(manifest: dict[str, Any], tables: dict[str, dict[str, str]]) -> None:
    models = {node["name"] for node in manifest["nodes"].values() if node["resource_type"] == "model"}
    # `hcat build` makes hcat_inputs
    known = models | tables.keys() | {"hcat_inputs"}
    lists = (retention_rules._REMEMBER, retention_rules._SUMS, retention_rules._EMPTIED, retention_rules._OWN)
    assert [name for names in lists for name in names if name not in known] == []


def test_published_tables_are_filtered_as_in_the_warehouse(
    manifest: dict[str, Any], tables: dict[str, dict[str, str]]
) -> None:
    published = {
        node["name"]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node["access"] == "public" and node["name"] in tables
    }
    # an id of a deletion is known beside the warehouse too; a key of a text is looked up in the warehouse
    actions = {choose_rule(name, tables[name]).action for name in published}
    assert actions <= {"keep", "rows", "contents", "empty"}
    assert choose_rule("fct_judge_calls", tables["fct_judge_calls"]).key == "judge_key"
