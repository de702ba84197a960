from hcat.landing.folding import fold_traces


def model(dbt, session):
    settings = dbt.config.meta_get("traces")
    return fold_traces(dbt.ref("hcat", "landed_records"), settings)
