from hcat.engine.relations import map_batches, select_pending
from hcat.language.identification import LANGUAGE_SCHEMA, identify_languages


def model(dbt, session):
    answers = dbt.ref("hcat", "int_answers_without_language")
    done = str(dbt.this) if dbt.is_incremental else None
    return map_batches(
        select_pending(answers, done, ["passage_id"]), identify_languages, LANGUAGE_SCHEMA, 4096, in_processes=True
    )
