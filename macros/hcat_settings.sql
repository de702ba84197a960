{#-
    The settings that can change a number, as the ledger keeps them. tests/project/test_conventions.py keeps the list
    complete: a new variable is listed here, or there with the reason why it changes no number.
-#}
{% macro hcat_settings() %}
    {% set names = [
        'hcat_profile', 'hcat_modules', 'hcat_own_seeds', 'hcat_judge', 'hcat_test_set', 'hcat_grammar', 'hcat_encoder_revision', 'hcat_dtype', 'hcat_batch_tokens', 'hcat_window_characters', 'hcat_random_seed',
        'hcat_scoring_revision', 'hcat_count_topics', 'hcat_earliest_time', 'hcat_future_tolerance_hours', 'hcat_timestamp_format',
        'hcat_confidence',
        'hcat_tool_outputs_are_evidence', 'hcat_missing_parents',
        'hcat_jackknife_groups', 'hcat_jackknife_clusters', 'hcat_minimum_segment_clusters', 'hcat_weakness_error_rate',
        'hcat_weakness_power', 'hcat_headline_cells', 'hcat_headline_clusters', 'hcat_headline_error_rate',
        'hcat_headline_draws', 'hcat_document_clusters', 'hcat_worst_examples',
        'hcat_answer_length_bounds', 'hcat_turn_bounds', 'hcat_earlier_turns_are_evidence', 'hcat_similarity_digits',
        'hcat_classifier_revision', 'hcat_tagger', 'hcat_tagger_languages', 'hcat_documents_are_public',
        'hcat_evidence_mode', 'hcat_evidence_windows',
        'hcat_evidence_sentences', 'hcat_evidence_characters', 'hcat_selfcheck_samples', 'hcat_entailment_logit_bound',
        'hcat_unsupported_bound', 'hcat_lowest_sentence_share', 'hcat_answer_length_bonus',
        'hcat_classifier_languages', 'hcat_encoder_languages', 'hcat_language_probability', 'hcat_language_letters',
        'hcat_label_kinds',
        'hcat_calibration_dimension',
        'hcat_calibration_valid_days', 'hcat_conformal_alpha',
        'hcat_drift_closing_day', 'hcat_drift_reference_start', 'hcat_drift_reference_weeks',
        'hcat_drift_window_weeks', 'hcat_drift_window_shares', 'hcat_drift_minimum_reference', 'hcat_drift_minimum_window',
        'hcat_drift_minimum_shape', 'hcat_drift_minimum_expected', 'hcat_drift_minimum_shift',
        'hcat_drift_minimum_weeks', 'hcat_drift_mix_dimension', 'hcat_drift_alarm_level',
        'hcat_drift_mix_share', 'hcat_drift_headline_share', 'hcat_review_round', 'hcat_review_budget', 'hcat_review_metric',
        'hcat_version_false_discovery_rate', 'hcat_version_jackknife_clusters', 'hcat_least_changed_clusters',
        'hcat_representativeness_dimensions', 'hcat_bias_error_rate', 'hcat_bias_draws', 'hcat_bias_blocks',
        'hcat_toxicity_revision', 'hcat_sentiment_revision', 'hcat_toxic_probability', 'hcat_screening_revision',
        'hcat_checking_revision', 'hcat_rival_answers', 'hcat_own_metrics', 'hcat_own_dimensions',
        'hcat_robustness_rule', 'hcat_robustness_draws', 'hcat_robustness_minimum_groups',
        'hcat_judge_methods', 'hcat_judge_interactions', 'hcat_judge_questions', 'hcat_judge_revision',
        'hcat_judge_price_prompt', 'hcat_judge_price_completion', 'hcat_judge_currency',
        'hcat_language_model', 'hcat_language_model_calls', 'hcat_language_model_tokens',
        'hcat_language_model_reply_tokens', 'hcat_language_model_repairs', 'hcat_language_model_response_format',
        'hcat_topic_windows', 'hcat_topic_method', 'hcat_topic_reduction', 'hcat_topic_dimensions',
        'hcat_topic_document_share', 'hcat_topic_neighbours', 'hcat_topic_count', 'hcat_topic_count_bounds',
        'hcat_topic_minimum_texts', 'hcat_topic_neighbourhood_distance', 'hcat_topic_fit_texts', 'hcat_topic_revision',
        'hcat_topic_naming_texts', 'hcat_topic_match_similarity', 'hcat_topic_stability_fits',
        'hcat_sampling_total', 'hcat_sampling_allocation', 'hcat_sampling_within', 'hcat_sampling_minimum',
        'hcat_sampling_length_of', 'hcat_sampling_length_bounds', 'hcat_sampling_length_quantiles',
        'hcat_sampling_metric', 'hcat_sampling_prior_evaluations', 'hcat_sampling_half_widths',
        'hcat_sampling_expected_share', 'hcat_sampling_design_effect',
        'hcat_generator', 'hcat_generation_revision', 'hcat_generation_speaker', 'hcat_generation_anchor',
        'hcat_generation_partners', 'hcat_test_language', 'hcat_imported_queries', 'hcat_query_words',
        'hcat_query_copied_share', 'hcat_query_chunk_similarity', 'hcat_query_duplicate_similarity',
        'hcat_query_duplicate_overlap', 'hcat_test_minimum_per_topic', 'hcat_test_minimum_per_query_type',
        'hcat_variant_revision', 'hcat_variant_entailment',
        'hcat_grammar_templates', 'hcat_grammar_texts_per_style', 'hcat_grammar_fillings', 'hcat_grammar_hypotheses',
        'hcat_grammar_requirements', 'hcat_grammar_enumerated', 'hcat_grammar_rows'
    ] %}
    {% set settings = {'modules_off': modules_off()} %}
    {% for name in names %}
        {% do settings.update({name: var(name)}) %}
    {% endfor %}
    {{ return(settings) }}
{% endmacro %}
