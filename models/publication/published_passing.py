from hcat.engine.publication import publish_passing


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    # both first: the verdicts decide whether this runs at all, and two writers of one folder would collide
    dbt.ref("gate_verdicts")
    dbt.ref("published_candidate")
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
        "fct_weakness_examples": dbt.ref("fct_weakness_examples"),
        "fct_score_distributions": dbt.ref("fct_score_distributions"),
        "fct_version_comparisons": dbt.ref("fct_version_comparisons"),
        "fct_version_regressions": dbt.ref("fct_version_regressions"),
        "fct_findings": dbt.ref("fct_findings"),
        "fct_finding_sensitivity": dbt.ref("fct_finding_sensitivity"),
        "fct_failure_causes": dbt.ref("fct_failure_causes"),
        "fct_replicate_variation": dbt.ref("fct_replicate_variation"),
        "fct_representativeness": dbt.ref("fct_representativeness"),
        "fct_answer_correctness": dbt.ref("fct_answer_correctness"),
        "fct_robustness_groups": dbt.ref("fct_robustness_groups"),
        "fct_robustness_rates": dbt.ref("fct_robustness_rates"),
        "fct_robustness_differences": dbt.ref("fct_robustness_differences"),
        "fct_robustness_pairs": dbt.ref("fct_robustness_pairs"),
        "fct_robustness_variants": dbt.ref("fct_robustness_variants"),
        "fct_metric_reliability": dbt.ref("fct_metric_reliability"),
        "fct_rater_agreement": dbt.ref("fct_rater_agreement"),
        "fct_rater_reports": dbt.ref("fct_rater_reports"),
        "fct_calibration_validity": dbt.ref("fct_calibration_validity"),
        "fct_audit_tests": dbt.ref("fct_audit_tests"),
        "fct_calibrators": dbt.ref("fct_calibrators"),
        "fct_calibration_quality": dbt.ref("fct_calibration_quality"),
        "fct_calibration_bins": dbt.ref("fct_calibration_bins"),
        "fct_system_calibration": dbt.ref("fct_system_calibration"),
        "fct_conformal_coverage": dbt.ref("fct_conformal_coverage"),
        "fct_risk_controls": dbt.ref("fct_risk_controls"),
        "fct_metric_thresholds": dbt.ref("fct_metric_thresholds"),
        "fct_failure_rates": dbt.ref("fct_failure_rates"),
        "fct_bias_gaps": dbt.ref("fct_bias_gaps"),
        "fct_privacy_findings": dbt.ref("fct_privacy_findings"),
        "fct_labels_needed": dbt.ref("fct_labels_needed"),
        "fct_toxicity_error_rates": dbt.ref("fct_toxicity_error_rates"),
        "fct_refusal_errors": dbt.ref("fct_refusal_errors"),
        "fct_query_flags": dbt.ref("fct_query_flags"),
        "fct_query_flag_rates": dbt.ref("fct_query_flag_rates"),
        "fct_adversarial_behaviour": dbt.ref("fct_adversarial_behaviour"),
        "fct_metric_drift": dbt.ref("fct_metric_drift"),
        "fct_metric_weeks": dbt.ref("fct_metric_weeks"),
        "fct_threshold_gates": dbt.ref("fct_threshold_gates"),
        # what people state about the application: the report reads them from a copy too
        "applications": dbt.ref("applications"),
        "risks": dbt.ref("risks"),
        "risk_appetites": dbt.ref("risk_appetites"),
    }
    return publish_passing(session, marts, folder)
