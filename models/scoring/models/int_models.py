from hcat.encoders.identities import describe_models
from hcat.engine.relations import read_rows


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    entity_types = read_rows(dbt.ref("privacy_entity_types"))
    return describe_models(settings, entity_types)
