"""Variants as Arrow batches: one row per planned variant, made or not."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.engine.relations import map_batches
from hcat.language.identification import LEAST_LETTERS, LEAST_PROBABILITY, identify_languages
from hcat.test_set.variants.drafts import MATERIALS, Item, Parent, Settings
from hcat.test_set.variants.kinds import vary

VARIED_SCHEMA: Final = schema(
    "string: variant_key",
    "int32: variant_number",
    "string: variant_type variant_status query_text detail item_id canary",
)

BATCH_QUERIES: Final = 2000
"""Planned variants per batch: they bound memory, and what a query becomes does not depend on them."""

CANARY_DIGITS: Final = 10
"""Hexadecimal digits of a canary: nobody writes one by chance, and a log search finds it."""

Materials = Mapping[str, Mapping[str, Sequence[Item]]]


def read_materials(rows: pa.Table) -> Materials:
    """Return items by variant type and material, in the order of their ids."""
    materials: dict[str, dict[str, list[Item]]] = {}
    listed = rows.to_pylist()
    for row in sorted(listed, key=lambda row: (row["variant_type"], row["material"], row["item_id"])):
        if row["material"] not in MATERIALS:
            raise ValueError(f"material must be one of {', '.join(MATERIALS)}, got {row['material']!r}")
        item = Item(row["item_id"], row["text_before"] or "", row["text_after"] or "")
        materials.setdefault(row["variant_type"], {}).setdefault(row["material"], []).append(item)
    return materials


def vary_batch(batch: pa.RecordBatch, materials: Materials) -> pa.RecordBatch:
    """Return the variants of a batch of planned ones (schema :data:`VARIED_SCHEMA`)."""
    rows = [row for planned in batch.to_pylist() for row in _vary_one(planned, materials)]
    return pa.RecordBatch.from_pylist(rows, schema=VARIED_SCHEMA)


def tell_languages(batch: pa.RecordBatch, least_letters: int = LEAST_LETTERS) -> pa.RecordBatch:
    """Return planned variants with the language of their query, where it is sure."""
    texts = pa.RecordBatch.from_arrays([batch["variant_key"], batch["query_text"]], ["passage_id", "passage_text"])
    found = identify_languages(texts).to_pylist()
    languages = [
        row["language"]
        if row["language_probability"] >= LEAST_PROBABILITY and row["count_letters"] >= least_letters
        else None
        for row in found
    ]
    told = pc.coalesce(pa.array(languages, pa.string()), batch["language"].cast(pa.string()))
    return batch.set_column(batch.schema.get_field_index("language"), "language", told)


def _vary_one(planned: Mapping[str, Any], materials: Materials) -> list[dict[str, Any]]:
    key, variant_type = planned["variant_key"], planned["variant_type"]
    # a word that no document holds
    canary = f"HCAT-{hash_text('canary', key)[:CANARY_DIGITS]}"
    settings = Settings(float(planned["rate"] or 0.0), materials.get(variant_type, {}), canary)
    parent = Parent(planned["query_text"], planned["reference_answer"])
    status, drafts = vary(variant_type, parent, planned["language"], settings, Random(key))
    shared = {"variant_key": key, "variant_type": variant_type, "variant_status": status}
    made = [draft._asdict() | {"query_text": draft.text} for draft in drafts] or [{}]
    return [shared | {"variant_number": number} | each for number, each in enumerate(made, start=1)]


def vary_pending(planned: Any, materials: pa.Table) -> pa.RecordBatchReader:
    """Return the variants of the planned ones that have none yet, streamed (schema :data:`VARIED_SCHEMA`).

    Parameters
    ----------
    planned : relation
        As the batch of :func:`vary_batch`; its language counts where that of the text is not sure.
    materials : Table
        As in :func:`read_materials`.
    """
    read = read_materials(materials)
    return map_batches(planned, lambda batch: vary_batch(tell_languages(batch), read), VARIED_SCHEMA, BATCH_QUERIES)
