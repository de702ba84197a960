from hcat.publication import publish_candidate


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    marts = {
        "dim_documents": dbt.ref("dim_documents"),
        "dim_queries": dbt.ref("dim_queries"),
        "dim_metrics": dbt.ref("dim_metrics"),
        "dim_runs": dbt.ref("dim_runs"),
        "fct_interactions": dbt.ref("fct_interactions"),
        "fct_evaluations": dbt.ref("fct_evaluations"),
        "fct_sentence_evidence": dbt.ref("fct_sentence_evidence"),
        "fct_retrieval_quality": dbt.ref("fct_retrieval_quality"),
        "fct_marginal_weaknesses": dbt.ref("fct_marginal_weaknesses"),
        "fct_bivariate_weaknesses": dbt.ref("fct_bivariate_weaknesses"),
        "fct_score_distributions": dbt.ref("fct_score_distributions"),
        "fct_rater_agreement": dbt.ref("fct_rater_agreement"),
        "fct_rater_reports": dbt.ref("fct_rater_reports"),
        "fct_threshold_gates": dbt.ref("fct_threshold_gates"),
    }
    return publish_candidate(session, marts, folder)
