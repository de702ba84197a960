"""Which interactions are in which segments: read once as numbers, and held cell by cell.

A cell is one segment of one dimension. A million interactions have more than ten million memberships, so that they are
kept in four bytes each, and what is computed of them is computed of one cell, or of a few, at a time.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.statistics.arrays import Integers

#: Memberships to read in one batch: each batch looks up the ids of all interactions.
BATCH_ROWS: Final = 1_000_000

_HALF: Final = 32
_LOWER: Final = (1 << _HALF) - 1


class Memberships(NamedTuple):
    """The interactions of each cell."""

    names: list[tuple[str, str]]  # dimension and segment of each cell, in order
    starts: Integers  # where each cell begins in `interactions`, and their number, shape (n_cells + 1,)
    interactions: npt.NDArray[np.int32]  # places, ascending within a cell

    def of(self, cell: int) -> npt.NDArray[np.int32]:
        """Return the places of the interactions of one cell, ascending."""
        return self.interactions[self.starts[cell] : self.starts[cell + 1]]

    def parts(self, most: int) -> Iterator[tuple[Integers, npt.NDArray[np.int32]]]:
        """Yield cell and interaction of the memberships of a few consecutive cells at a time."""
        first, count = 0, len(self.names)
        while first < count:
            reached = int(np.searchsorted(self.starts, self.starts[first] + most, side="right")) - 1
            end = min(max(reached, first + 1), count)
            sizes = np.diff(self.starts[first : end + 1])
            yield np.repeat(np.arange(first, end), sizes), self.interactions[self.starts[first] : self.starts[end]]
            first = end


def read_memberships(segments: Iterable[pa.RecordBatch], ids: pa.Array) -> Memberships:
    """Return the memberships of interactions in segments."""
    codes: dict[tuple[str, str], int] = {}
    # cell in the upper half of a number, interaction in the lower: sorted faster than names in an engine
    parts = [np.zeros(0, dtype=np.int64)]
    for batch in segments:
        owners = find_places(batch.column("interaction_id"), ids, "interaction_id of segments")
        parts.append(_encode_pairs(batch.column("dimension"), batch.column("segment"), codes) << _HALF | owners)
    keys = np.concatenate(parts)
    parts.clear()
    keys.sort()
    # from the order of their first appearance to that of their names
    names = sorted(codes)
    first = [codes[name] for name in names]
    borders = np.searchsorted(keys, np.arange(len(names) + 1) << _HALF)
    sizes = np.diff(borders)[first]
    interactions = (keys & _LOWER).astype(np.int32)
    del keys
    by_name = [interactions[borders[code] : borders[code + 1]] for code in first]
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    return Memberships(names, starts, np.concatenate([interactions[:0], *by_name]))


def find_places(column: pa.Array | pa.ChunkedArray, values: pa.Array, name: str) -> Integers:
    """Return the place of each value of a column among ``values``, shape (n,)."""
    found = pc.index_in(column, value_set=values)
    if found.null_count:
        missing = column.filter(pc.is_null(found))[0].as_py()
        raise ValueError(f"{name} must be among the {len(values)} known ones, got {missing!r}")
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)


def _encode_pairs(dimensions: pa.Array, segments: pa.Array, codes: dict[tuple[str, str], int]) -> Integers:
    """Return the code of each (dimension, segment); new ones are added to `codes`."""
    of_dimension, of_segment = (column.cast(pa.string()).dictionary_encode() for column in (dimensions, segments))
    names, values = of_dimension.dictionary.to_pylist(), of_segment.dictionary.to_pylist()
    places = of_dimension.indices.to_numpy().astype(np.int64) * max(1, len(values)) + of_segment.indices.to_numpy()
    pairs, inverse = np.unique(places, return_inverse=True)
    found = [(names[pair // len(values)], values[pair % len(values)]) for pair in pairs.tolist()]
    known = np.array([codes.setdefault(pair, len(codes)) for pair in found], dtype=np.int64)
    return np.asarray(known[inverse])
