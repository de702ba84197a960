from hcat.engine.relations import order_by, read_one, select_pending
from hcat.privacy.tables import recognise_pending


def model(dbt, session):
    recognisers = read_one(dbt.ref("hcat", "int_models").filter("part = 'recognisers of personal data'"))
    texts = dbt.ref("hcat", "int_texts_recognisable")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(texts, done, ["text_id", "reading_key"])
    work = order_by(pending, "text_id", in_parts_by="text_id")
    return recognise_pending(work, recognisers["masked_types"])
