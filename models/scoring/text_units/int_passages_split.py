from hcat.engine.relations import map_batches, select_pending
from hcat.metrics.batches import SPLIT_SCHEMA, split_passages


def model(dbt, session):
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(dbt.ref("hcat", "int_interaction_passages"), done, ["passage_id"])
    # contexts repeat across interactions, and each passage is split once
    passages = pending.select("passage_id", "passage_text").distinct()
    return map_batches(passages, split_passages, SPLIT_SCHEMA, 4096, in_processes=True)
