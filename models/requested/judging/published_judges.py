from hcat.engine.publication import publish_part


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    marts = {
        "fct_judge_calls": dbt.ref("hcat", "fct_judge_calls"),
        "fct_judge_agreement": dbt.ref("hcat", "fct_judge_agreement"),
    }
    return publish_part(session, marts, folder, "judges")
