from hcat.lexical import CLASSIFIED_SCHEMA, classify_answers
from hcat.relations import map_batches, select_pending


def model(dbt, session):
    answers = dbt.ref("int_answers")
    done = str(dbt.this) if dbt.is_incremental else None
    return map_batches(
        select_pending(answers, done, ["passage_id"]), classify_answers, CLASSIFIED_SCHEMA, 4096, in_processes=True
    )
