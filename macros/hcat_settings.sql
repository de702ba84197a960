{# The engine knobs that can change a number, as the ledger keeps them. #}
{% macro hcat_settings() %}
    {% set names = [
        'hcat_encoder_revision', 'hcat_dtype', 'hcat_batch_tokens', 'hcat_window_characters', 'hcat_random_seed',
        'hcat_scoring_revision', 'hcat_count_topics', 'hcat_future_tolerance_hours', 'hcat_confidence',
        'hcat_minimum_segment_sources', 'hcat_answer_length_bounds', 'hcat_similarity_digits',
        'hcat_classifier_revision', 'hcat_evidence_mode', 'hcat_evidence_windows', 'hcat_evidence_sentences',
        'hcat_evidence_characters', 'hcat_entailment_logit_bound', 'hcat_unsupported_bound', 'hcat_rating_looks',
        'hcat_bootstrap_draws', 'hcat_cross_validation_folds', 'hcat_acceptance_probability', 'hcat_calibration_bins',
        'hcat_calibration_folds', 'hcat_calibration_dimension',
        'hcat_conformal_alphas', 'hcat_conformal_alpha', 'hcat_conformal_dimension',
        'hcat_risk_delta', 'hcat_review_round', 'hcat_review_budget', 'hcat_review_metric', 'hcat_review_share_audit',
        'hcat_review_epsilon', 'hcat_decision_decimals', 'hcat_failure_rate_target'
    ] %}
    {% set settings = {} %}
    {% for name in names %}
        {% do settings.update({name: var(name)}) %}
    {% endfor %}
    {{ return(settings) }}
{% endmacro %}
