"""Rows read and processor time of each node of a build, from the query log of DuckDB.

`dbt` begins every statement with a comment that names its node. DuckDB's log has that text beside the metrics of the
statement. This module is the plugin that switches the log on, for builds of a benchmark alone, and reads it.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
import yaml
from dbt.adapters.duckdb.plugins import BasePlugin

#: Environment variable with the folder of the log.
VARIABLE: Final = "BENCHMARK_QUERY_LOG"
_SETTINGS: Final = {"enable_profiling": "no_output", "profiling_coverage": "all"}
_METRICS: Final = ("CUMULATIVE_ROWS_SCANNED", "CPU_TIME")
#: The node of a statement: by dbt's comment, or by the table that the rows of a mart with a contract go to.
_NODES: Final = (
    re.compile(r'"node_id": "\w+\.\w+\.(\w+)'),
    re.compile(r'^\s*insert into [^(]*"(\w+?)(?:__dbt_tmp)?"\s*\('),
)


class Plugin(BasePlugin):
    """Switches the log on when dbt opens the warehouse."""

    def configure_connection(self, conn: duckdb.DuckDBPyConnection) -> None:
        """Write the metrics of each statement to the folder that :data:`VARIABLE` names."""
        folder = os.environ[VARIABLE].replace("'", "''")
        conn.execute(f"call enable_logging('Metrics', level = 'info', storage = 'file', storage_path = '{folder}')")


@dataclass(frozen=True, slots=True)
class Work:
    """What one node cost.

    Parameters
    ----------
    rows_read : int
        Rows that scans of tables went through, whether or not a filter kept them.
    rows_written : int
        Rows of a table that is made anew, growth of one that is added to.
    cpu_seconds : float
        Processor time inside DuckDB. What Python does between statements is not in it.
    """

    rows_read: int
    rows_written: int
    cpu_seconds: float


def switch_on(profiles: Path) -> None:
    """Add plugin and settings to the DuckDB target of a ``profiles.yml`` that belongs to a benchmark."""
    content = yaml.safe_load(profiles.read_text(encoding="utf-8"))
    target = content["hcat"]["outputs"]["duckdb"]
    target["plugins"].append({"module": "benchmarks.query_log"})
    target["settings"].update(_SETTINGS)
    profiles.write_text(yaml.safe_dump(content), encoding="utf-8")


def count_rows(warehouse: Path) -> dict[str, int]:
    """Return the rows of each table as the catalogue has them; none where there is no warehouse yet."""
    if not warehouse.exists():
        return {}
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        found = connection.execute("select table_name, estimated_size from duckdb_tables() where not temporary")
        return dict(found.fetchall())


def read(
    folder: Path, manifest: Path, nodes: Iterable[str], warehouse: Path, rows_before: Mapping[str, int]
) -> dict[str, Work]:
    """Return the work of each node of a build.

    Parameters
    ----------
    folder, manifest, warehouse : path
        Folder of the log, ``manifest.json`` of the build, and the warehouse after it.
    nodes : iterable of str
        Names of the nodes that ran; none where the build ended without one.
    rows_before : mapping of str to int
        :func:`count_rows` before the build.
    """
    ran = set(nodes)
    if not ran:
        return {}
    models = json.loads(manifest.read_text(encoding="utf-8"))["nodes"].values()
    kept = {node["name"] for node in models if node["config"].get("materialized") == "incremental"}
    rows, seconds = defaultdict[str, float](float), defaultdict[str, float](float)
    for metrics in _statements(folder / "duckdb_log_entries.csv"):
        name = _find_node(metrics["QUERY_NAME"])
        rows[name] += float(metrics["CUMULATIVE_ROWS_SCANNED"])
        seconds[name] += float(metrics["CPU_TIME"])
    rows_after = count_rows(warehouse)
    written = {
        name: max(count - (rows_before.get(name, 0) if name in kept else 0), 0) for name, count in rows_after.items()
    }
    return {name: Work(int(rows[name]), written.get(name, 0), seconds[name]) for name in ran}


def add(works: Iterable[Work]) -> Work:
    """Return the sum over nodes.

    Examples
    --------
    >>> add([Work(1, 2, 0.5), Work(10, 20, 0.25)])
    Work(rows_read=11, rows_written=22, cpu_seconds=0.75)
    """
    listed = list(works)
    return Work(
        sum(each.rows_read for each in listed),
        sum(each.rows_written for each in listed),
        sum(each.cpu_seconds for each in listed),
    )


def _find_node(statement: str) -> str:
    """Return the name of the node that a statement belongs to; nothing for one inside a Python model.

    >>> _find_node('/* {"node_id": "model.hcat.int_cell_sums"} */ create table a as select 1')
    'int_cell_sums'
    >>> _find_node('insert into "hcat"."main"."fct_findings" (a) (select 1)')
    'fct_findings'
    >>> _find_node('insert into "hcat"."main"."fct_findings__dbt_tmp" (a) (select 1)')
    'fct_findings'
    >>> _find_node("select 1")
    ''
    """
    return next((found[1] for pattern in _NODES if (found := pattern.search(statement))), "")


def _statements(entries: Path) -> list[Mapping[str, str]]:
    """Return the metrics of each statement; the lines of a statement share a context."""
    with duckdb.connect() as connection:
        lines = connection.execute(
            "select context_id, message from read_csv(?, header = true, all_varchar = true, max_line_size = 20000000) "
            "where type = 'Metrics'",
            [str(entries)],
        ).fetchall()
    found: dict[str, dict[str, str]] = {}
    for context, message in lines:
        name, value = _split(message)
        if name in ("QUERY_NAME", *_METRICS):
            found.setdefault(context, {})[name] = value
    return list(found.values())


def _split(message: str) -> tuple[str, str]:
    """Return name and value of one line of the log."""
    match = re.match(r"\{'metric': (\w+), 'value': (.*)\}$", message, re.DOTALL)
    return (match[1], match[2].strip("'")) if match else ("", "")
