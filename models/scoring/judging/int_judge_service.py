from hcat.judging.tables import describe_judges


def model(dbt, session):
    return describe_judges(dbt.config.meta_get("language_model"), dbt.config.meta_get("judges"))
