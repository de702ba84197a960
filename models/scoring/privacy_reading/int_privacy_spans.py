from hcat.engine.relations import map_batches, order_by, select_pending
from hcat.engine.sizes import BATCH_INTERACTIONS
from hcat.privacy.tables import EXPOSED_SCHEMA, expose_answers


def model(dbt, session):
    answers = dbt.ref("hcat", "int_answers_with_spans")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(answers, done, ["interaction_id", "exposure_key"])
    work = order_by(pending, "interaction_id", in_parts_by="interaction_id")
    return map_batches(work, expose_answers, EXPOSED_SCHEMA, BATCH_INTERACTIONS, in_processes=True)
