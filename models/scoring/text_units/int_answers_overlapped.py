from hcat.engine.relations import map_batches, select_pending
from hcat.metrics.batches import OVERLAP_SCHEMA, overlap_answers


def model(dbt, session):
    answers = dbt.ref("hcat", "int_answers_with_references")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(answers, done, ["interaction_id", "input_key"])
    return map_batches(pending, overlap_answers, OVERLAP_SCHEMA, 4096, in_processes=True)
