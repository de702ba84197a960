from hcat.engine.relations import map_batches, select_pending
from hcat.metrics.correctness import CHECKED_SCHEMA, check_pending


def model(dbt, session):
    answers = dbt.ref("hcat", "int_answers_to_check")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(answers, done, ["interaction_id", "input_key"])
    return map_batches(pending, check_pending, CHECKED_SCHEMA, 4096)
