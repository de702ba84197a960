from hcat.engine.publication import publish_candidate


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    last = str(dbt.this) if dbt.config.meta_get("keeps_copies") == "1" else None
    return publish_candidate(session, dbt.ref("hcat", "published_tables"), folder, last)
