from hcat.lexical import SPLIT_SCHEMA, split_passages
from hcat.relations import map_batches, select_pending


def model(dbt, session):
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(dbt.ref("int_passages"), done, ["passage_id"])
    return map_batches(pending, split_passages, SPLIT_SCHEMA, 4096, in_processes=True)
