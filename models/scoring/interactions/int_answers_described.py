from hcat.engine.relations import map_batches, read_one, select_pending
from hcat.metrics.batches import DESCRIBED_SCHEMA, AnswerReader


def model(dbt, session):
    reading_key = read_one(dbt.ref("hcat", "int_models").filter("part = 'reading heads'"))["model_key"]
    answers = dbt.ref("hcat", "int_interaction_passages").filter("role = 'answer'").select("passage_id", "passage_text")
    done = f"(select * from {dbt.this} where reading_key = '{reading_key}')" if dbt.is_incremental else None
    pending = select_pending(answers.distinct(), done, ["passage_id"])
    return map_batches(pending, AnswerReader(reading_key), DESCRIBED_SCHEMA, 4096, in_processes=True)
