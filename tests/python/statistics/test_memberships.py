"""Memberships against sets by hand: every one once, whatever the order and the batches."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcat.statistics.memberships import read_memberships

IDS = ["b", "a", "d", "c"]
NAMES = ("interaction_id", "dimension", "segment")
MEMBERSHIPS = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from(["all", "topic", "x"]), st.sampled_from(["all", "cards", ""])),
    unique=True,
)


def make_batches(rows: list[tuple[str, str, str]], batch_rows: int) -> list[pa.RecordBatch]:
    cuts = [rows[first : first + batch_rows] for first in range(0, len(rows), batch_rows)]
    return [pa.record_batch([pa.array(column) for column in zip(*cut, strict=True)], names=NAMES) for cut in cuts]


@given(rows=MEMBERSHIPS, batch_rows=st.integers(1, 5), most=st.integers(1, 9))
def test_every_membership_is_found_once(rows: list[tuple[str, str, str]], batch_rows: int, most: int) -> None:
    found = read_memberships(make_batches(rows, batch_rows), pa.array(IDS))
    assert found.names == sorted({(dimension, segment) for _, dimension, segment in rows})
    for cell, (dimension, segment) in enumerate(found.names):
        own = [place for place, name in enumerate(IDS) if (name, dimension, segment) in rows]
        assert found.of(cell).tolist() == own

    # parts hold the same, in the same order, and only a cell alone is longer than a part may be
    parts = [(cells.tolist(), members.tolist()) for cells, members in found.parts(most)]
    every = [(cell, member) for cells, members in parts for cell, member in zip(cells, members, strict=True)]
    assert every == [(cell, member) for cell in range(len(found.names)) for member in found.of(cell).tolist()]
    assert all(len(cells) <= most or len(set(cells)) == 1 for cells, _ in parts)


def test_an_unknown_interaction_is_refused() -> None:
    batches = make_batches([("e", "all", "all")], 1)
    with pytest.raises(ValueError, match="interaction_id of segments must be among the 4 known ones, got 'e'"):
        read_memberships(batches, pa.array(IDS))
