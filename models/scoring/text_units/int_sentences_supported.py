from hcat.engine.relations import Lookup, map_batches_with_lookup, order_by, select_pending
from hcat.metrics.batches import SUPPORT_LISTS, SUPPORT_SCHEMA, SupportMeasure


def model(dbt, session):
    batch_rows = dbt.config.meta_get("batch_interactions")
    budget = dbt.config.meta_get("lookup_mebibytes")
    units = dbt.ref("hcat", "int_interaction_units")
    done = str(dbt.this) if dbt.is_incremental else None
    # equal queries retrieve the same passages, whose texts are then still in memory
    pending = order_by(select_pending(units, done, ["interaction_id", "input_key"]), "query_text_ids, interaction_id")
    texts = Lookup(dbt.ref("hcat", "int_texts"), "text_id", SUPPORT_LISTS, budget)
    return map_batches_with_lookup(
        session, pending, texts, SupportMeasure(), SUPPORT_SCHEMA, batch_rows, in_processes=True
    )
