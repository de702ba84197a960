"""Reading raw logs: every record of every file becomes one landed row, readable or not, so that nothing is lost.

A landed row is keyed by its file, its content and its occurrence number within the file, so that a second build lands
only what is new, and a file that has grown lands only its new records.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from hcat import relations
from hcat.raw_contract import CALLS, ENTITIES, Entity, RecordError, canonical_columns, expand_call, hash_text, to_text
from hcat.text import clean_text

_FORMATS = (".parquet", ".jsonl", ".csv")
_ROWS_PER_BATCH = 4096
_METADATA_FIELDS = (
    ("record_id", pa.string()),
    ("source_file", pa.string()),
    ("source_file_hash", pa.string()),
    ("record_hash", pa.string()),
    ("read_error", pa.string()),
    ("unread_record", pa.string()),
    ("source_row", pa.int64()),
    ("landing_number", pa.int64()),
    ("is_file_problem", pa.bool_()),
    ("is_cleaned", pa.bool_()),
)

RawRecord = tuple[int, Mapping[str, Any] | None, str | None, str | None]
"""(row number from 1, record or None, read error or None, unread text or None)"""


def landed_schema(entity_name: str) -> pa.Schema:
    """Return the Arrow schema of the landed rows of an entity: metadata, then every contract column as text."""
    entity = ENTITIES[entity_name]
    return pa.schema([*_METADATA_FIELDS[:6], *[(name, pa.string()) for name in entity.columns], *_METADATA_FIELDS[6:]])


def find_files(folder: str | Path, entity_name: str) -> list[Path]:
    """Return the files of an entity in ``folder``: ``<entity>.<format>``, ``<entity>_*.<format>``, ``<entity>/*``."""
    root = Path(folder)
    stems = [entity_name, *([CALLS] if entity_name in ("interactions", "retrievals", "queries") else [])]
    found: set[Path] = set()
    for stem in stems:
        for suffix in _FORMATS:
            found.update(root.glob(f"{stem}{suffix}"))
            found.update(root.glob(f"{stem}_*{suffix}"))
            found.update(root.glob(f"{stem}/*{suffix}"))
    return sorted(path for path in found if path.is_file())


def read_entity(
    entity_name: str,
    folder: str | Path,
    is_landed: Callable[[str, str], bool] = lambda source_file, source_file_hash: False,
) -> Iterator[pa.RecordBatch]:
    """Yield the landed rows of every file of an entity.

    Parameters
    ----------
    entity_name : str
        Key of :data:`hcat.raw_contract.ENTITIES`.
    folder : path
        Folder of raw logs.
    is_landed : callable (source_file, source_file_hash) -> bool
        Tells files that were landed whole by an earlier build; they are not read again.

    Notes
    -----
    Never raises on the content of a file. A missing file or column is a row with ``is_file_problem``, which the model
    turns into a one-line error: a stack trace is no message.
    """
    entity = ENTITIES[entity_name]
    root = Path(folder)
    files = find_files(root, entity_name)
    if not files and entity_name == "interactions":
        expected = "interactions.parquet, interactions.jsonl, interactions.csv or calls.jsonl"
        yield _file_problem(entity, str(folder), f"folder '{folder}' (HCAT_RAW_LOGS) has no file {expected}")
        return
    for path in files:
        source_file = path.relative_to(root).as_posix()
        file_hash = _hash_file(path)
        if not is_landed(source_file, file_hash):
            yield from _land_file(entity, path, source_file, file_hash)


def land_rows(entity_name: str, source_name: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[pa.RecordBatch]:
    """Yield the landed rows of records that come from a warehouse table instead of a file."""
    records = ((number, row, None, None) for number, row in enumerate(rows, start=1))
    yield from _to_batches(ENTITIES[entity_name], source_name, source_name, records)


def land(
    entity_name: str, session: Any, folder: str, raw_relations: Mapping[str, str] | None, landed: str | None
) -> pa.RecordBatchReader:
    """Return the records of an entity that are not landed yet, from its files or from a warehouse table.

    Parameters
    ----------
    entity_name : str
        Key of :data:`hcat.raw_contract.ENTITIES`.
    session : engine session
        The connection of the dbt model.
    folder : str
        Folder of raw logs.
    raw_relations : mapping or None
        Entity -> name of a warehouse table that replaces its files.
    landed : str or None
        Name of the landed table of earlier builds; None on a first build.
    """
    schema = landed_schema(entity_name)
    relation_name = (raw_relations or {}).get(entity_name)
    if relation_name:
        rows = relations.read_dictionaries(relations.from_name(session, relation_name), _ROWS_PER_BATCH)
        batches = land_rows(entity_name, relation_name, rows)
    else:
        done = relations.read_pairs(session, landed, "source_file", "source_file_hash")
        batches = read_entity(entity_name, folder, is_landed=lambda name, file_hash: (name, file_hash) in done)
    # which build landed a row decides which of two conflicting records came first
    landing_number = relations.read_maximum(session, landed, "landing_number") + 1
    numbered = (_with_landing_number(batch, landing_number) for batch in batches)
    return relations.stream_pending(session, schema, numbered, landed, "record_id")


def _with_landing_number(batch: pa.RecordBatch, landing_number: int) -> pa.RecordBatch:
    index = batch.schema.get_field_index("landing_number")
    return batch.set_column(index, "landing_number", pa.array([landing_number] * batch.num_rows, pa.int64()))


def _hash_file(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _land_file(entity: Entity, path: Path, source_file: str, file_hash: str) -> Iterator[pa.RecordBatch]:
    is_calls = path.stem.split("_")[0] == CALLS or path.parent.name == CALLS
    reader = {".jsonl": _read_jsonl, ".csv": _read_csv, ".parquet": _read_parquet}[path.suffix]
    try:
        records: Iterable[RawRecord] = reader(path)
        if is_calls:
            records = _expand_calls(records, entity.name)
        else:
            names, records = _peek_names(records)
            missing = [name for name in entity.required if name not in canonical_columns(entity, names).values()]
            if names and missing:
                listed = ", ".join(f"'{name}'" for name in missing)
                yield _file_problem(entity, source_file, f"{source_file} has no column {listed}")
                return
        yield from _to_batches(entity, source_file, file_hash, records)
    except (OSError, pa.ArrowInvalid, csv.Error) as error:
        yield _file_problem(entity, source_file, f"{source_file} cannot be read: {str(error).splitlines()[0]}")


def _peek_names(records: Iterable[RawRecord]) -> tuple[list[str], Iterator[RawRecord]]:
    """Return all names seen in the first records (up to 1,000) and the records from the start."""
    iterator = iter(records)
    names: dict[str, None] = {}
    head: list[RawRecord] = []
    for row in iterator:
        head.append(row)
        names.update(dict.fromkeys(row[1] or ()))
        if len(head) == 1000:
            break

    def replay() -> Iterator[RawRecord]:
        yield from head
        yield from iterator

    return list(names), replay()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _read_jsonl(path: Path) -> Iterator[RawRecord]:
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                message = f"invalid UTF-8 at byte {error.start} of the row"
                yield number, None, message, line.decode("utf-8", "replace").rstrip("\r\n")
                continue
            try:
                record = json.loads(text, parse_constant=_refuse_constant)
            except (ValueError, RecursionError) as error:
                yield number, None, f"malformed JSON: {error}", text.rstrip("\r\n")
                continue
            if isinstance(record, dict):
                yield number, record, None, None
            else:
                yield number, None, f"not a JSON object but {type(record).__name__}", text.rstrip("\r\n")


def _read_csv(path: Path) -> Iterator[RawRecord]:
    csv.field_size_limit(sys.maxsize)
    # surrogateescape keeps undecodable bytes visible as lone surrogates, so that one bad row does not lose the file
    with path.open("r", encoding="utf-8-sig", errors="surrogateescape", newline="") as handle:
        rows = csv.reader(handle, strict=True)
        header = next(rows, None)
        if header is None:
            return
        names = [name.strip() for name in header]
        # a file with a header and no rows still shows its columns
        count = 0
        for count, row in enumerate(rows, start=1):
            if not row:
                continue
            text = ",".join(row)
            if any("\udc80" <= character <= "\udcff" for character in text):
                yield (
                    count,
                    None,
                    "invalid UTF-8 in the row",
                    text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
                )
            elif len(row) != len(names):
                yield count, None, f"{len(row)} fields where the header has {len(names)}", text
            else:
                # CSV cannot tell empty from null: an empty field is null
                yield (
                    count,
                    {name: value if value != "" else None for name, value in zip(names, row, strict=True)},
                    None,
                    None,
                )


def _read_parquet(path: Path) -> Iterator[RawRecord]:
    import pyarrow.parquet as parquet

    number = 0
    for batch in parquet.ParquetFile(path).iter_batches(batch_size=_ROWS_PER_BATCH):
        try:
            rows: list[Mapping[str, Any] | None] = batch.to_pylist()
        except UnicodeDecodeError:
            rows = [_decode_row(batch.slice(index, 1)) for index in range(batch.num_rows)]
        for row in rows:
            number += 1
            yield (number, row, None, None) if row is not None else (number, None, "invalid UTF-8 in the row", None)


def _decode_row(row: pa.RecordBatch) -> Mapping[str, Any] | None:
    try:
        return dict(row.to_pylist()[0])
    except UnicodeDecodeError:
        return None


def _expand_calls(records: Iterable[RawRecord], entity_name: str) -> Iterator[RawRecord]:
    for number, record, error, unread in records:
        if record is None:
            # an unreadable call is rejected once, as an interaction
            if entity_name == "interactions":
                yield number, None, error, unread
            continue
        try:
            expanded = list(expand_call(record, entity_name))
        except RecordError as problem:
            yield number, None, str(problem), to_text(record)
            continue
        for item in expanded:
            yield number, item, None, None


def _to_batches(
    entity: Entity, source_file: str, file_hash: str, records: Iterable[RawRecord]
) -> Iterator[pa.RecordBatch]:
    schema = landed_schema(entity.name)
    occurrences: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for number, record, error, unread in records:
        row: dict[str, Any] = dict.fromkeys(entity.columns)
        is_cleaned = False
        if record is not None:
            try:
                for name, column in canonical_columns(entity, record).items():
                    text = to_text(record[name])
                    if text is not None:
                        row[column] = clean_text(text)
                        is_cleaned = is_cleaned or row[column] != text
            except (ValueError, RecursionError) as problem:
                row = dict.fromkeys(entity.columns)
                error, unread = f"unreadable value: {problem}", repr(record)
        unread = None if unread is None else clean_text(unread)
        record_hash = hash_text(
            *[f"{name}={row[name]}" for name in entity.columns if row[name] is not None], unread or ""
        )
        occurrences[record_hash] += 1
        rows.append(
            row
            | {
                "record_id": hash_text(source_file, record_hash, str(occurrences[record_hash])),
                "source_file": source_file,
                "source_file_hash": file_hash,
                "source_row": number,
                "landing_number": 1,
                "record_hash": record_hash,
                "read_error": error,
                "unread_record": unread,
                "is_file_problem": False,
                "is_cleaned": is_cleaned,
            }
        )
        if len(rows) == _ROWS_PER_BATCH:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _file_problem(entity: Entity, source_file: str, message: str) -> pa.RecordBatch:
    row: dict[str, Any] = dict.fromkeys(entity.columns)
    row |= {
        "record_id": hash_text(source_file, message),
        "source_file": source_file,
        "source_file_hash": "",
        "source_row": 0,
        "landing_number": 1,
        "record_hash": hash_text(message),
        "read_error": message,
        "unread_record": None,
        "is_file_problem": True,
        "is_cleaned": False,
    }
    return pa.RecordBatch.from_pylist([row], schema=landed_schema(entity.name))
