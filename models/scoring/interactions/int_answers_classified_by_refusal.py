from hcat.engine.relations import map_batches, select_pending
from hcat.metrics.batches import CLASSIFIED_SCHEMA, classify_answers


def model(dbt, session):
    answers = dbt.ref("hcat", "int_answers")
    done = str(dbt.this) if dbt.is_incremental else None
    return map_batches(
        select_pending(answers, done, ["passage_id"]), classify_answers, CLASSIFIED_SCHEMA, 4096, in_processes=True
    )
