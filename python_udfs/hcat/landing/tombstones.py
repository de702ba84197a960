"""Records that were deleted on request: landing notes that they were sent, and nothing of what they say."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.retention_rules import DELETED, LANDED_IDS, LANDED_KEPT, hash_id

#: Kind of id -> SHA-256 of the deleted ids.
Deleted = Mapping[str, frozenset[str]]


def find_deleted(deletions: pa.Table, entity_name: str) -> Deleted:
    """Return the tombstones that concern an entity."""
    kinds = ["record", *([LANDED_IDS[entity_name][1]] if entity_name in LANDED_IDS else [])]
    found = {
        kind: frozenset(deletions.filter(pc.equal(deletions["id_kind"], kind))["hashed_id"].to_pylist())
        for kind in kinds
    }
    return {kind: hashes for kind, hashes in found.items() if hashes}


def withhold(batch: pa.RecordBatch, entity_name: str, deleted: Deleted) -> pa.RecordBatch:
    """Return landed rows in which deleted records are blank: file, row and id of the record stay, and the reason."""
    if not deleted:
        return batch
    named = [("record_id", "record"), *([LANDED_IDS[entity_name]] if entity_name in LANDED_IDS else [])]
    ids = [(deleted.get(kind, frozenset()), batch.column(column).to_pylist()) for column, kind in named]
    gone = [
        any(values[row] is not None and hash_id(values[row]) in hashes for hashes, values in ids)
        for row in range(batch.num_rows)
    ]
    if not any(gone):
        return batch
    is_gone = pa.array(gone)
    # a record that says nothing is not cleaned either
    instead = {"read_error": DELETED, "is_cleaned": False}
    arrays = [
        array
        if field.name in LANDED_KEPT
        else pc.if_else(is_gone, pa.scalar(instead.get(field.name), field.type), array)
        for field, array in zip(batch.schema, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)
