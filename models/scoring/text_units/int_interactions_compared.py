from hcat.engine.relations import Lookup, map_batches_with_lookup, order_by, select_pending
from hcat.metrics.similarity import COMPARED_SCHEMA, UNIT_LISTS, compare_interactions


def model(dbt, session):
    units = dbt.ref("hcat", "int_interaction_units")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(units, done, ["interaction_id", "input_key"])
    work = order_by(pending, "interaction_id", in_parts_by="interaction_id")
    embeddings = Lookup(dbt.ref("hcat", "int_embeddings"), "text_id", UNIT_LISTS)
    return map_batches_with_lookup(session, work, embeddings, compare_interactions, COMPARED_SCHEMA)
