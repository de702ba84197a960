from hcat.encoders.identities import describe_models
from hcat.engine.relations import read_rows


def model(dbt, session):
    return describe_models(dbt.config.meta_get("settings"), read_rows(dbt.ref("privacy_entity_types")))
