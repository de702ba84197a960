from hcat.engine.publication import publish_candidate


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    return publish_candidate(session, dbt.ref("hcat", "published_tables"), folder)
