from hcat.engine.relations import order_by, read_one, select_pending
from hcat.privacy.tables import mask_pending_records


def model(dbt, session):
    batch_texts = dbt.config.meta_get("batch_texts")
    recognisers = read_one(dbt.ref("hcat", "int_models").filter("part = 'recognisers of personal data'"))
    records = dbt.ref("hcat", "int_records_recognisable")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = order_by(select_pending(records, done, ["text_id", "reading_key"]), "text_id")
    return mask_pending_records(pending, recognisers["masked_types"], batch_texts)
