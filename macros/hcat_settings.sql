{#-
    The settings that can change a number, as the ledger keeps them. tests/project/test_conventions.py keeps the list
    complete: a new variable is listed here, or there with the reason why it changes no number.
-#}
{% macro hcat_settings() %}
    {% set names = [
        'hcat_profile', 'hcat_modules', 'hcat_own_seeds', 'hcat_judge', 'hcat_test_set', 'hcat_grammar',
        'hcat_random_seed', 'hcat_timestamp_format', 'hcat_confidence', 'hcat_tool_outputs_are_evidence',
        'hcat_missing_parents', 'hcat_minimum_segment_clusters', 'hcat_second_cluster',
        'hcat_earlier_turns_are_evidence', 'hcat_tagger', 'hcat_tagger_languages', 'hcat_documents_are_public',
        'hcat_classifier_languages', 'hcat_encoder_languages', 'hcat_label_kinds', 'hcat_calibration_dimension',
        'hcat_calibration_valid_days', 'hcat_conformal_alpha', 'hcat_drift_closing_day',
        'hcat_drift_reference_start', 'hcat_review_round', 'hcat_review_budget', 'hcat_review_metric',
        'hcat_own_metrics', 'hcat_own_dimensions', 'hcat_judge_interactions', 'hcat_language_model',
        'hcat_language_model_calls', 'hcat_topic_method', 'hcat_sampling_total', 'hcat_sampling_allocation',
        'hcat_sampling_within', 'hcat_generator', 'hcat_generation_speaker'
    ] %}
    {% set settings = {'modules_off': modules_off(), 'scoring_revision': revision_of('scoring')} %}
    {% for name in names %}
        {% do settings.update({name: var(name)}) %}
    {% endfor %}
    {{ return(settings) }}
{% endmacro %}
