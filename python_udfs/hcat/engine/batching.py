"""Batches within a token budget, and slices on disk that survive a kill: what all model runs of a build share."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet

from hcat.engine.files import replacing
from hcat.engine.keys import hash_text
from hcat.engine.processes import finish_in_order
from hcat.engine.relations import Streamed, count_rows, is_distributed, map_batches, read_batches, rebatch, stream
from hcat.engine.saying import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")
Fetch = TypeVar("Fetch")

#: Device -> slices started before a result is asked for, by as many threads. A CPU does the work when it is started.
SLICES_AHEAD = {"cpu": 0, "cuda": 2}


def plan_batches(counts: npt.NDArray[np.int64], budget: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield index arrays of batches over texts sorted by length, each within a padded-token budget."""
    if budget < 1:
        raise ValueError(f"budget must be positive, got {budget}")
    order = np.argsort(counts, kind="stable")
    lengths = counts[order].tolist()
    start = 0
    while start < len(order):
        end = start + 1
        # sorted upwards, the newest text is the longest
        while end < len(order) and (end - start + 1) * lengths[end] <= budget:
            end += 1
        yield order[start:end]
        start = end


def start_batches(
    counts: npt.NDArray[np.int64], budget: int, start: Callable[[npt.NDArray[np.int64]], Fetch]
) -> Iterator[tuple[npt.NDArray[np.int64], Fetch]]:
    """Yield (indices, ``start(indices)``) for every batch of :func:`plan_batches`."""
    queue = deque(plan_batches(counts, budget))
    while queue:
        indices = queue.popleft()
        try:
            result = start(indices)
        except RuntimeError as error:
            if "out of memory" not in str(error).lower() or len(indices) == 1:
                raise
            half = len(indices) // 2
            queue.extendleft([indices[half:], indices[:half]])
            continue
        yield indices, result


def fetch_late(
    items: Iterable[Item], start: Callable[[Item], Callable[[], Result]], ahead: int
) -> Iterator[tuple[Item, Result]]:
    """Yield (item, result) in the order of the items, each result after ``ahead`` more items were given to threads."""
    if not ahead:
        for item in items:
            yield item, start(item)()
        return
    calls = ((item,) for item in items)
    for item, finish in finish_in_order(ThreadPoolExecutor(ahead), lambda item: (item, start(item)), calls, ahead):
        yield item, finish()


def map_slices(
    pending: Any,
    key: str,
    schema: pa.Schema,
    slice_rows: int,
    folder: Path,
    score: Callable[[pa.RecordBatch], Callable[[], pa.RecordBatch]],
    label: str,
    ahead: int,
) -> Streamed:
    """Return ``score`` applied to all pending rows, streamed slice by slice."""
    if is_distributed(pending):
        return map_batches(pending, lambda batch: score(batch)(), schema, slice_rows)
    total = count_rows(pending)

    def slices() -> Iterator[pa.RecordBatch]:
        # key -> (slice, row) in the finished slices of a build that was killed
        kept: dict[str, tuple[pa.Table, int]] = {}
        for path in sorted(folder.glob("*.parquet")):
            table = parquet.read_table(path, schema=schema)
            kept.update({value: (table, row) for row, value in enumerate(table[key].to_pylist())})
        progress = Progress(label, total)

        def start(batch: pa.RecordBatch) -> Callable[[], pa.RecordBatch | None]:
            missing = [row for row, value in enumerate(batch.column(key).to_pylist()) if value not in kept]
            return score(batch.take(pa.array(missing))) if missing else lambda: None

        for batch, fresh in fetch_late(rebatch(read_batches(pending, slice_rows), slice_rows), start, ahead):
            if fresh is not None:
                folder.mkdir(parents=True, exist_ok=True)
                name = hash_text(fresh.column(key)[0].as_py(), str(fresh.num_rows))
                # whole or not at all
                with replacing(folder / f"{name}.parquet") as unfinished:
                    parquet.write_table(pa.Table.from_batches([fresh]), unfinished, compression="zstd")
                yield fresh
            found = [value for value in batch.column(key).to_pylist() if value in kept]
            if found:
                rows = pa.concat_tables([kept[value][0].slice(kept[value][1], 1) for value in found])
                yield rows.combine_chunks().to_batches()[0]
            progress.advance(batch.num_rows)
        progress.finish()

    if total == 0:
        for path in [*folder.glob("*.parquet"), *folder.glob(".*.writing")]:
            path.unlink(missing_ok=True)
    return stream(schema, slices())
