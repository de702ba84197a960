from hcat.engine.relations import Lookup, map_batches_with_lookup, order_by, select_pending
from hcat.metrics.copying import COPIED_LISTS, COPIED_SCHEMA, measure_copies


def model(dbt, session):
    units = dbt.ref("hcat", "int_interaction_units")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(units, done, ["interaction_id", "input_key"])
    work = order_by(pending, "interaction_id", in_parts_by="interaction_id")
    texts = Lookup(dbt.ref("hcat", "int_texts"), "text_id", COPIED_LISTS)
    return map_batches_with_lookup(session, work, texts, measure_copies, COPIED_SCHEMA, in_processes=True)
