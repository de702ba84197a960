from hcat.engine.relations import Lookup, map_batches_with_lookup, order_by, select_pending
from hcat.metrics.batches import SUPPORT_LISTS, SUPPORT_SCHEMA, SupportMeasure


def model(dbt, session):
    units = dbt.ref("hcat", "int_interaction_units")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(units, done, ["interaction_id", "input_key"])
    # equal queries retrieve the same passages, whose texts are then still in memory
    work = order_by(pending, "query_text_ids, interaction_id", in_parts_by="query_text_ids")
    texts = Lookup(dbt.ref("hcat", "int_embeddings"), "text_id", SUPPORT_LISTS)
    return map_batches_with_lookup(session, work, texts, SupportMeasure(), SUPPORT_SCHEMA, in_processes=True)
