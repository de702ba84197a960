from hcat.landing.reading import land


def model(dbt, session):
    folder = dbt.config.meta_get("raw_logs")
    inputs = dbt.ref("hcat", "raw_relations")
    done = str(dbt.this) if dbt.is_incremental else None
    return land(session, folder, inputs, dbt.this.schema, done, dbt.config.meta_get("reads_spans"))
