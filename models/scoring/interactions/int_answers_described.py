from hcat.encoders.identities import ModelIdentity
from hcat.engine.relations import map_batches, read_one, select_pending
from hcat.metrics.batches import DESCRIBED_SCHEMA, AnswerReader


def model(dbt, session):
    encoder = ModelIdentity.from_row(read_one(dbt.ref("hcat", "int_models").filter("part = 'encoder'")))
    answers = dbt.ref("hcat", "int_interaction_passages").filter("role = 'answer'").select("passage_id", "passage_text")
    done = f"(select * from {dbt.this} where encoder_key = '{encoder.key}')" if dbt.is_incremental else None
    pending = select_pending(answers.distinct(), done, ["passage_id"])
    return map_batches(pending, AnswerReader(encoder), DESCRIBED_SCHEMA, 4096, in_processes=True)
