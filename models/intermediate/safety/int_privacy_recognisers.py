from hcat.privacy_tables import describe_recognisers
from hcat.relations import read_rows


def model(dbt, session):
    tagger = dbt.config.meta_get("tagger")
    return describe_recognisers(tagger, read_rows(dbt.ref("privacy_entity_types")))
