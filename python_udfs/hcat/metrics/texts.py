"""The texts that a batch names, read once each, and rows as a batch: what the metrics of sentences share."""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.statistics.arrays import Vectors

Read = TypeVar("Read")


class TextReader(Generic[Read]):
    """Results of a function for distinct texts; before each batch the oldest beyond ``limit`` are dropped."""

    def __init__(self, read: Callable[[str], Read], limit: int) -> None:
        self._read = read
        self._limit = limit
        self._kept: dict[str, Read] = {}

    def read(self, lists: Iterable[Sequence[str] | None], texts: pa.Table) -> dict[str, Read]:
        """Return the results by text_id, for all texts of ``lists`` and for others that are kept."""
        for text_id in list(islice(self._kept, max(0, len(self._kept) - self._limit))):
            del self._kept[text_id]
        unread = sorted({text_id for ids in lists for text_id in ids or ()}.difference(self._kept))
        if unread:
            found = take_texts(texts, unread)
            self._kept.update(zip(unread, map(self._read, found["encoded_text"].to_pylist()), strict=True))
        return self._kept


def take_texts(texts: pa.Table, text_ids: Collection[str]) -> pa.Table:
    """Return the rows of some texts in their order."""
    wanted = pa.array(text_ids, pa.string())
    found = pc.index_in(wanted, value_set=texts["text_id"].combine_chunks().cast(pa.string()))
    if found.null_count:
        missing = wanted.filter(pc.is_null(found))[0].as_py()
        raise KeyError(f"text {missing} has no embedding ({found.null_count} of {len(wanted)} texts missing)")
    return texts.take(found)


def to_matrix(embeddings: pa.ChunkedArray) -> Vectors:
    """Return a column of vectors as an array, shape (n, dimensions)."""
    if len(embeddings) == 0:
        return np.empty((0, 0), np.float32)
    flat = embeddings.combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    matrix: Vectors = flat.reshape(len(embeddings), -1)
    return matrix


def to_batch(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows with the columns of a schema as a batch."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
