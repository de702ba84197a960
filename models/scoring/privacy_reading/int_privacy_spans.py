from hcat.engine.relations import map_batches, order_in_parts, select_pending
from hcat.privacy.tables import EXPOSED_SCHEMA, expose_answers


def model(dbt, session):
    batch_interactions = dbt.config.meta_get("batch_interactions")
    answers = dbt.ref("hcat", "int_answers_with_spans")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(answers, done, ["interaction_id", "exposure_key"])
    work = order_in_parts(pending, "interaction_id", "interaction_id")
    return map_batches(work, expose_answers, EXPOSED_SCHEMA, batch_interactions, in_processes=True)
