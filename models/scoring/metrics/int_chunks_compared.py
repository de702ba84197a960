from hcat.engine.relations import Lookup, map_batches_with_lookup, order_by, select_pending
from hcat.metrics.chunks import CHUNK_LISTS, COMPARED_CHUNKS_SCHEMA, compare_chunks


def model(dbt, session):
    units = dbt.ref("hcat", "int_interaction_units")
    comparable = units.filter("query_text_ids is not null and context_text_ids is not null")
    relevant = dbt.ref("hcat", "int_retrievals_graded").filter("grade > 0")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(comparable.join(relevant, "interaction_id", "semi"), done, ["interaction_id", "input_key"])
    work = order_by(pending, "interaction_id", in_parts_by="interaction_id")
    texts = Lookup(dbt.ref("hcat", "int_embeddings"), "text_id", CHUNK_LISTS)
    return map_batches_with_lookup(session, work, texts, compare_chunks, COMPARED_CHUNKS_SCHEMA)
