from hcat.engine.relations import map_batches, select_pending
from hcat.metrics.batches import DESCRIBED_SCHEMA, describe_answers


def model(dbt, session):
    dbt.ref("hcat", "int_models")  # first, because it checks the model of languages and says a fault in one line
    passages = dbt.ref("hcat", "int_interaction_passages")
    answers = passages.filter("role = 'answer'").select("passage_id", "passage_text").distinct()
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(answers, done, ["passage_id"])
    return map_batches(pending, describe_answers, DESCRIBED_SCHEMA, 4096, in_processes=True)
