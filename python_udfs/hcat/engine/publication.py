"""The published copy: what BI and other programs read while the next build writes.

Each file is replaced atomically, after all files of a copy were written, so that a full disk changes none.
"""

import os
import shutil
from collections.abc import Collection, Mapping
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa

from hcat.engine import relations
from hcat.engine.columns import schema
from hcat.engine.files import replacing
from hcat.engine.keys import hash_file
from hcat.engine.warehouse import DATABASE_FILE, Comments, mark_newest_build, share_of_memory, write_database

#: The ledger of builds.
LEDGER = "dim_runs"
#: Published by every build, also by one whose gates fail: a reader must see what fails and what drifts.
ALWAYS_PUBLISHED = (LEDGER, "fct_metric_drift", "fct_metric_weeks", "fct_release_decisions", "fct_threshold_gates")

#: Share of the engine's memory that publication uses. A sort fills what it is given, and takes no longer with less. The
#: memory in which files and copies are written comes on top.
_SHARE_OF_MEMORY = 2 / 3

_PUBLISHED_SCHEMA = schema("string: mart copy sha256", "int64: count_rows")


def publish_candidate(session: Any, tables: Any, warehouse: str) -> pa.Table:
    """Return what was copied: all tables to ``<warehouse>/published/candidate``; :data:`ALWAYS_PUBLISHED` one level up.

    Parameters
    ----------
    session : engine session
    tables : relation
        One row per table: mart (its name), relation (quoted name in the warehouse; null if its module is switched off).
        The first column of a table is its key.
    warehouse : str
        Folder of the warehouse.

    Returns
    -------
    Table
        One row per copied table: mart, copy, sha256 of its Parquet file and count_rows.
    """
    rows = relations.read_rows(tables).to_pylist()
    marts = {str(row["mart"]): relations.from_name(session, row["relation"]) for row in rows if row["relation"]}
    published = Path(warehouse) / "published"
    candidate = published / "candidate"
    comments = relations.read_comments(session, {name: relation.columns for name, relation in marts.items()})
    with ExitStack() as copies:
        with nullcontext() if relations.is_distributed(session) else share_of_memory(session, _SHARE_OF_MEMORY):
            copied, files = _write_copy(marts, comments, candidate, copies)
        always = {name: files[name] for name in ALWAYS_PUBLISHED if name in files}
        for name, file in always.items():
            _copy(file, published / f"{name}.parquet", copies)
        # gates, drift and ledger are renewed in the published copy, which keeps its other tables
        unfinished = copies.enter_context(replacing(published / DATABASE_FILE))
        if (published / DATABASE_FILE).exists():
            shutil.copyfile(published / DATABASE_FILE, unfinished)
        write_database(always, unfinished, comments=comments, keep=True)
    _remove_others(candidate, marts)
    return pa.Table.from_pylist(copied, schema=_PUBLISHED_SCHEMA)


def publish_passing(candidate: pa.Table, warehouse: str) -> pa.Table:
    """Return what was promoted from the candidate of this build to ``<warehouse>/published``, byte for byte.

    dbt runs this only when all gates of severity error pass. Both copies of the ledger say from then on that the build
    passes; a build that dies before is in neither of them as one that does. Rows as of :func:`publish_candidate`.
    """
    published = Path(warehouse) / "published"
    source = published / "candidate"
    rows = []
    with ExitStack() as copies:
        database = copies.enter_context(replacing(source / DATABASE_FILE))
        shutil.copyfile(source / DATABASE_FILE, database)
        ledger = copies.enter_context(replacing(source / f"{LEDGER}.parquet"))
        mark_newest_build(database, LEDGER, ledger)
        for row in sorted(candidate.to_pylist(), key=lambda row: str(row["mart"])):
            name = f"{row['mart']}.parquet"
            file = ledger if row["mart"] == LEDGER else source / name
            _copy(file, published / name, copies)
            rows.append({**row, "copy": "published", "sha256": hash_file(file)})
        _copy(database, published / DATABASE_FILE, copies)
    _remove_others(published, {str(row["mart"]) for row in rows})
    return pa.Table.from_pylist(rows, schema=_PUBLISHED_SCHEMA)


def publish_part(session: Any, marts: Mapping[str, Any], warehouse: str, part: str) -> pa.Table:
    """Return what was copied of marts to ``<warehouse>/published/<part>``, a folder that other builds leave alone."""
    folder = Path(warehouse) / "published" / part
    with ExitStack() as copies:
        comments = relations.read_comments(session, {name: relation.columns for name, relation in marts.items()})
        copied, _ = _write_copy(marts, comments, folder, copies)
    _remove_others(folder, marts)
    return pa.Table.from_pylist(copied, schema=_PUBLISHED_SCHEMA)


def _write_copy(
    marts: Mapping[str, Any], comments: Mapping[str, Comments], folder: Path, copies: ExitStack
) -> tuple[list[dict[str, Any]], dict[str, Path]]:
    """Write each mart as Parquet and all of them as one database into a folder; return what was written, and where."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, files = [], {}
    for name, relation in sorted(marts.items()):
        path = files[name] = copies.enter_context(replacing(folder / f"{name}.parquet"))
        # the rows of an interaction lie together, so that a reader of one skips the others; the first column is the key
        together = [column for column in ("interaction_id", "metric_name") if column in relation.columns]
        # the same rows give the same bytes
        count_rows = relations.write_parquet(relation, path, ", ".join([*together, f'"{relation.columns[0]}"']))
        rows.append({"mart": name, "copy": folder.name, "sha256": hash_file(path), "count_rows": count_rows})
    write_database(files, copies.enter_context(replacing(folder / DATABASE_FILE)), comments=comments)
    return rows, files


def _remove_others(folder: Path, names: Collection[str]) -> None:
    """Remove the Parquet files of tables that are no longer published: their module was switched off."""
    for path in folder.glob("*.parquet"):
        if path.stem not in names:
            path.unlink()


def _copy(source: Path, target: Path, copies: ExitStack) -> None:
    """Put a copy of ``source`` in the place of ``target``; a link where the file system allows one."""
    if target.exists() and target.samefile(source):
        # renaming one link of a file over another does nothing and would leave the temporary name behind
        return
    unfinished = copies.enter_context(replacing(target))
    try:
        os.link(source, unfinished)
    except OSError:
        shutil.copyfile(source, unfinished)
