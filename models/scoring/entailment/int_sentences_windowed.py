from hcat.engine.relations import Lookup, map_batches_with_lookup, order_by, select_pending
from hcat.metrics.evidence import EVIDENCE_LISTS, WINDOWED_SCHEMA, EvidenceChoice


def model(dbt, session):
    evidence = dbt.ref("hcat", "int_interaction_units").filter("evidence_key is not null")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = order_by(select_pending(evidence, done, ["interaction_id", "evidence_key"]), "interaction_id")
    texts = Lookup(dbt.ref("hcat", "int_embeddings"), "text_id", EVIDENCE_LISTS)
    return map_batches_with_lookup(session, pending, texts, EvidenceChoice(), WINDOWED_SCHEMA)
