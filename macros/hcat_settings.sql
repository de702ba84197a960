{# The engine knobs that can change a number, as the ledger keeps them. #}
{% macro hcat_settings() %}
    {% set names = [
        'hcat_encoder_revision', 'hcat_dtype', 'hcat_batch_tokens', 'hcat_window_characters', 'hcat_random_seed',
        'hcat_scoring_revision', 'hcat_count_topics', 'hcat_future_tolerance_hours', 'hcat_confidence',
        'hcat_jackknife_groups', 'hcat_jackknife_sources', 'hcat_minimum_segment_sources', 'hcat_weakness_error_rate',
        'hcat_weakness_power', 'hcat_worst_examples', 'hcat_answer_length_bounds', 'hcat_similarity_digits',
        'hcat_classifier_revision', 'hcat_tagger', 'hcat_tagger_languages', 'hcat_evidence_mode', 'hcat_evidence_windows',
        'hcat_evidence_sentences', 'hcat_evidence_characters', 'hcat_selfcheck_samples', 'hcat_entailment_logit_bound',
        'hcat_unsupported_bound', 'hcat_rating_looks',
        'hcat_bootstrap_draws', 'hcat_cross_validation_folds', 'hcat_acceptance_probability', 'hcat_calibration_bins',
        'hcat_calibration_folds', 'hcat_calibration_dimension', 'hcat_minimum_class_sources',
        'hcat_calibration_valid_days', 'hcat_audit_level',
        'hcat_conformal_alphas', 'hcat_conformal_alpha', 'hcat_conformal_dimension',
        'hcat_drift_closing_day', 'hcat_drift_reference_start', 'hcat_drift_reference_weeks', 'hcat_drift_base_weeks',
        'hcat_drift_window_weeks', 'hcat_drift_window_shares', 'hcat_drift_minimum_reference', 'hcat_drift_minimum_window',
        'hcat_drift_minimum_shape', 'hcat_drift_bins', 'hcat_drift_minimum_expected', 'hcat_drift_minimum_shift',
        'hcat_drift_minimum_distance', 'hcat_drift_expected_shift', 'hcat_drift_alarm_level',
        'hcat_drift_alarm_shares',
        'hcat_risk_delta', 'hcat_review_round', 'hcat_review_budget', 'hcat_review_metric', 'hcat_review_share_audit',
        'hcat_review_epsilon', 'hcat_review_release_sample', 'hcat_decision_decimals', 'hcat_failure_rate_target',
        'hcat_version_false_discovery_rate', 'hcat_version_jackknife_sources', 'hcat_least_changed_sources',
        'hcat_representativeness_dimensions', 'hcat_bias_error_rate', 'hcat_bias_draws', 'hcat_bias_blocks',
        'hcat_sensitivity_threshold_shift', 'hcat_sensitivity_splits', 'hcat_sensitivity_length_bins'
    ] %}
    {% set settings = {} %}
    {% for name in names %}
        {% do settings.update({name: var(name)}) %}
    {% endfor %}
    {{ return(settings) }}
{% endmacro %}
