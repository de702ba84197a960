from hcat.test_set.generation.tables import describe_service


def model(dbt, session):
    return describe_service(dbt.config.meta_get("language_model"))
