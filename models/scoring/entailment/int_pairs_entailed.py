from hcat.encoders.entailment import PAIR_COLUMNS, entail_pending
from hcat.encoders.identities import ModelIdentity
from hcat.engine.relations import order_by, read_one, select_pending


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    classifier = ModelIdentity.from_row(read_one(dbt.ref("hcat", "int_models").filter("part = 'classifier'")))
    pairs = dbt.ref("hcat", "int_text_pairs")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(pairs, done, ["pair_id", "classifier_key"]).select(*PAIR_COLUMNS).distinct()
    return entail_pending(order_by(pending, "count_characters, pair_id"), classifier, folder)
