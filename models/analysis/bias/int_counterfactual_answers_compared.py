from hcat.engine.relations import Lookup, map_batches_with_lookup, order_by, select_pending
from hcat.metrics.similarity import ANSWER_LISTS, ANSWERS_SCHEMA, compare_answers


def model(dbt, session):
    answers = dbt.ref("hcat", "int_counterfactual_answers")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = order_by(select_pending(answers, done, ["answer_pair_id", "input_key"]), "answer_pair_id")
    embeddings = Lookup(dbt.ref("hcat", "int_embeddings"), "text_id", ANSWER_LISTS)
    return map_batches_with_lookup(session, pending, embeddings, compare_answers, ANSWERS_SCHEMA)
