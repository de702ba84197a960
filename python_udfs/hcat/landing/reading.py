"""Reading raw logs: every record of every file becomes one landed row, readable or not, so that nothing is lost.

The key of a landed row is made of its file, its content and its occurrence number within the file. A second build
therefore lands only what is new, and a file that has grown lands only its new records.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from hcat.engine import relations
from hcat.engine.keys import hash_file, hash_text
from hcat.landing.raw_contract import (
    CALLS,
    ENTITIES,
    SPANS,
    Entity,
    RecordError,
    canonical_columns,
    expand_call,
    to_text,
)
from hcat.landing.spans import expand_spans
from hcat.language.text import clean_text

_FORMATS = (".parquet", ".jsonl", ".csv")
_ROWS_PER_BATCH = 4096
# texts of megabytes must not add up to a batch of gigabytes
_CHARACTERS_PER_BATCH = 1 << 24
# what a broken file can make a reader raise; anything else is an error of this code and keeps its trace
_FILE_ERRORS = (OSError, ValueError, OverflowError, csv.Error, pa.ArrowException)
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
    """Return the Arrow schema of the landed rows of an entity: metadata and every contract column as text.

    Examples
    --------
    >>> landed_schema("documents").names[6:10]
    ['document_id', 'title', 'topic', 'text']
    """
    entity = ENTITIES[entity_name]
    return pa.schema([*_METADATA_FIELDS[:6], *[(name, pa.string()) for name in entity.columns], *_METADATA_FIELDS[6:]])


def find_files(folder: str | Path, entity_name: str) -> list[Path]:
    """Return the files of an entity in a folder: ``<entity>.<format>``, ``<entity>_*.<format>``, ``<entity>/*``.

    Parameters
    ----------
    folder : path
        Folder of raw logs.
    entity_name : str
        Key of :data:`hcat.landing.raw_contract.ENTITIES`; interactions, retrievals and queries also come from calls.
    """
    root = Path(folder)
    stems = [entity_name, *([CALLS] if entity_name in ("interactions", "retrievals", "queries") else [])]
    formats = (*_FORMATS, ".json") if entity_name == SPANS else _FORMATS
    found: set[Path] = set()
    for stem in stems:
        for suffix in formats:
            found.update(root.glob(f"{stem}{suffix}"))
            found.update(root.glob(f"{stem}_*{suffix}"))
            found.update(root.glob(f"{stem}/*{suffix}"))
    return sorted(path for path in found if path.is_file())


def read_entity(
    entity_name: str,
    folder: str | Path,
    is_landed: Callable[[str, str], bool] = lambda source_file, source_file_hash: False,
    files: Sequence[Path] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the landed rows of every file of an entity.

    Parameters
    ----------
    entity_name : str
        Key of :data:`hcat.landing.raw_contract.ENTITIES`.
    folder : path
        Folder of raw logs.
    is_landed : callable (source_file, source_file_hash) -> bool
        True for files that an earlier build landed whole; they are not read again.
    files : sequence of Path or None
        Files of the entity; None stands for those of :func:`find_files`.

    Notes
    -----
    Never raises on the content of a file. A missing file or column is a row with ``is_file_problem``, which the model
    turns into an error of one line instead of a stack trace.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = '{"id": "i1", "answer": "Two weeks."}\\n{"id":\\n'
    ...     _ = (Path(folder) / "interactions.jsonl").write_text(lines)
    ...     rows = [row for batch in read_entity("interactions", folder) for row in batch.to_pylist()]
    >>> [(row["interaction_id"], row["answer"], row["unread_record"]) for row in rows]
    [('i1', 'Two weeks.', None), (None, None, '{"id":')]
    """
    entity = ENTITIES[entity_name]
    root = Path(folder)
    files = find_files(root, entity_name) if files is None else files
    if not files and entity_name == "interactions":
        expected = "interactions.parquet, interactions.jsonl, interactions.csv or calls.jsonl"
        yield _file_problem(entity, str(folder), f"folder '{folder}' (HCAT_RAW_LOGS) has no file {expected}")
        return
    for path in files:
        source_file = clean_text(path.relative_to(root).as_posix())
        try:
            file_hash = hash_file(path)
            if not is_landed(source_file, file_hash):
                yield from _land_file(entity, path, source_file, file_hash)
        except _FILE_ERRORS as error:
            yield _file_problem(entity, source_file, f"{source_file} cannot be read: {_first_line(error)}")


def read_table(
    entity_name: str, table_name: str, column_names: Sequence[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the landed rows of a warehouse table that stands in for the files of an entity.

    Parameters
    ----------
    entity_name : str
        Key of :data:`hcat.landing.raw_contract.ENTITIES`.
    table_name : str
        Name of the table, shown as the source of every row.
    column_names : sequence of str
        Columns of the table; a required one that is missing is a row with ``is_file_problem``.
    batches : iterable of RecordBatch
        Rows of the table.
    """
    entity = ENTITIES[entity_name]
    records = _read_batches(batches)
    if entity_name == SPANS:
        column_names, records = _peek_names(_expand(records, expand_spans))
    problem = _find_column_problem(entity, column_names)
    if column_names and problem:
        yield _file_problem(entity, table_name, f"warehouse table '{table_name}' {problem}")
        return
    yield from _to_batches(entity, table_name, table_name, records)


def land(
    entity_name: str, session: Any, folder: str, raw_relations: Mapping[str, str] | None, landed: str | None
) -> relations.Streamed:
    """Return the records of an entity that are not landed yet, from its files or from a warehouse table.

    Parameters
    ----------
    entity_name : str
        Key of :data:`hcat.landing.raw_contract.ENTITIES`.
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
    # which build landed a row decides which of two conflicting records came first
    landing_number = relations.read_maximum(session, landed, "landing_number") + 1
    unknown = sorted(set(raw_relations or {}) - set(ENTITIES))
    if unknown:
        message = f"hcat_raw_relations names '{unknown[0]}', which is none of {', '.join(ENTITIES)}"
        streamed = _stream_problem(session, entity_name, "hcat_raw_relations", message, landing_number)
    elif relation_name:
        try:
            relation = relations.from_name(session, relation_name)
        except LookupError:
            message = f"hcat_raw_relations: {entity_name} is '{relation_name}', which is no table of the warehouse"
            streamed = _stream_problem(session, entity_name, relation_name, message, landing_number)
        else:
            convert = partial(_number_table, entity_name, relation_name, list(relation.columns), landing_number)
            streamed = relations.convert_rows(relation, convert, schema, _ROWS_PER_BATCH)
    else:
        done = relations.read_pairs(session, landed, "source_file", "source_file_hash")
        # without files, one part still says what is missing
        shares = [[path] for path in find_files(folder, entity_name)] or [[]]
        parts = [partial(_number_files, entity_name, folder, done, landing_number, share) for share in shares]
        streamed = relations.read_parts(session, parts, schema)
    return relations.stream_pending(session, streamed, landed, "record_id")


def _number_files(
    entity_name: str, folder: str, done: set[tuple[str, str]], landing_number: int, files: Sequence[Path]
) -> Iterator[pa.RecordBatch]:
    """Yield the landed rows of some files; a function of the module, since it is sent to other processes."""
    for batch in read_entity(entity_name, folder, lambda name, file_hash: (name, file_hash) in done, files):
        yield _with_landing_number(batch, landing_number)


def _number_table(
    entity_name: str,
    table_name: str,
    column_names: Sequence[str],
    landing_number: int,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield the landed rows of a warehouse table with their landing number."""
    for batch in read_table(entity_name, table_name, column_names, batches):
        yield _with_landing_number(batch, landing_number)


def _stream_problem(
    session: Any, entity_name: str, source: str, message: str, landing_number: int
) -> relations.Streamed:
    """Return one landed row that says why nothing of an entity can be read."""
    problem = _with_landing_number(_file_problem(ENTITIES[entity_name], source, message), landing_number)
    return relations.read_parts(session, [partial(iter, [problem])], landed_schema(entity_name))


def _with_landing_number(batch: pa.RecordBatch, landing_number: int) -> pa.RecordBatch:
    index = batch.schema.get_field_index("landing_number")
    return batch.set_column(index, "landing_number", pa.array([landing_number] * batch.num_rows, pa.int64()))


def _land_file(entity: Entity, path: Path, source_file: str, file_hash: str) -> Iterator[pa.RecordBatch]:
    """Yield the landed rows of one file, or one row with the problem of its columns."""
    is_calls = path.stem.split("_")[0] == CALLS or path.parent.name == CALLS
    reader = {".jsonl": _read_jsonl, ".csv": _read_csv, ".parquet": _read_parquet, ".json": _read_json}[path.suffix]
    records: Iterable[RawRecord] = reader(path)
    if is_calls:
        records = _expand_calls(records, entity.name)
    else:
        if entity.name == SPANS:
            names, records = _peek_names(_expand(records, expand_spans))
        elif path.suffix == ".jsonl":
            names, records = _peek_names(records)
        else:
            # the header tells the columns even when there are no rows
            names = _read_csv_header(path) if path.suffix == ".csv" else _read_parquet_names(path)
        problem = _find_column_problem(entity, names)
        if names and problem:
            yield _file_problem(entity, source_file, f"{source_file} {problem}")
            return
    yield from _to_batches(entity, source_file, file_hash, records)


def _find_column_problem(entity: Entity, names: Sequence[str]) -> str | None:
    """Return what is wrong with the columns of a source, worded to follow its name; None when nothing is wrong."""
    known = [name for name in names if name in entity.columns or name in entity.aliases]
    repeated = next((name for name in known if known.count(name) > 1), None)
    if repeated:
        return f"has the column '{repeated}' twice"
    present = set(canonical_columns(entity, list(names)).values())
    missing = ", ".join(f"'{name}'" for name in entity.required if name not in present)
    return f"has no column {missing}" if missing else None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


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
    """Yield the records of a JSON Lines file; blank lines are skipped, unreadable ones have a read error."""
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


def _read_json(path: Path) -> Iterator[RawRecord]:
    """Yield the records of a JSON file: an object per line, streamed, or one document, an object or a list of them."""
    with path.open("rb") as handle:
        first_line = handle.readline()
    try:
        is_object_a_line = isinstance(json.loads(first_line.decode("utf-8-sig")), dict)
    except ValueError:
        is_object_a_line = False
    if is_object_a_line:
        yield from _read_jsonl(path)
        return
    document = json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=_refuse_constant)
    for number, record in enumerate(document if isinstance(document, list) else [document], start=1):
        if isinstance(record, dict):
            yield number, record, None, None
        else:
            yield number, None, f"not a JSON object but {type(record).__name__}", to_text(record)


class _TakeBackLines:
    """Lines of a file that can be taken back, so that a broken CSV record costs its first line and not the file."""

    def __init__(self, handle: TextIO) -> None:
        self._handle = handle
        self._waiting: deque[str] = deque()
        self.current: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._waiting.popleft() if self._waiting else next(self._handle)
        self.current.append(line)
        return line

    def take_back_all_but_first(self) -> str:
        """Return the first line read since ``current`` was emptied; the others will be read again."""
        first, *rest = self.current
        self._waiting.extendleft(reversed(rest))
        return first


def _open_csv(path: Path) -> TextIO:
    # surrogateescape keeps undecodable bytes visible as lone surrogates, so that one bad row does not lose the file
    return path.open("r", encoding="utf-8-sig", errors="surrogateescape", newline="")


def _read_csv_header(path: Path) -> list[str]:
    with _open_csv(path) as handle:
        return [name.strip() for name in next(csv.reader(handle, strict=True), [])]


def _read_csv(path: Path) -> Iterator[RawRecord]:
    """Yield the records of a CSV file with a header; unreadable ones have a read error."""
    csv.field_size_limit(sys.maxsize)
    with _open_csv(path) as handle:
        lines = _TakeBackLines(handle)
        rows = csv.reader(lines, strict=True)
        names = [name.strip() for name in next(rows, [])]
        number = 0
        while True:
            lines.current.clear()
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                number += 1
                yield number, None, f"malformed CSV: {error}", _show_bytes(lines.take_back_all_but_first())
                continue
            if not row:
                continue
            number += 1
            if not _is_encodable(row):
                yield number, None, "invalid UTF-8 in the row", _show_bytes("".join(lines.current))
            elif len(row) != len(names):
                yield (
                    number,
                    None,
                    f"{len(row)} fields where the header has {len(names)}",
                    _show_bytes("".join(lines.current)),
                )
            else:
                # CSV cannot tell empty from null: an empty field is null
                yield (
                    number,
                    {name: value if value != "" else None for name, value in zip(names, row, strict=True)},
                    None,
                    None,
                )


def _is_encodable(texts: Sequence[str]) -> bool:
    try:
        "".join(texts).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _show_bytes(text: str) -> str:
    """Return a line read with surrogateescape, undecodable bytes shown as replacement characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").rstrip("\r\n")


def _read_parquet_names(path: Path) -> list[str]:
    import pyarrow.parquet as parquet

    return list(parquet.read_schema(path).names)


def _read_parquet(path: Path) -> Iterator[RawRecord]:
    import pyarrow.parquet as parquet

    yield from _read_batches(parquet.ParquetFile(path).iter_batches(batch_size=_ROWS_PER_BATCH))


def _read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[RawRecord]:
    """Yield the rows of record batches as records."""
    number = 0
    for batch in batches:
        try:
            records: list[RawRecord] = [(0, record, None, None) for record in _to_dictionaries(batch)]
        except (ValueError, OverflowError):
            # one value that Python cannot hold (invalid UTF-8, a date after the year 9999) must not lose its neighbours
            records = [_read_one_row(batch.slice(index, 1)) for index in range(batch.num_rows)]
        for _, record, error, unread in records:
            number += 1
            yield number, record, error, unread


def _to_dictionaries(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return the rows of a batch; a map is a dictionary, as it is in JSON."""
    maps = [name for name, kind in zip(batch.schema.names, batch.schema.types, strict=True) if pa.types.is_map(kind)]
    rows: list[dict[str, Any]] = batch.to_pylist()
    for row in rows:
        row.update({name: dict(row[name]) for name in maps if row[name] is not None})
    return rows


def _read_one_row(row: pa.RecordBatch) -> RawRecord:
    """Return one row as a record, or as unread text with a reason for each value that Python cannot hold."""
    values: dict[str, Any] = {}
    unreadable: list[str] = []
    for name in row.schema.names:
        one = pa.RecordBatch.from_arrays([row.column(name)], names=[name])
        try:
            values.update(_to_dictionaries(one)[0])
        except UnicodeDecodeError:
            unreadable.append(f"invalid UTF-8 in {name}")
            values[name] = row.column(name).cast(pa.large_binary()).to_pylist()[0].decode("utf-8", "replace")
        except (ValueError, OverflowError) as error:
            unreadable.append(f"unreadable value in {name}: {_first_line(error)}")
            values[name] = str(row.column(name).cast(pa.int64()).to_pylist()[0])
    if unreadable:
        return 0, None, "; ".join(unreadable), _show_record(values)
    return 0, values, None, None


def _expand_calls(records: Iterable[RawRecord], entity_name: str) -> Iterator[RawRecord]:
    """Yield the records of one entity that nested calls hold."""
    # an unreadable call is rejected once, as an interaction
    readable = (row for row in records if row[1] is not None or entity_name == "interactions")
    yield from _expand(readable, partial(expand_call, entity_name=entity_name))


def _expand(
    records: Iterable[RawRecord], expand: Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]
) -> Iterator[RawRecord]:
    """Yield the records that each record holds, with its row."""
    for number, record, error, unread in records:
        if record is None:
            yield number, None, error, unread
            continue
        try:
            expanded = list(expand(record))
        except RecordError as problem:
            yield number, None, str(problem), _show_record(record)
            continue
        for item in expanded:
            yield number, item, None, None


def _to_batches(
    entity: Entity, source_file: str, file_hash: str, records: Iterable[RawRecord]
) -> Iterator[pa.RecordBatch]:
    """Yield records as landed rows, in batches of bounded size."""
    schema = landed_schema(entity.name)
    occurrences: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    count_characters = 0
    for number, record, error, unread in records:
        row: dict[str, Any] = dict.fromkeys(entity.columns)
        is_cleaned = False
        if record is not None:
            try:
                for name, column in canonical_columns(entity, record).items():
                    text = _fold_json(record[name]) if column in entity.json_columns else to_text(record[name])
                    if text is not None:
                        row[column] = clean_text(text)
                        is_cleaned = is_cleaned or row[column] != text
            except (ValueError, RecursionError) as problem:
                row = dict.fromkeys(entity.columns)
                error, unread = f"unreadable value: {problem}", _show_record(record)
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
        count_characters += len(unread or "") + sum(len(row[name] or "") for name in entity.columns)
        if len(rows) == _ROWS_PER_BATCH or count_characters >= _CHARACTERS_PER_BATCH:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)
            rows, count_characters = [], 0
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _show_record(record: Mapping[str, Any]) -> str:
    """Return a record for the rejects table: as JSON where JSON can hold it."""
    try:
        return to_text(dict(record)) or ""
    except (ValueError, RecursionError):
        return repr(record)


def _fold_json(value: Any) -> str | None:
    """Return a JSON value as one spelling of its text, so that the same tags read the same from every format.

    Control characters inside it are replaced by spaces; JSON escapes them, so that cleaning the text would miss them.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_constant=_refuse_constant)
        except ValueError:
            # staging gives the reason
            return str(value)
    return to_text(_clean_values(value))


def _clean_values(value: Any) -> Any:
    """Return a JSON value whose keys and texts are cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _clean_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_values(item) for item in value]
    return value


def _file_problem(entity: Entity, source_file: str, message: str) -> pa.RecordBatch:
    """Return the row that stands for a file, table or column that is missing or broken."""
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
