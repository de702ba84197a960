from hcat.engine.relations import read_rows
from hcat.privacy.tables import describe_recognisers


def model(dbt, session):
    tagger = dbt.config.meta_get("tagger")
    return describe_recognisers(tagger, read_rows(dbt.ref("privacy_entity_types")))
