"""Reading raw logs: every record of every file becomes one landed row, readable or not, so that nothing is lost.

The key of a landed row is made of its file, its content and its occurrence number within the file. A second build
therefore lands only what is new, and a file that has grown lands only its new records.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from hcat.engine import relations
from hcat.engine.columns import schema
from hcat.engine.keys import hash_file, hash_text
from hcat.engine.retention_rules import TOMBSTONES
from hcat.engine.saying import clean_line, say
from hcat.engine.warehouse import quote
from hcat.landing.aliases import find_unread_columns, plain_name
from hcat.landing.calls import CALLS, ENTITIES_OF_CALLS, records_of, unread_content
from hcat.landing.files import (
    FILE_ERRORS,
    ROWS_PER_BATCH,
    RawRecord,
    find_fault,
    read_batches,
    read_column_names,
    read_records,
    say_fault,
)
from hcat.landing.raw_contract import ENTITIES, NUMBER_COLUMNS, SPANS, Entity, canonical_columns, show_record, to_text
from hcat.landing.shapes import (
    SHAPES,
    expand_records,
    explain_no_files,
    find_files,
    find_missing_content,
    find_unread_files,
    head_of,
    join_messages,
    list_names,
    names_of,
    read_partition,
    stem_of,
    suggest,
)
from hcat.landing.tombstones import find_deleted, withhold
from hcat.language.display import clean_label
from hcat.language.text import clean_text

# texts of megabytes must not add up to a batch of gigabytes
_CHARACTERS_PER_BATCH = 1 << 24
_SHOWN_FILES = 12
# at least as many as tell what a file brings
_KEPT_UNREADABLE = 1000
#: Landed rows: metadata, and the contract columns of all entities as text; those of other entities are null.
RECORDS = schema(
    "string: entity record_id source_file source_file_hash record_hash read_error unread_record",
    f"string: {' '.join(dict.fromkeys(name for entity in ENTITIES.values() for name in entity.columns))}",
    "int64: source_row landing_number",
    "bool: is_file_problem is_cleaned",
    "string: read_note",
)


def read_entity(
    entity_name: str, folder: str | Path, landed: Collection[tuple[str, str]] = (), files: Sequence[Path] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the landed rows of every file of an entity."""
    problem = explain_no_logs(folder) if files is None and entity_name == "interactions" else None
    if problem:
        yield _file_problem(ENTITIES[entity_name], str(folder) or "hcat_raw_logs", problem)
        return
    for path in find_files(folder, entity_name) if files is None else files:
        for _, batch in _read_file((entity_name,), path, path.relative_to(folder), landed):
            yield batch


def explain_no_logs(folder: str | Path, has_landed: bool = False) -> str | None:
    """Return why nothing in a folder gives an interaction, in one line; None if something does."""
    sources = [(entity, path) for entity in ("interactions", SPANS) for path in find_files(folder, entity)]
    if has_landed and (sources or (folder != "" and Path(folder).is_dir())):
        return None
    problems = []
    for entity, path in sources:
        place = path.relative_to(folder)
        problem = _open_file((entity,), path, place).problem
        if problem is None:
            return None
        problems.append(f"{clean_text(place.as_posix())} {problem}")
    return "; ".join(problems) or explain_no_files(folder)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A file whose head was read: what is wrong with it, or its records and the first of them."""

    problem: str | None
    records: Iterable[tuple[str, RawRecord]] = ()
    head: Sequence[RawRecord] = ()
    is_of_entity: bool = False


def _open_file(
    names: Sequence[str], path: Path, place: Path, dropped: Counter[tuple[str, str]] | None = None
) -> _Opened:
    """Open a file for the records of some entities, of several if it holds calls."""
    first = names[0]
    stem = stem_of(place) or first
    try:
        if fault := find_fault(path):
            return _Opened(fault)
        records = _read_records(path, place)
        if stem == CALLS:
            head, is_whole, records = head_of(records)
            problem = find_missing_content(head, is_whole)
        named = _without_most_unreadable(expand_records(records, stem, names), dropped)
        if stem == CALLS:
            return _Opened(problem, named, head)
        head, _, records = head_of(row for _, row in named)
        # the header tells the columns even when there are no rows
        columns = read_column_names(path) if SHAPES[stem].expand is None else None
        columns = names_of(head) if columns is None else [*columns, *read_partition(place)]
        problem = find_column_problem(ENTITIES[first], columns) if columns else None
        return _Opened(problem, ((first, row) for row in records), head, is_of_entity=True)
    except FILE_ERRORS as error:
        return _Opened(say_fault(error))


def _read_records(path: Path, place: Path) -> Iterator[RawRecord]:
    """Yield the records of a file, with the fields that their folders state where they have none of their own."""
    partition = read_partition(place)
    records = read_records(path)
    for number, record, error, unread in join_messages(records) if stem_of(place) == CALLS else records:
        if record is not None and partition:
            record = {**record, **{name: value for name, value in partition.items() if record.get(name) is None}}
        yield number, record, error, unread


def _without_most_unreadable(
    records: Iterable[tuple[str, RawRecord]], dropped: Counter[tuple[str, str]] | None
) -> Iterator[tuple[str, RawRecord]]:
    """Yield records with their entity; of those that are unreadable for one reason the first, and count the others."""
    kept: Counter[tuple[str, str]] = Counter()
    for name, row in records:
        if dropped is not None and row[1] is None:
            reason = name, (row[2] or "").split(": ", 1)[0]
            kept[reason] += 1
            if kept[reason] > _KEPT_UNREADABLE:
                dropped[reason] += 1
                continue
        yield name, row


def _read_file(
    names: Sequence[str],
    path: Path,
    place: Path,
    landed: Collection[tuple[str, str]] = (),
    dropped: Counter[tuple[str, str]] | None = None,
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield the landed rows of some entities of a file, or one row if it cannot be read."""
    source_file = clean_text(place.as_posix())
    opened = _Opened(None)
    is_begun = False
    try:
        # nothing that could wait for a writer is opened
        fault = find_fault(path)
        file_hash = "" if fault else hash_file(path)
        if fault or (source_file, file_hash) not in landed:
            opened = _open_file(names, path, place, dropped)
            if opened.problem is None:
                _say_unread(names[0], place, opened.head)
                for each in _to_batches(names, source_file, file_hash, opened.records):
                    yield each
                    is_begun = True
                return
    except FILE_ERRORS as error:
        opened = _Opened(say_fault(error))
    # said once for all entities of a file
    if opened.problem is not None and (
        opened.is_of_entity or is_begun or names[0] == SHAPES[stem_of(place) or names[0]].entities[0]
    ):
        # what was landed of a file before its disk failed is taken back with the build
        message = f"{source_file} {opened.problem}"
        yield names[0], _file_problem(ENTITIES[names[0]], source_file, message, stops_the_build=is_begun)


def read_folder(
    folder: str | Path, without: Collection[str] = (), dropped: Counter[tuple[str, str]] | None = None
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield the landed rows of every file of a folder with the name of their entity."""
    first = ENTITIES_OF_CALLS[0]
    problem = None if SPANS in without or first in without else explain_no_logs(folder)
    if problem:
        yield first, _file_problem(ENTITIES[first], str(folder) or "hcat_raw_logs", problem)
        return
    for entity in ENTITIES:
        for path in find_files(folder, entity):
            place = path.relative_to(folder)
            is_of_calls = stem_of(place) == CALLS
            if entity == first if is_of_calls else entity not in without:
                read = _read_file(ENTITIES_OF_CALLS if is_of_calls else (entity,), path, place, dropped=dropped)
                yield from ((name, batch) for name, batch in read if name not in without)


def read_table(
    entity_name: str, table_name: str, column_names: Sequence[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the landed rows of a warehouse table that stands in for the files of an entity."""
    entity = ENTITIES[entity_name]
    records: Iterable[RawRecord] = (
        row for _, row in expand_records(read_batches(batches), entity_name, (entity_name,))
    )
    if SHAPES[entity_name].expand is not None:
        # what the columns of the entity are is known only when the first records have been expanded
        head, _, records = head_of(records)
        column_names = names_of(head)
    problem = find_column_problem(entity, column_names) if column_names else None
    if problem:
        yield _file_problem(entity, table_name, f"warehouse table '{table_name}' {problem}")
        return
    named = ((entity_name, row) for row in records)
    yield from (batch for _, batch in _to_batches((entity_name,), table_name, table_name, named))


def land(
    session: Any, folder: str, inputs: Any, schema_name: str, landed: str | None, reads_spans: object = True
) -> relations.Streamed:
    """Return the records of all entities that are not landed yet, from their files or from tables of the warehouse.

    Parameters
    ----------
    session : engine session
        The connection of the dbt model.
    folder : str
        Folder of raw logs.
    inputs : relation
        One row per entity whose rows a relation of the warehouse gives instead of files: entity, relation_name (for
        people and in the ids of records), relation (for SQL).
    schema_name : str
        Schema of hcat's tables. On DuckDB its table hcat_deletions names the ids that were deleted on request. A record
        of such an id lands blank.
    landed : str or None
        Name of the table of landed records of earlier builds; None on a first build.
    reads_spans : object
        Whether the module that folds traces is on. Where it is off, their files are named.

    Returns
    -------
    stream
        Rows of :data:`RECORDS`.
    """
    named = {str(row["entity"]): row for row in relations.read_rows(inputs).to_pylist()}
    unknown = sorted(set(named) - set(ENTITIES))
    if unknown:
        message = f"hcat_raw_relations names '{unknown[0]}', which is none of {', '.join(ENTITIES)}"
        number = relations.read_maximum(session, landed, "landing_number") + 1
        return _stream_problem(session, "interactions", "hcat_raw_relations", message, number)
    tombstones = f"{quote(schema_name)}.{TOMBSTONES}"
    # `hcat forget` does not write on Spark yet
    is_spark = relations.is_distributed(session)
    deletions = None if is_spark else relations.read_rows(relations.from_name(session, tombstones))
    unread = find_unread_files(folder) if folder and Path(folder).is_dir() else {}
    if shown := [f"{name} (did you mean {meant}?)" if meant else name for name, meant in unread.items()]:
        more = f" and {len(shown) - _SHOWN_FILES} more" if len(shown) > _SHOWN_FILES else ""
        say(f"hcat: not read: {', '.join(shown[:_SHOWN_FILES])}{more}", is_error=True)
    if str(reads_spans) != "True" and SPANS not in named and (unfolded := find_files(folder, SPANS)):
        names = list_names(path.relative_to(folder).as_posix() for path in unfolded)
        say(f"hcat: not read: {names}: module spans is switched off (hcat_modules: {{spans: true}})", is_error=True)
    streams = [_land_entity(entity, session, folder, named, deletions, landed) for entity in ENTITIES]
    return relations.chain(session, streams, RECORDS)


def _land_entity(
    entity_name: str,
    session: Any,
    folder: str,
    named: Mapping[str, Mapping[str, Any]],
    deletions: pa.Table | None,
    landed: str | None,
) -> relations.Streamed:
    """Return the records of an entity that are not landed yet."""
    done = None if landed is None else f"(select * from {landed} where entity = '{entity_name}')"
    # which build landed a row decides which of two conflicting records came first
    number = relations.read_maximum(session, done, "landing_number") + 1
    if entity_name in named:
        relation_name = str(named[entity_name]["relation_name"])
        try:
            relation = relations.from_name(session, named[entity_name]["relation"])
        except LookupError:
            message = f"hcat_raw_relations: {entity_name} is '{relation_name}', which is no table of the warehouse"
            return _stream_problem(session, entity_name, relation_name, message, number)
        convert = partial(_number, number, read_table, entity_name, relation_name, list(relation.columns))
        streamed = relations.convert_rows(relation, convert, RECORDS, ROWS_PER_BATCH)
    else:
        if entity_name == "interactions" and SPANS not in named:
            problem = explain_no_logs(folder, relations.read_maximum(session, done, "source_row") > 0)
            if problem:
                return _stream_problem(session, entity_name, folder or "hcat_raw_logs", problem, number)
        known = relations.read_pairs(session, done, "source_file", "source_file_hash")
        files = find_files(folder, entity_name)
        parts = [partial(_number, number, read_entity, entity_name, folder, known, [path]) for path in files]
        streamed = relations.read_parts(session, parts, RECORDS)
    pending = relations.stream_pending(session, streamed, done, "record_id")
    if deletions is None:
        return pending
    deleted = find_deleted(deletions, entity_name)
    return relations.stream(RECORDS, (withhold(batch, entity_name, deleted) for batch in pending))


def _number(number: int, read: Callable[..., Iterable[pa.RecordBatch]], *given: Any) -> Iterator[pa.RecordBatch]:
    """Yield what is read with its landing number; a function of the module, since it is sent to other processes."""
    for batch in read(*given):
        index = batch.schema.get_field_index("landing_number")
        yield batch.set_column(index, "landing_number", pa.array([number] * batch.num_rows, pa.int64()))


def _stream_problem(
    session: Any, entity_name: str, source: str, message: str, landing_number: int
) -> relations.Streamed:
    """Return one landed row that says why nothing of an entity can be read."""
    problem = _file_problem(ENTITIES[entity_name], source, message)
    return relations.read_parts(session, [partial(_number, landing_number, iter, [problem])], RECORDS)


def _say_unread(entity_name: str, place: Path, head: Iterable[RawRecord]) -> None:
    """Say on standard error which keys of a file of calls look like content and are not read; once for all entities."""
    if stem_of(place) != CALLS or entity_name != ENTITIES_OF_CALLS[0]:
        return
    records = [record for _, record, _, _ in head if record is not None]
    calls = [call for record in records for call in records_of(record)]
    names = [name for call in calls for name in unread_content(call)]
    if names := names + [name for each in (*calls, *records) for name in find_unread_columns(each)]:
        gold = " (context is what a test case asks about; retrieved passages are named contexts)"
        named = " (a version is application_version, ratings have a file of their own: docs/raw-contract.md)"
        hint = gold if any(plain_name(name) == "context" for name in names) else named
        source_file = clean_text(place.as_posix())
        say(f"hcat: {source_file}: keys that are not read: {list_names(names)}{hint}", is_error=True)


def find_column_problem(entity: Entity, names: Sequence[str]) -> str | None:
    """Return what is wrong with the columns of a source, worded to follow its name; None when nothing is wrong."""
    columns = canonical_columns(entity, names)
    repeated = next((name for name in names if name in columns and names.count(name) > 1), None)
    if repeated:
        return f"has the column '{clean_label(repeated)}' twice"
    missing = [name for name in entity.required if name not in columns.values()]
    if not missing:
        return None
    others = [name for name in names if name not in columns]
    meant = [name for name in others if suggest(name, missing)]
    question = f"; did you mean {clean_label(meant[0])}?" if meant else ""
    listed = ", ".join(f"'{name}'" for name in missing)
    return f"has no column {listed} (found: {list_names(names)}{question})"


def _to_batches(
    names: Sequence[str], source_file: str, file_hash: str, records: Iterable[tuple[str, RawRecord]]
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield records as landed rows with their entity, in batches of bounded size."""
    landed = {name: _LandedRows(ENTITIES[name], source_file, file_hash) for name in names}
    for name, record in records:
        if landed[name].add(record):
            yield name, landed[name].take()
    yield from ((name, rows.take()) for name, rows in landed.items() if rows.count)


_FACTS = ("record_id", "record_hash", "read_error", "unread_record", "source_row", "is_cleaned", "read_note")


class _LandedRows:
    """Landed rows of one entity of one source, column by column, until there are enough for a batch."""

    def __init__(self, entity: Entity, source_file: str, file_hash: str) -> None:
        self._entity = entity
        self._source_file = source_file
        self._file_hash = file_hash
        self._occurrences: Counter[str] = Counter()
        # names of a record -> name, column and whether it holds JSON, in the order of the columns
        self._mappings: dict[tuple[str, ...], list[tuple[str, str, bool]]] = {}
        self._values: list[dict[str, str]] = []
        self._facts: list[tuple[Any, ...]] = []
        self._count_characters = 0

    @property
    def count(self) -> int:
        """Rows since the last batch."""
        return len(self._values)

    def add(self, raw: RawRecord) -> bool:
        """Add a record, readable or not; return whether there are enough rows, or enough text, for a batch."""
        number, record, error, unread = raw
        values: dict[str, str] = {}
        is_cleaned = False
        note = None
        if record is not None:
            note, error = error, None
            try:
                values, is_cleaned = self._read(record)
            except (ValueError, RecursionError) as problem:
                values = {}
                error, unread = f"unreadable value: {problem}", show_record(record)
        unread = None if unread is None else clean_text(unread)
        beside = self._entity.beside_content
        content = [f"{name}={value}" for name, value in values.items() if name not in beside]
        record_hash = hash_text(*content, unread or "")
        self._occurrences[record_hash] += 1
        record_id = hash_text(self._source_file, record_hash, str(self._occurrences[record_hash]))
        # in the order of _FACTS
        self._facts.append((record_id, record_hash, error, unread, number, is_cleaned, note))
        self._values.append(values)
        self._count_characters += len(unread or "") + sum(map(len, values.values()))
        return self.count == ROWS_PER_BATCH or self._count_characters >= _CHARACTERS_PER_BATCH

    def _read(self, record: Mapping[str, Any]) -> tuple[dict[str, str], bool]:
        """Return the values of a record that are not null, by column, and whether cleaning changed any."""
        names = tuple(record)
        if names not in self._mappings:
            columns = canonical_columns(self._entity, names)
            read = [(name, column, column in self._entity.json) for name, column in columns.items()]
            self._mappings[names] = sorted(read, key=lambda field: self._entity.columns.index(field[1]))
        values: dict[str, str] = {}
        is_cleaned = False
        for name, column, is_json in self._mappings[names]:
            value = record[name]
            if value is None:
                continue
            if isinstance(value, float) and not math.isfinite(value) and column not in NUMBER_COLUMNS:
                # NaN stands for nothing; where a number is due, staging gives the reason
                continue
            text = _fold_json(value) if is_json else value if isinstance(value, str) else to_text(value)
            if text is not None:
                cleaned = values[column] = clean_text(text)
                is_cleaned = is_cleaned or cleaned != text
        return values, is_cleaned

    def take(self) -> pa.RecordBatch:
        """Return the rows since the last batch."""
        same = {
            "entity": self._entity.name,
            "source_file": self._source_file,
            "source_file_hash": self._file_hash,
            "landing_number": 1,
            "is_file_problem": False,
        }
        own = dict(zip(_FACTS, zip(*self._facts, strict=True), strict=True))
        arrays = [
            pa.repeat(pa.scalar(same[field.name], field.type), self.count)
            if field.name in same
            else pa.array(own.get(field.name) or [row.get(field.name) for row in self._values], field.type)
            for field in RECORDS
        ]
        self._values, self._facts, self._count_characters = [], [], 0
        return pa.RecordBatch.from_arrays(arrays, schema=RECORDS)


def _fold_json(value: Any) -> str | None:
    """Return a JSON value as one spelling of its text, so that the same tags read the same from every format."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            # staging gives the reason
            return str(value)
    return to_text(_clean_values(value))


def _clean_values(value: Any) -> Any:
    """Return a JSON value whose keys and texts are cleaned, with null for NaN and infinity."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _clean_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_values(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _file_problem(entity: Entity, source_file: str, message: str, *, stops_the_build: bool = True) -> pa.RecordBatch:
    """Return the row of a source that cannot be read; one that does not stop the build lands as a rejected record."""
    # names of files and columns may hold what no table of texts can
    source_file, message = clean_text(source_file), clean_line(message)
    row = {
        "entity": entity.name,
        "record_id": hash_text(source_file, message),
        "source_file": source_file,
        "source_file_hash": "",
        "source_row": 0,
        "landing_number": 1,
        "record_hash": hash_text(message),
        "read_error": message,
        "is_file_problem": stops_the_build,
        "is_cleaned": False,
    }
    return pa.RecordBatch.from_pylist([row], schema=RECORDS)
