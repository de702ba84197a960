from hcat.engine.relations import map_batches, order_by, read_rows, select_pending
from hcat.engine.sizes import SLICE_ROWS
from hcat.safety.screening import SCREENED_SCHEMA, Screen


def model(dbt, session):
    texts = dbt.ref("hcat", "int_texts_to_screen")
    sentences = texts.filter("purpose = 'sentence'")
    examples = texts.filter("purpose <> 'sentence'")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = order_by(select_pending(sentences, done, ["text_id", "screening_key"]), "text_id")
    screen = Screen(read_rows(order_by(examples, "source_id")))
    return map_batches(pending, screen, SCREENED_SCHEMA, SLICE_ROWS)
