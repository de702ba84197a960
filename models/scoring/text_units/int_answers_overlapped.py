from hcat.engine.relations import map_batches, select_pending
from hcat.metrics.batches import OVERLAP_SCHEMA, overlap_answers


def model(dbt, session):
    units = dbt.ref("hcat", "int_interaction_units")
    compared = units.filter("reference_window_ids is not null and answer_window_ids is not null")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(compared, done, ["interaction_id", "input_key"])
    keys = pending.select("interaction_id", "input_key")
    answers = keys.join(dbt.ref("hcat", "int_interactions"), "interaction_id")
    return map_batches(answers, overlap_answers, OVERLAP_SCHEMA, 4096, in_processes=True)
