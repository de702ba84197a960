from hcat.engine.relations import order_by, read_pairs, read_rows, select_pending, stream
from hcat.judging.tables import JUDGE_CALLS_SCHEMA, judge_pending, read_judges
from hcat.language_models.endpoint import settled


def model(dbt, session):
    requests = dbt.ref("hcat", "int_judge_requests").filter("request_status = 'wanted'")
    this = str(dbt.this) if dbt.is_incremental else None
    done = settled(this, "call_status", "judge_key") if dbt.is_incremental else None
    pending = select_pending(requests, done, ["judge_key"])
    work = read_rows(order_by(pending, "sample_number, metric_name"))
    kept = read_pairs(session, this, "prompt_hash", "answer")
    written = read_pairs(session, this, "call_id", "call_status")
    judges = read_judges(dbt.config.meta_get("language_model"), dbt.config.meta_get("judges"))
    return stream(JUDGE_CALLS_SCHEMA, judge_pending(work, judges, kept, written))
