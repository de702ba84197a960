"""Deletion beside the database: published copies, slices on disk, pages, sheets and files of queries."""

import csv
import io
import json
import mmap
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final

from hcat.engine import relations
from hcat.engine.files import replacing
from hcat.engine.retention_rules import choose_rule, hash_id, keep_condition
from hcat.engine.warehouse import DATABASE_FILE, Place, list_tables, quote, write_database

#: Pages that show texts. They are removed, because a page cannot be edited; commands write them again.
PAGES: Final = ("report.html", "report.pdf", "explorer.html", "desk.html")
#: Review sheets and files of test queries, where the commands write them.
_FILES: Final = ("review_*.csv", "test_set/*.csv", "test_set/*.jsonl")
#: Endings of pages and of files whose texts are packed, so that an id is not found in their bytes.
_PACKED: Final = (".html", ".pdf", ".duckdb", ".parquet", ".gz", ".zip", ".xlsx")
#: Columns of sheets and of files of queries, with the kind of their id.
_IDS_OF_FILES: Final[Mapping[str, str]] = {"interaction_id": "derived", "query_id": "query"}


def delete_from_files(connection: Any, place: Place, pending: str) -> list[str]:
    """Delete what ``pending`` names from all files of the folder of a warehouse; a second call changes nothing."""
    for copy in sorted(path.parent for path in (place.folder / "published").rglob(DATABASE_FILE)):
        _delete_from_copy(connection, copy, pending)
    # slices are the results of builds that were killed: the next build computes them again
    shutil.rmtree(place.folder / "slices", ignore_errors=True)
    database = place.database.resolve()
    shutil.rmtree(database.with_name(f"{database.name}.tmp"), ignore_errors=True)
    gone: dict[str, set[str]] = {}
    for kind, hashed in connection.execute(f"select id_kind, hashed_id from {pending}").fetchall():
        gone.setdefault(kind, set()).add(hashed)
    for path in sorted(path for pattern in _FILES for path in place.folder.glob(pattern)):
        rewrite = _rewrite_lines if path.suffix == ".jsonl" else _rewrite_csv
        text = rewrite(path.read_text(encoding="utf-8"), gone)
        if text is not None:
            with replacing(path) as unfinished:
                unfinished.write_text(text, encoding="utf-8", newline="")
    pages = [place.folder / name for name in PAGES if (place.folder / name).exists()]
    for page in pages:
        page.unlink()
    return [page.name for page in pages]


def find_left(place: Place, spellings: Collection[bytes], *, is_done: bool) -> tuple[list[str], list[str]]:
    """Return the files that a deletion leaves as they are: those that name an id, and those not searched."""
    database = place.database.resolve()
    folders = [path.parent for path in (place.folder / "published").rglob(DATABASE_FILE)]
    rewritten = {database, database.with_name(f"{database.name}.wal")}
    rewritten |= {path.resolve() for folder in folders for path in (*folder.glob("*.parquet"), folder / DATABASE_FILE)}
    rewritten |= {(place.folder / name).resolve() for name in PAGES}
    gone = {place.folder / "slices", database.with_name(f"{database.name}.tmp")}
    sheets = set() if is_done else {path for pattern in _FILES for path in place.folder.glob(pattern)}
    named: list[str] = []
    packed: list[str] = []
    for path in sorted(place.folder.rglob("*")):
        within = path.relative_to(place.folder)
        is_hidden = any(part.startswith(".") for part in within.parts[:-1])
        if is_hidden or not path.is_file() or path.resolve() in rewritten or not gone.isdisjoint(path.parents):
            continue
        is_named = None if path.suffix.lower() in _PACKED else path not in sheets and _holds(path, spellings)
        if is_named is not False:
            (packed if is_named is None else named).append(within.as_posix())
    return named, packed


def _holds(path: Path, spellings: Collection[bytes]) -> bool | None:
    """Return whether a file holds one of some texts; None if it cannot be read."""
    try:
        if not path.stat().st_size:
            return False
        with path.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(spelling) >= 0 for spelling in spellings)
    except OSError:
        return None


def _delete_from_copy(connection: Any, folder: Path, pending: str) -> None:
    """Write the Parquet files of a copy again without what goes, and its database from them."""
    # of a build that was killed while it published
    for left in folder.glob(".*.writing*"):
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink()
    held = list_tables(connection)
    files = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    columns: dict[str, dict[str, str]] = {}
    for name, path in files.items():
        described = connection.read_parquet(str(path))
        columns[name] = {column: str(kind) for column, kind in zip(described.columns, described.types, strict=True)}
        rule = choose_rule(name, columns[name])
        # a copy may be older than the tables: what the warehouse no longer holds goes
        contents = (
            f"(select {rule.key} from {quote(name)})" if rule.key and name in held else "(select null where false)"
        )
        stays = keep_condition(rule, pending, contents)
        if described.filter(f"not {stays}").limit(1).fetchall():
            with replacing(path) as unfinished:
                relations.write_parquet(described.filter(stays), unfinished)
    # the free blocks of the old file hold what was deleted long ago
    database = folder / DATABASE_FILE
    with replacing(database) as unfinished:
        connection.execute(f"attach '{str(database).replace(chr(39), chr(39) * 2)}' as hcat_copy (read_only)")
        try:
            comments = relations.read_comments(connection, {name: list(found) for name, found in columns.items()})
        finally:
            connection.execute("detach hcat_copy")
        write_database(files, unfinished, comments=comments)


def _rewrite_csv(text: str, gone: Mapping[str, set[str]]) -> str | None:
    """Return a CSV file without the rows that name a deleted id; None if it names none."""
    header = text.removeprefix("\ufeff").partition("\n")[0]
    separator = max(",;\t", key=header.count)
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator))
    names = rows[0] if rows else []
    is_gone = _look_for(names, gone)
    kept = [row for row in rows[1:] if not is_gone(dict(zip(names, row, strict=False)))]
    if len(kept) == len(rows[1:]):
        return None
    written = io.StringIO(newline="")
    end = "\r\n" if "\r\n" in text else "\n"
    csv.writer(written, delimiter=separator, lineterminator=end).writerows([names, *kept])
    return ("\ufeff" if text.startswith("\ufeff") else "") + written.getvalue()


def _rewrite_lines(text: str, gone: Mapping[str, set[str]]) -> str | None:
    """Return JSON Lines without the objects that name a deleted id; None if they name none."""
    is_gone = _look_for(list(_IDS_OF_FILES), gone)
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if not is_gone(_read_object(line))]
    return None if len(kept) == len(lines) else "".join(kept)


def _read_object(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _look_for(names: list[str], gone: Mapping[str, set[str]]) -> Callable[[Mapping[str, Any]], bool]:
    """Return the test whether a record names a deleted id in one of its columns."""
    kinds = [(name, gone.get(kind, set())) for name, kind in _IDS_OF_FILES.items() if name in names]
    return lambda record: any(record.get(name) and hash_id(str(record[name])) in hashes for name, hashes in kinds)
