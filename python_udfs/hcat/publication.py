"""The published copy: what BI and other programs read while the next build writes.

A second process cannot open a DuckDB file that is being written, so finished marts are copied out: as Parquet files and
as a DuckDB file, each replaced atomically, so that a reader sees the old copy or the new one and never half of either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from hcat import relations

#: Published by every build, also by one whose gates fail: a reader must see the failure.
ALWAYS_PUBLISHED = ("dim_runs", "fct_threshold_gates")


def publish_candidate(session: Any, marts: Mapping[str, Any], warehouse: str) -> pa.Table:
    """Copy all marts to ``<warehouse>/published/candidate`` and gates and ledger to ``<warehouse>/published``.

    Returns
    -------
    Table
        One row per file: mart, copy, sha256, count_rows.
    """
    folder = Path(warehouse) / "published"
    candidate = _publish(session, marts, folder / "candidate", "candidate")
    always = {name: relation for name, relation in marts.items() if name in ALWAYS_PUBLISHED}
    return pa.concat_tables([candidate, _publish(session, always, folder, "published")])


def publish_passing(session: Any, marts: Mapping[str, Any], warehouse: str) -> pa.Table:
    """Copy all marts to ``<warehouse>/published``; dbt runs this only when no gate of severity error fails."""
    return _publish(session, marts, Path(warehouse) / "published", "published")


def _publish(session: Any, marts: Mapping[str, Any], folder: Path, copy: str) -> pa.Table:
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, relation in sorted(marts.items()):
        path = folder / f"{name}.parquet"
        temporary = folder / f".{name}.parquet.writing"
        count = relations.write_parquet(relation, temporary)
        temporary.replace(path)
        rows.append({"mart": name, "copy": copy, "sha256": _hash_file(path), "count_rows": count})
    # the database holds every file of the folder: a failed build renews gates and ledger and keeps the rest
    files = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    temporary = folder / ".hcat.duckdb.writing"
    relations.write_database(files, temporary)
    temporary.replace(folder / "hcat.duckdb")
    schema = pa.schema(
        [("mart", pa.string()), ("copy", pa.string()), ("sha256", pa.string()), ("count_rows", pa.int64())]
    )
    return pa.Table.from_pylist(rows, schema=schema)


def _hash_file(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
