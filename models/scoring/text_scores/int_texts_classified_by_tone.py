from hcat.encoders.text_classifiers import CLASSIFIED_SCHEMA, TextScores
from hcat.engine.relations import map_batches, order_by, select_pending
from hcat.engine.sizes import SLICE_ROWS


def model(dbt, session):
    texts = dbt.ref("hcat", "int_embeddings").filter("scoring_key is not null")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = order_by(select_pending(texts, done, ["text_id", "scoring_key"]), "text_id")
    classifiers = dbt.ref("hcat", "int_models").filter("part = 'text classifier'")
    return map_batches(pending, TextScores(classifiers), CLASSIFIED_SCHEMA, SLICE_ROWS)
