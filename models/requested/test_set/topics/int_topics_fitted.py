from hcat.engine.relations import from_name, order_by, read_one, read_rows
from hcat.topics.tables import fit_topics


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    encoder_key = read_one(dbt.ref("hcat", "int_models").filter("part = 'encoder'"))["model_key"]
    naming = dbt.config.meta_get("naming")
    fits = read_rows(from_name(session, str(dbt.this))) if dbt.is_incremental else None
    sample = order_by(dbt.ref("hcat", "int_topics_sampled"), "text_id")
    return fit_topics(sample, fits, settings, encoder_key, naming)
