from hcat.engine.relations import map_batches, order_by, read_rows, select_pending
from hcat.language_models.endpoint import settled
from hcat.test_set.generation.tables import BATCH_REQUESTS, GENERATED_SCHEMA, QueryMaker


def model(dbt, session):
    maker = QueryMaker(read_rows(dbt.ref("query_templates")), dbt.config.meta_get("generation"))
    answers = dbt.ref("hcat", "int_generation_calls").filter("step = 'queries' and is_last")
    answers = answers.select("generation_key", "call_status", "status_detail", "answer")
    inputs = dbt.ref("hcat", "int_generation_requests").join(answers, "generation_key", "left")
    done = settled(str(dbt.this), "generation_status") if dbt.is_incremental else None
    pending = order_by(select_pending(inputs, done, ["generation_key"]), "generation_key")
    return map_batches(pending, maker, GENERATED_SCHEMA, BATCH_REQUESTS)
