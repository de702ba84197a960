from hcat.engine.relations import map_batches, select_pending
from hcat.metrics.batches import SPLIT_SCHEMA, split_passages


def model(dbt, session):
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(dbt.ref("hcat", "int_passages"), done, ["passage_id"])
    return map_batches(pending, split_passages, SPLIT_SCHEMA, 4096, in_processes=True)
