from hcat.judging.tables import describe_judge


def model(dbt, session):
    return describe_judge(dbt.config.meta_get("language_model"))
