from hcat.engine.relations import order_by, read_pairs, read_rows, select_pending, stream
from hcat.language_models.endpoint import settled
from hcat.test_set.generation.tables import CALLS_SCHEMA, call_pending


def model(dbt, session):
    requests = dbt.ref("hcat", "int_generation_requests").filter("generator = 'language_model'")
    this = str(dbt.this) if dbt.is_incremental else None
    done = settled(this, "call_status") if dbt.is_incremental else None
    pending = select_pending(requests, done, ["generation_key"])
    work = read_rows(order_by(pending, "chunk_id, query_type"))
    kept = read_pairs(session, this, "prompt_hash", "answer")
    written = read_pairs(session, this, "call_id", "call_status")
    return stream(CALLS_SCHEMA, call_pending(work, dbt.config.meta_get("language_model"), kept, written))
