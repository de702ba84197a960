from hcat.judging.tables import describe_judge


def model(dbt, session):
    settings = dbt.config.meta_get("language_model")
    revision = dbt.config.meta_get("judge_revision")
    return describe_judge(settings, revision)
