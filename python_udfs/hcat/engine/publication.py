"""The published copy: what BI and other programs read while the next build writes.

A second process cannot open a DuckDB file that is being written. Finished marts are therefore copied out, as Parquet
files and as a DuckDB file. Each file is replaced atomically: a reader sees the old copy or the new one, never half of
either.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa

from hcat.engine import relations
from hcat.engine.keys import hash_file
from hcat.engine.warehouse import DATABASE_FILE, Comments, renew_database, share_of_memory, write_database

#: Published by every build, also by one whose gates fail: a reader must see what fails and what drifts.
ALWAYS_PUBLISHED = ("dim_runs", "fct_metric_drift", "fct_metric_weeks", "fct_threshold_gates")

#: Share of the engine's memory that publication uses. A sort fills what it is given, and takes no longer with less. The
#: memory in which files and copies are written comes on top.
_SHARE_OF_MEMORY = 2 / 3

_PUBLISHED_SCHEMA = pa.schema(
    [
        ("mart", pa.string()),
        ("copy", pa.string()),
        ("sha256", pa.string()),
        ("count_rows", pa.int64()),
        ("rows_digest", pa.string()),
    ]
)


def publish_candidate(session: Any, tables: Any, warehouse: str, last: str | None = None) -> pa.Table:
    """Return what was copied: all tables to ``<warehouse>/published/candidate``; :data:`ALWAYS_PUBLISHED` one level up.

    With `last`, a table whose rows are those of the last copy is not written again.

    Parameters
    ----------
    session : engine session
    tables : relation
        One row per table: mart (its name), relation (quoted name in the warehouse; null if its module is switched off).
        The first column of a table is its key.
    warehouse : str
        Folder of the warehouse.
    last : str, optional
        Quoted name of the table of what this function returned in the last build; it need not exist.

    Returns
    -------
    Table
        One row per table that has a relation: mart, copy, sha256 of its Parquet file, count_rows and rows_digest
        (:func:`hcat.engine.relations.digest_rows`).
    """
    rows = relations.read_rows(tables).to_pylist()
    marts = {str(row["mart"]): relations.from_name(session, row["relation"]) for row in rows if row["relation"]}
    published = Path(warehouse) / "published"
    candidate = published / "candidate"
    comments = _read_comments(session, marts)
    with nullcontext() if relations.is_distributed(session) else share_of_memory(session, _SHARE_OF_MEMORY):
        copied = _write_copy(marts, comments, candidate, None if last is None else _read_last(session, last))
    _publish_always([name for name in ALWAYS_PUBLISHED if name in marts], comments, candidate, published)
    return pa.Table.from_pylist(copied, schema=_PUBLISHED_SCHEMA)


def publish_passing(candidate: pa.Table, warehouse: str) -> pa.Table:
    """Return what was promoted from the candidate of this build to ``<warehouse>/published``, byte for byte.

    dbt runs this only when no gate of severity error fails.

    Parameters
    ----------
    candidate : Table
        What :func:`publish_candidate` returned in this build.
    warehouse : str
        Folder of the warehouse.

    Returns
    -------
    Table
        One row per mart, as of :func:`publish_candidate`.
    """
    published = Path(warehouse) / "published"
    rows = []
    for row in sorted(candidate.to_pylist(), key=lambda row: str(row["mart"])):
        path = published / f"{row['mart']}.parquet"
        _copy(published / "candidate" / path.name, path)
        rows.append({**row, "copy": "published", "sha256": hash_file(path)})
    _remove_others(published, {str(row["mart"]) for row in rows})
    _copy(published / "candidate" / DATABASE_FILE, published / DATABASE_FILE)
    return pa.Table.from_pylist(rows, schema=_PUBLISHED_SCHEMA)


def publish_again(session: Any, names: Sequence[str], warehouse: str) -> None:
    """Renew some tables of both copies, after rows were added to them and to nothing else."""
    published = Path(warehouse) / "published"
    candidate = published / "candidate"
    marts = {name: relations.from_name(session, name) for name in names}
    for name, relation in marts.items():
        _write_mart(relation, candidate / f"{name}.parquet")
    _publish_always(names, _read_comments(session, marts), candidate, published)
    _copy(published / DATABASE_FILE, candidate / DATABASE_FILE)


def publish_part(session: Any, marts: Mapping[str, Any], warehouse: str, part: str) -> pa.Table:
    """Return what was copied of marts that have a build of their own, to ``<warehouse>/published/<part>``.

    Other builds leave that folder alone.

    Parameters
    ----------
    session : engine session
    marts : mapping of str to relation
        Name of the table -> its rows; the first column is the key.
    warehouse : str
        Folder of the warehouse.
    part : {"test_set", "grammar", "judges"}
        Name of the folder.

    Returns
    -------
    Table
        One row per mart, as of :func:`publish_candidate`.

    Examples
    --------
    >>> import tempfile
    >>> import duckdb
    >>> with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
    ...     mart = connection.sql("select 'i1' as interaction_id, 0.5 as score")
    ...     written = publish_part(connection, {"fct_scores": mart}, folder, "judges").to_pylist()
    ...     files = sorted(path.name for path in (Path(folder) / "published" / "judges").iterdir())
    >>> written[0]["mart"], written[0]["copy"], written[0]["count_rows"]
    ('fct_scores', 'judges', 1)
    >>> files
    ['fct_scores.parquet', 'hcat.duckdb']
    """
    copied = _write_copy(marts, _read_comments(session, marts), Path(warehouse) / "published" / part)
    return pa.Table.from_pylist(copied, schema=_PUBLISHED_SCHEMA)


def _read_comments(session: Any, marts: Mapping[str, Any]) -> dict[str, Comments]:
    """Return the comments of each mart, which dbt wrote into the warehouse (persist_docs)."""
    return relations.read_comments(session, {name: relation.columns for name, relation in marts.items()})


def _read_last(session: Any, last: str) -> dict[str, dict[str, Any]]:
    """Return the row of each mart in the last copy; none without a table of it."""
    try:
        rows = relations.read_rows(relations.from_name(session, last)).to_pylist()
    except LookupError:
        return {}
    return {str(row["mart"]): row for row in rows}


def _write_copy(
    marts: Mapping[str, Any],
    comments: Mapping[str, Comments],
    folder: Path,
    last: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """Write each mart as Parquet and all of them as one database into a folder; return what was written.

    What `last` says holds for a mart while its rows have the same digest and its Parquet file is the one that `last`
    names. Without `last` everything is written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, relation in sorted(marts.items()):
        path, before = folder / f"{name}.parquet", (last or {}).get(name, {})
        digest = relations.digest_rows(relation)
        row: dict[str, Any] = {"mart": name, "copy": folder.name, "rows_digest": digest}
        if digest and digest == before.get("rows_digest") and path.is_file() and hash_file(path) == before["sha256"]:
            row |= {"sha256": before["sha256"], "count_rows": before["count_rows"]}
        else:
            row |= {"count_rows": _write_mart(relation, path), "sha256": hash_file(path)}
        rows.append(row)
    _remove_others(folder, marts)
    files = {name: folder / f"{name}.parquet" for name in sorted(marts)}
    database = folder / DATABASE_FILE
    temporary = _temporary(database)
    temporary.unlink(missing_ok=True)
    if last is not None and database.is_file():
        shutil.copyfile(database, temporary)
        digests = {row["mart"]: row["rows_digest"] for row in rows}
        renew_database(files, temporary, digests=digests, comments=comments)
    else:
        write_database(files, temporary, comments=comments)
    temporary.replace(database)
    return rows


def _write_mart(relation: Any, path: Path) -> int:
    """Write a mart as Parquet and return its number of rows; the same rows give the same bytes."""
    # the rows of an interaction lie together, so that a reader of one skips the others; the first column is the key
    together = [column for column in ("interaction_id", "metric_name") if column in relation.columns]
    columns = ", ".join([*together, relations.first_column(relation)])
    count = relations.write_parquet(relation, _temporary(path), columns)
    _temporary(path).replace(path)
    return count


def _remove_others(folder: Path, names: Collection[str]) -> None:
    """Remove the Parquet files of tables that are no longer published: their module was switched off."""
    for path in folder.glob("*.parquet"):
        if path.stem not in names:
            path.unlink()


def _publish_always(names: Sequence[str], comments: Mapping[str, Comments], candidate: Path, published: Path) -> None:
    """Renew gates, drift and ledger in the published copy and keep its other tables as they are."""
    for name in names:
        _copy(candidate / f"{name}.parquet", published / f"{name}.parquet")
    database = published / DATABASE_FILE
    # a link that a killed build left would be written through
    _temporary(database).unlink(missing_ok=True)
    if database.exists():
        shutil.copyfile(database, _temporary(database))
    files = {name: published / f"{name}.parquet" for name in names}
    write_database(files, _temporary(database), comments=comments, keep=True)
    _temporary(database).replace(database)


def _temporary(path: Path) -> Path:
    """Return the name under which a file is written before it takes its place."""
    return path.with_name(f".{path.name}.writing")


def _copy(source: Path, target: Path) -> None:
    """Put a copy of ``source`` in the place of ``target`` atomically; a link where the file system allows one."""
    if target.exists() and target.samefile(source):
        # renaming one link of a file over another does nothing and would leave the temporary name behind
        return
    temporary = _temporary(target)
    temporary.unlink(missing_ok=True)
    try:
        os.link(source, temporary)
    except OSError:
        shutil.copyfile(source, temporary)
    temporary.replace(target)
