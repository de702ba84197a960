"""What the query log of DuckDB says of each node (benchmarks.query_log)."""

import json
from pathlib import Path

import duckdb
import pytest
import yaml

from benchmarks import query_log
from benchmarks.harness import ROOT
from benchmarks.query_log import Plugin


def test_rows_and_time_are_told_by_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, warehouse, manifest = tmp_path / "log", tmp_path / "hcat.duckdb", tmp_path / "manifest.json"
    kinds = {"made": "table", "added": "incremental", "fct_marts": "table", "fct_renamed": "table"}
    nodes = {name: {"name": name, "config": {"materialized": kind}} for name, kind in kinds.items()}
    manifest.write_text(json.dumps({"nodes": nodes}))
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create table made as select range as i from range(5)")
        connection.execute("create table added as select range as i from range(1000)")
    before = query_log.count_rows(warehouse)
    monkeypatch.setenv(query_log.VARIABLE, str(log))
    with duckdb.connect(str(warehouse)) as connection:
        Plugin.configure_connection(None, connection)  # type: ignore[arg-type]
        for name, value in query_log._SETTINGS.items():
            connection.execute(f"set {name} = '{value}'")
        by = '/* {{"app": "dbt", "node_id": "model.hcat.{}"}} */ {}'
        connection.execute(by.format("made", "create or replace table made as select i, 'it''s \"x\"' as t from added"))
        connection.execute(by.format("added", "insert into added select i from made where i < 10"))
        connection.execute('create or replace table "fct_marts" (i bigint)')
        connection.execute('insert into "hcat"."main"."fct_marts" ( i ) ( select i from made )')
        connection.execute('create table "fct_renamed__dbt_tmp" (i bigint)')
        connection.execute('insert into "hcat"."main"."fct_renamed__dbt_tmp" ( i ) ( select i from made )')
        connection.execute('alter table "fct_renamed__dbt_tmp" rename to fct_renamed')
        connection.execute("select count(*) from made where i > 3")
    found = query_log.read(log, manifest, kinds, warehouse, before)
    assert {name: (work.rows_read, work.rows_written) for name, work in found.items()} == {
        "made": (1000, 1000),
        # a row that the filter leaves out was read
        "added": (1000, 10),
        "fct_marts": (1000, 1000),
        "fct_renamed": (1000, 1000),
    }
    assert all(work.cpu_seconds > 0 for work in found.values())
    assert query_log.read(log, manifest, [], warehouse, before) == {}


def test_only_the_profile_of_the_benchmark_is_changed(tmp_path: Path) -> None:
    profiles = tmp_path / "profiles.yml"
    profiles.write_bytes((ROOT / "profiles.yml").read_bytes())
    query_log.switch_on(profiles)
    outputs = yaml.safe_load(profiles.read_text())["hcat"]["outputs"]
    assert [plugin["module"] for plugin in outputs["duckdb"]["plugins"]][-1] == "benchmarks.query_log"
    assert outputs["duckdb"]["settings"]["profiling_coverage"] == "all"
    assert outputs["spark"] == yaml.safe_load((ROOT / "profiles.yml").read_text())["hcat"]["outputs"]["spark"]
