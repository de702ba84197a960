from hcat.encoders.embedding import describe_encoder


def model(dbt, session):
    name = dbt.config.meta_get("encoder")
    revision = dbt.config.meta_get("encoder_revision")
    device = dbt.config.meta_get("device")
    dtype = dbt.config.meta_get("dtype")
    return describe_encoder(name, revision, device, dtype)
