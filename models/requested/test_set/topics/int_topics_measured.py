from hcat.engine.relations import from_name, order_by, read_rows
from hcat.topics.tables import measure_topics


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    fits = read_rows(dbt.ref("hcat", "int_topics_fitted"))
    done = read_rows(from_name(session, str(dbt.this))) if dbt.is_incremental else None
    return measure_topics(order_by(dbt.ref("hcat", "int_topics_sampled"), "text_id"), fits, done, settings)
