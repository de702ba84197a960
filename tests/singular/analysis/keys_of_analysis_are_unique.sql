{%- set keys = {
    'fct_answer_correctness': 'interaction_id',
    'fct_audit_tests': 'audit_test_id',
    'fct_bias_gaps': 'bias_gap_id',
    'fct_bivariate_weaknesses': 'bivariate_weakness_id',
    'fct_calibration_bins': 'calibration_bin_id',
    'fct_calibration_quality': 'calibration_quality_id',
    'fct_failure_causes': 'failure_cause_id',
    'fct_failure_rates': 'failure_rate_id',
    'fct_findings': 'finding_id',
    'fct_labels_needed': 'labels_needed_id',
    'fct_marginal_weaknesses': 'marginal_weakness_id',
    'fct_metric_drift': 'metric_drift_id',
    'fct_metric_reliability': 'metric_reliability_id',
    'fct_metric_weeks': 'metric_week_id',
    'fct_privacy_findings': 'privacy_finding_id',
    'fct_query_flags': 'query_flag_id',
    'fct_replicate_variation': 'replicate_variation_id',
    'fct_representativeness': 'representativeness_id',
    'fct_robustness_differences': 'robustness_difference_id',
    'fct_robustness_groups': 'robustness_group_id',
    'fct_robustness_pairs': 'robustness_pair_id',
    'fct_robustness_rates': 'robustness_rate_id',
    'fct_robustness_variants': 'robustness_variant_id',
    'fct_safety_rates': 'safety_rate_id',
    'fct_score_distributions': 'score_distribution_id',
    'fct_system_calibration': 'system_calibration_id',
    'fct_toxicity_error_rates': 'toxicity_error_rate_id',
    'fct_version_comparisons': 'version_comparison_id',
    'fct_version_regressions': 'version_regression_id',
    'int_metric_cells': 'cell_id',
    'int_weaknesses_tested': 'cell_id'
} %}
{%- if is_on('findings') %}
    {%- do keys.update({
        'int_clusters_seen': 'cluster_id',
        'int_findings_confirmed': 'cell_id',
        'int_findings_seen': 'finding_sighting_id'
    }) %}
{%- endif %}
{{ keys_that_repeat(keys) }}
