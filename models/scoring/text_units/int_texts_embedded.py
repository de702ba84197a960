from hcat.encoders.embedding import embed_pending
from hcat.encoders.identities import ModelIdentity
from hcat.engine.relations import order_by, read_one, select_pending


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    encoder = ModelIdentity.from_row(read_one(dbt.ref("hcat", "int_models").filter("part = 'encoder'")))
    texts = dbt.ref("hcat", "int_texts")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(texts, done, ["text_id", "encoder_key"])
    return embed_pending(order_by(pending, "count_characters, text_id"), encoder, folder)
