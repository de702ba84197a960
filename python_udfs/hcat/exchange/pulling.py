"""Rows of a warehouse into the folder of raw logs: each row once, however often and wherever a run is killed.

A batch of new rows is one file of logs and one file of digests in ``.pulled`` beside them. The digests are written
first, as pending. They count from the moment at which the logs lie in their place: the next run finds both or neither.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as parquet

from hcat.engine.files import held_alone, replacing
from hcat.engine.fresh_rows import FreshRows, open_parquet
from hcat.engine.keys import hash_text
from hcat.engine.saying import Progress
from hcat.exchange.connections import Warehouse, open_warehouse
from hcat.exchange.settings import Stream
from hcat.landing.raw_contract import ENTITIES, SPANS, canonical_columns
from hcat.landing.shapes import list_names, suggest
from hcat.privacy.masking import mask_text
from hcat.privacy.spans import ENTITY_TYPES
from hcat.privacy.tables import mask_json

#: Folder of the digests. Its name is that of a note, so that no build reads it.
_STATE: Final = ".pulled"
_ROWS: Final = 50_000
_PENDING, _DONE = ".pending", ".parquet"


def pull(streams: dict[str, Stream], target: Warehouse | None, logs: Path, start: Path) -> Iterator[tuple[str, str]]:
    """Yield what was read of each stream into a folder of raw logs, in words; patterns of files count from `start`."""
    if not streams:
        raise ValueError("pull names nothing")
    alone = held_alone(logs / _STATE / "lock", f"another `hcat pull` writes to {logs}")
    with alone, open_warehouse(target) if target else nullcontext() as warehouse:
        for name, stream in streams.items():
            yield "pulled", f"{name}: {_pull_stream(name, stream, warehouse, logs, start)}"


def _pull_stream(name: str, stream: Stream, warehouse: Warehouse | None, logs: Path, start: Path) -> str:
    state, stem = logs / _STATE / name, f"{stream.shape}_{name}"
    state.mkdir(parents=True, exist_ok=True)
    for pending in state.glob(f"*{_PENDING}"):
        # killed between the two names: the logs are there, or this batch never was
        is_there = (logs / f"{stem}_{pending.stem}.parquet").exists()
        pending.replace(pending.with_suffix(_DONE)) if is_there else pending.unlink()
    known = sorted(state.glob(f"*{_DONE}"))
    settings = hash_text(repr((stream.shape, stream.key, stream.columns, stream.leave_out, stream.mask)))
    if known and (state / "settings").read_text() != settings:
        raise ValueError(f"{name} was pulled with other settings: delete {stem}_*.parquet in {logs}, and {state}")
    with replacing(state / "settings") as path:
        path.write_text(settings)
    # files whose digests were deleted keep their names, too
    taken = [path.stem.rpartition("_")[2] for path in (*known, *logs.glob(f"{stem}_*.parquet"))]
    number = max(map(int, taken), default=0)
    fresh, progress, counts = FreshRows(known), Progress(f"pull {name}", None), Counter[str]()
    with _read(name, stream, warehouse, start) as (reader, chosen):
        for batch in reader:
            rows, digests, count_changed = fresh.take(batch, stream.key)
            counts.update(rows=batch.num_rows, new=rows.num_rows, changed=count_changed)
            progress.advance(batch.num_rows)
            if rows.num_rows:
                number += 1
                pending = state / f"{number:06d}{_PENDING}"
                with replacing(pending) as path:
                    parquet.write_table(digests, path)
                named = _mask(rows, stream.mask).rename_columns([chosen[each] for each in rows.column_names])
                with replacing(logs / f"{stem}_{pending.stem}.parquet") as path:
                    parquet.write_table(named, path, compression="zstd")
                pending.replace(pending.with_suffix(_DONE))
    progress.finish()
    changed = f", {counts['changed']:,} of them changed" if counts["changed"] else ""
    return f"{counts['rows']:,} rows read, {counts['new']:,} new{changed}"


@contextmanager
def _read(
    name: str, stream: Stream, warehouse: Warehouse | None, start: Path
) -> Iterator[tuple[Iterable[pa.RecordBatch], dict[str, str]]]:
    """Yield the columns of a stream that are wanted, and their names in the logs."""
    if stream.files:
        relation = open_parquet(str(start / stream.files))
        chosen = _choose(name, stream, relation.columns)
        yield relation.select(*chosen).to_arrow_reader(_ROWS), chosen
        return
    assert warehouse is not None, "what is no file needs a connection"
    quote = warehouse.quote
    # on a line of its own: the query may end in a comment
    source = f"({stream.query.rstrip().rstrip(';')}\n) as pulled" if stream.query else quote(*stream.table)
    with warehouse.read(f"select * from {source} where 1 = 0") as empty:
        schema = empty.schema
    chosen = _choose(name, stream, schema.names)
    opaque = {field.name for field in schema if getattr(field.type, "extension_name", "") == "arrow.opaque"}
    # a type that the driver does not know arrives as bytes: the warehouse writes it as text
    asked = (f"cast({quote(each)} as varchar) as {quote(each)}" if each in opaque else quote(each) for each in chosen)
    with warehouse.read(f"select {', '.join(asked)} from {source}") as reader:
        yield reader, chosen


def _choose(name: str, stream: Stream, names: Sequence[str]) -> dict[str, str]:
    """Return column -> its name in the logs, sorted; of an entity of the raw contract those that hcat reads."""
    ours = {theirs: column for column, theirs in stream.columns.items()}
    for each in (*ours, *stream.key, *stream.leave_out, *stream.mask):
        if each not in names:
            meant = f"; did you mean {meant}?" if (meant := suggest(each, names)) else ""
            raise ValueError(f"{name}: no column {each} (found: {list_names(names)}{meant})")
    chosen = {
        each: ours.get(each, each)
        for each in sorted(names)
        if each in stream.key or (each not in stream.leave_out and (each in ours or each not in stream.columns))
    }
    if stream.shape in ENTITIES and stream.shape != SPANS:
        read = canonical_columns(ENTITIES[stream.shape], chosen.values())
        chosen = {theirs: column for theirs, column in chosen.items() if column in read or theirs in stream.key}
        if missing := [each for each in ENTITIES[stream.shape].required if each not in read.values()]:
            raise ValueError(f"{name}: no column {missing[0]}: map it under columns (found: {list_names(names)})")
    return chosen


def _mask(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return rows with masks over the personal data of some columns."""
    for place, field in enumerate(rows.schema):
        if field.name in names:
            kind = _find_text_type(field.type)
            try:
                texts = rows[place].cast(kind).to_pylist()
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                raise ValueError(f"mask: {field.name} holds {field.type}, and no text: cast or leave_out it") from None
            rows = rows.set_column(place, field.with_type(kind), pa.array(map(_mask_value, texts), type=kind))
    return rows


def _find_text_type(kind: pa.DataType) -> pa.DataType:
    """Return a type for masked values: lists and structs of texts, since a mask fits into no number and no bytes."""
    types = pa.types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return pa.list_(_find_text_type(kind.value_type))
    if types.is_struct(kind):
        return pa.struct([field.with_type(_find_text_type(field.type)) for field in kind])
    return kind if types.is_boolean(kind) or types.is_temporal(kind) or types.is_null(kind) else pa.string()


def _mask_value(value: Any) -> Any:
    if isinstance(value, list | dict):
        return mask_json([value], ENTITY_TYPES)[0]
    if not isinstance(value, str):
        return value
    try:
        inner = json.loads(value) if value[:1] in ("{", "[") else None
    except ValueError:
        inner = None
    return json.dumps(_mask_value(inner), ensure_ascii=False) if inner else mask_text(value, is_tagged=False)
