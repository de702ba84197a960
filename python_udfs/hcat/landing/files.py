"""The formats of files (JSON Lines, CSV, TSV, Parquet), read record by record, so that a broken one costs no other."""

import csv
import json
import re
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import pyarrow as pa

from hcat.engine.files import first_line
from hcat.landing.raw_contract import json_kind, show_record, to_text, without_constants
from hcat.language.text import clean_text

#: Endings of the files that are read.
FORMATS = (".parquet", ".jsonl", ".csv", ".tsv")
#: What a broken file can make a reader raise; anything else is an error of this code and keeps its trace.
FILE_ERRORS = (OSError, ValueError, OverflowError, RecursionError, csv.Error, pa.ArrowException)
ROWS_PER_BATCH = 4096

RawRecord = tuple[int, Mapping[str, Any] | None, str | None, str | None]
"""(row number from 1, record or None, read error, or note on a record, or None, unread text or None)"""

# a longer line is no record but a file without line breaks, which must not fill the memory
_LONGEST_LINE = 1 << 25
_SHOWN_OF_A_LONG_LINE = 1000
_SEPARATORS = (",", ";", "\t", "|")
# what stands for a byte that is no UTF-8
_HALF_OF_A_PAIR = re.compile("[\ud800-\udfff]")
_WRONG_STARTS = {
    b"\xff\xfe": "is UTF-16: save it as UTF-8",
    b"\xfe\xff": "is UTF-16: save it as UTF-8",
    b"\x1f\x8b": "is compressed: unpack it",
    b"\x28\xb5\x2f\xfd": "is compressed: unpack it",
}


def read_records(path: Path) -> Iterator[RawRecord]:
    """Yield the records of a file by its ending; unreadable ones have a read error."""
    reader = {".jsonl": _read_jsonl, ".json": _read_json, ".parquet": _read_parquet}.get(path.suffix, _read_csv)
    yield from reader(path)


def read_column_names(path: Path) -> list[str] | None:
    """Return the columns that the head of a file names, even when it has no rows; None for JSON."""
    if path.suffix in (".jsonl", ".json"):
        return None
    if path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        return list(parquet.read_schema(path).names)
    with _open_csv(path) as handle:
        return [name.strip() for name in next(csv.reader(handle, strict=True, delimiter=_find_separator(path)), [])]


def find_fault(path: Path) -> str | None:
    """Return why a file cannot be read record by record, worded to follow its name, or None."""
    if path.is_dir():
        return "is a folder without a file that is read"
    if path.exists() and not path.is_file():
        return "is neither a file nor a folder"
    if path.suffix == ".parquet":
        return None
    with path.open("rb") as handle:
        start = handle.read(4096)
    wrong = next((fault for mark, fault in _WRONG_STARTS.items() if start.startswith(mark)), None)
    if wrong is None and path.suffix == ".jsonl":
        start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
        first = start.split(b"\n", 1)[0].strip()
        if first in (b"{", b"[", b"[{") or start.startswith(b"[{"):
            holds = "one JSON array" if start.startswith(b"[") else "JSON over several lines"
            wrong = f"holds {holds}: JSON Lines have one object per line; convert it with `hcat import`"
    return wrong


def say_fault(error: Exception) -> str:
    """Return what an error says of a file, on one line and without the place of the file on this machine."""
    reason = error.strerror if isinstance(error, OSError) else None
    return f"cannot be read: {reason or first_line(error)}"


class _Repeated(dict[str, Any]):
    """An object with a key that stands in it twice; the last value counts."""

    key = ""


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeated = _Repeated(pairs)
    repeated.key = Counter(name for name, _ in pairs).most_common(1)[0][0]
    return repeated


# one decoder for all lines: making one costs as much as using it
_DECODE = json.JSONDecoder(object_pairs_hook=_make_object).decode
# JSON does not know these, and tools write them for what is missing
_CONSTANTS = ("NaN", "Infinity")


def read_json(text: str) -> Any:
    """Return the value of a JSON text with null for NaN and infinity; :func:`note_on` tells what else was lost."""
    value = _DECODE(text)
    return without_constants(value) if any(name in text for name in _CONSTANTS) else value


def note_on(value: Any) -> str | None:
    """Return what was lost while a JSON value was read, with the key behind a colon; None if nothing was."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, _Repeated):
            key = clean_text(each.key)[:60]
            return f"a JSON key stands twice in one object, and the last value counts: {key}"
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        waiting += [item for item in inner if isinstance(item, dict | list)]
    return None


def _read_jsonl(path: Path) -> Iterator[RawRecord]:
    """Yield the records of a JSON Lines file; blank lines are skipped, unreadable ones have a read error."""
    with path.open("rb") as handle:
        for number, (line, size) in enumerate(_read_lines(handle), start=1):
            if not line.strip():
                continue
            if size > len(line):
                yield number, None, _say_long(size), line[:_SHOWN_OF_A_LONG_LINE].decode("utf-8", "replace")
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                message = f"invalid UTF-8 at byte {error.start} of the row"
                yield number, None, message, line.decode("utf-8", "replace").rstrip("\r\n")
                continue
            try:
                record = read_json(text)
            except (ValueError, RecursionError) as error:
                is_behind = "{" in text and text.lstrip()[:1] not in ("{", "[")
                message = "text stands before the JSON object: cut it off" if is_behind else f"malformed JSON: {error}"
                yield number, None, message, text.rstrip("\r\n")
                continue
            if isinstance(record, dict):
                yield number, record, note_on(record), None
            else:
                yield number, None, f"not a JSON object but {json_kind(record)}", text.rstrip("\r\n")


def _read_json(path: Path) -> Iterator[RawRecord]:
    """Yield the records of a JSON file: an object per line, streamed, or one document, an object or a list of them."""
    with path.open("rb") as handle:
        start = handle.readline()
    try:
        is_object_a_line = isinstance(json.loads(start.decode("utf-8-sig")), dict)
    except (ValueError, RecursionError):
        is_object_a_line = False
    if is_object_a_line:
        yield from _read_jsonl(path)
        return
    document = read_json(path.read_text(encoding="utf-8-sig"))
    for number, record in enumerate(document if isinstance(document, list) else [document], start=1):
        if isinstance(record, dict):
            yield number, record, note_on(record), None
        else:
            yield number, None, f"not a JSON object but {json_kind(record)}", to_text(record)


def _say_long(size: int) -> str:
    return f"a line of {size / 1e6:.1f} MB, at most {_LONGEST_LINE / 1e6:.1f} MB are read: cut its texts"


def _read_lines(handle: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield each line with its size in bytes; of a line that is too long, only the start is kept."""
    while line := handle.readline(_LONGEST_LINE):
        size = len(line)
        end = line
        while not end.endswith(b"\n") and (end := handle.readline(_LONGEST_LINE)):
            size += len(end)
        yield line, size


def _open_csv(path: Path) -> TextIO:
    # surrogateescape keeps undecodable bytes visible as lone surrogates, so that one bad row does not lose the file
    return path.open("r", encoding="utf-8-sig", errors="surrogateescape", newline="")


def _find_separator(path: Path) -> str:
    """Return what separates the cells: a tab in *.tsv; in *.csv a comma, unless the header has none of its own."""
    if path.suffix == ".tsv":
        return "\t"
    with _open_csv(path) as handle:
        header = handle.readline()
    counts = {mark: len(next(csv.reader([header], delimiter=mark), [])) for mark in _SEPARATORS}
    return "," if counts[","] > 1 else max(_SEPARATORS, key=lambda mark: counts[mark])


def _read_csv(path: Path) -> Iterator[RawRecord]:
    """Yield the records of a CSV or TSV file with a header; unreadable ones have a read error."""
    csv.field_size_limit(sys.maxsize)
    separator = _find_separator(path)
    # lines can be taken back, so that a broken record costs its first line and not the file
    waiting: deque[str] = deque()
    current: list[str] = []

    def read_lines() -> Iterator[str]:
        while line := waiting.popleft() if waiting else next(handle, ""):
            current.append(line)
            yield line

    with _open_csv(path) as handle:
        rows = csv.reader(read_lines(), strict=True, delimiter=separator)
        names = [name.strip() for name in next(rows, [])]
        number = 0
        while True:
            current.clear()
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                number += 1
                waiting.extendleft(reversed(current[1:]))
                rows = csv.reader(read_lines(), strict=True, delimiter=separator)
                yield number, None, f"malformed CSV: {error}", _show_bytes(current[0])
                continue
            if not row:
                continue
            number += 1
            if _HALF_OF_A_PAIR.search("".join(row)):
                yield number, None, "invalid UTF-8 in the row", _show_bytes("".join(current))
            elif (size := sum(map(len, row))) > _LONGEST_LINE:
                yield number, None, _say_long(size), current[0][:_SHOWN_OF_A_LONG_LINE]
            elif len(row) != len(names):
                message = f"{len(row)} fields where the header has {len(names)}"
                yield number, None, message, _show_bytes("".join(current))
            else:
                # CSV cannot tell empty from null: an empty field is null
                yield number, {name: value or None for name, value in zip(names, row, strict=True)}, None, None


def _show_bytes(text: str) -> str:
    """Return a line read with surrogateescape, undecodable bytes shown as replacement characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").rstrip("\r\n")


def _read_parquet(path: Path) -> Iterator[RawRecord]:
    import pyarrow.parquet as parquet

    # a file that breaks off in the middle is rejected whole, and unpacking it costs little beside making records
    for _ in parquet.ParquetFile(path).iter_batches(batch_size=ROWS_PER_BATCH):
        pass
    yield from read_batches(parquet.ParquetFile(path).iter_batches(batch_size=ROWS_PER_BATCH))


def read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[RawRecord]:
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
    if any(_holds_floats(kind) for kind in batch.schema.types):
        rows = [without_constants(row) for row in rows]
    for row in rows:
        row.update({name: dict(row[name]) for name in maps if row[name] is not None})
    return rows


def _holds_floats(kind: pa.DataType) -> bool:
    """Return whether values of a type are floats or hold some."""
    inner = [kind.field(index).type for index in range(kind.num_fields)]
    return bool(pa.types.is_floating(kind)) or any(map(_holds_floats, inner))


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
            unreadable.append(f"unreadable value in {name}: {first_line(error)}")
            values[name] = str(row.column(name).cast(pa.int64()).to_pylist()[0])
    if unreadable:
        return 0, None, "; ".join(unreadable), show_record(values)
    return 0, values, None, None
