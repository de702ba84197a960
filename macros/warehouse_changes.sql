{#
    What became different in warehouses since hcat 0.1.0: `hcat upgrade` does it, once, and a build does not start before.
    Tables that remember something are listed, because a build makes all others anew, and marts that are no more. An
    entry may stay for ever: it looks at the table, and a table that is as it should be is left alone.

    recomputed        table -> a column that a later version added. A table that lacks it is dropped, and the next build
                      computes it: results by content key, and evaluations.
    dropped_columns   table -> columns that it has no more. The rows stay.
    numbered          histories that had no build numbers -> the column whose times were the order of builds. Old rows are
                      numbered in that order, once.
    gathered          table -> the start of the names of tables whose rows are in it now; the rest of a name is their entity.
    removed           tables that no model makes any more. They are dropped, after their rows were gathered.
#}
{% macro warehouse_changes() %}
    {{ return({
        'recomputed': {
            'fct_evaluations': 'written_run_id',
            'int_answers_copied': 'first_copied_word',
            'int_answers_described': 'reading_key',
            'int_answers_overlapped': 'reference_recall',
            'int_pairs_entailed': 'deciding_classifier',
            'int_passages_split': 'citations',
            'int_sentences_supported': 'computed',
            'int_sentences_windowed': 'chosen_indices',
        },
        'dropped_columns': {
            'dim_runs': ['repeats_run_id'],
            'fct_evaluations': ['content_key'],
            'int_findings_seen': ['is_confirmed', 'confirmed_difference'],
        },
        'numbered': {
            'dim_runs': 'started_at',
            'fct_run_metrics': 'measured_at',
            'fct_threshold_gates': 'evaluated_at',
            'hcat_builds': 'logged_at',
            'int_clusters_seen': 'first_seen_at',
            'int_findings_confirmed': 'built_at',
            'int_findings_seen': 'built_at',
        },
        'gathered': {'landed_records': 'landed_'},
        'removed': [
            'adjudication_rules', 'base_folded_chunks', 'base_folded_documents', 'base_folded_interactions',
            'base_folded_queries', 'base_folded_ratings', 'base_folded_retrievals', 'base_span_attributes',
            'base_span_paths', 'base_span_values', 'base_spans', 'base_spans_recognised', 'base_trace_documents',
            'base_traces', 'bias_metrics', 'canaries', 'correctness_criteria', 'fct_adversarial_behaviour',
            'fct_cells_to_read', 'fct_failure_rates_appendix', 'fct_finding_sensitivity', 'fct_query_flag_rates',
            'fct_refusal_errors', 'fct_risk_controls', 'fct_threshold_methods', 'fct_weakness_examples', 'hcat_inputs', 'headline_cells',
            'int_analysis_dimensions', 'int_answer_languages', 'int_answer_sentences', 'int_answers',
            'int_answers_classified_by_refusal', 'int_answers_with_references', 'int_answers_without_language',
            'int_audit_labels', 'int_audits_tested', 'int_bias_cells', 'int_bias_scores',
            'int_bivariate_cell_quantiles', 'int_calibration_targets', 'int_calibration_validity',
            'int_calibrator_parameters', 'int_calibrators_fitted', 'int_calibrators_measured',
            'int_canaries_found', 'int_cell_clusters', 'int_cell_descriptions', 'int_cell_dimensions',
            'int_cell_documents', 'int_cell_estimates', 'int_cell_quantiles', 'int_cell_segments',
            'int_cell_totals', 'int_cells', 'int_chunk_orders_measured', 'int_chunk_windows_keyed',
            'int_chunks_counted', 'int_chunks_sampled', 'int_chunks_to_compare', 'int_classifier',
            'int_clusters_bucketed', 'int_conformal_coverage', 'int_conformal_limits_left_out',
            'int_conformal_quantiles', 'int_contexts_retrieved', 'int_conversation_turns', 'int_correctness_pairs',
            'int_correctness_verdicts', 'int_counterfactual_differences', 'int_counterfactual_sides',
            'int_counterfactual_similarities', 'int_encoder', 'int_errors_attributed', 'int_evaluations_decided',
            'int_evaluations_expected', 'int_evaluations_numbered', 'int_evidence_windows',
            'int_failure_rates_described', 'int_finding_variations_summed', 'int_findings_varied',
            'int_gates_in_force', 'int_generated_texts_keyed', 'int_generation_inputs', 'int_generation_service',
            'int_grammar_checks', 'int_grammar_columns', 'int_grammar_imports', 'int_grammar_keys',
            'int_grammar_templates', 'int_grammar_texts', 'int_groups_typed', 'int_headline_cells',
            'int_interaction_evidence', 'int_interaction_origins', 'int_interaction_privacy_values',
            'int_interaction_samples', 'int_interaction_strata', 'int_interaction_topics',
            'int_interaction_version_classes', 'int_interaction_weeks', 'int_interactions_celled',
            'int_interactions_described', 'int_interactions_joined', 'int_interactions_masked',
            'int_interactions_numbered', 'int_label_versions', 'int_labels', 'int_labels_cross_fitted',
            'int_labels_needed', 'int_marginal_cell_quantiles', 'int_metric_drift', 'int_metric_weeks',
            'int_metric_verdicts', 'int_metrics__behaviour', 'int_metrics__entailment', 'int_metrics__groundedness',
            'int_metrics__judged', 'int_metrics__privacy', 'int_metrics__reference', 'int_metrics__retrieval',
            'int_metrics__safety', 'int_metrics__selfcheck', 'int_metrics__similarity', 'int_metrics__support',
            'int_metrics__transport', 'int_metrics_numbered', 'int_metrics_unioned', 'int_new_clusters_tested',
            'int_pairs_keyed', 'int_queries', 'int_partition_sums', 'int_passage_windows', 'int_passages', 'int_prediction_sets',
            'int_privacy_findings', 'int_privacy_recognisers', 'int_public_values', 'int_queries_grouped',
            'int_queries_masked', 'int_queries_rooted', 'int_query_examples', 'int_query_relevance',
            'int_rater_agreement', 'int_rater_reports', 'int_ratings_adjudicated', 'int_ratings_labelled',
            'int_ratings_modelled', 'int_ratings_unjudged', 'int_records_masked', 'int_records_recognisable',
            'int_records_recognised', 'int_rejections_counted', 'int_rejections_said', 'int_release_interactions',
            'int_reliability_measured', 'int_replicates_summed', 'int_risks_controlled', 'int_run_environment',
            'int_safety_measurements', 'int_sample_pairs', 'int_score_bands', 'int_scores_boosted',
            'int_scores_by_week', 'int_scores_located', 'int_scores_summed_by_week', 'int_scores_to_boost',
            'int_segments_monitored', 'int_segments_numbered', 'int_sentence_scores', 'int_sentence_signals',
            'int_sentence_weights', 'int_sides_compared', 'int_tables_to_publish', 'int_text_classifiers',
            'int_texts_masked', 'int_texts_to_classify_by_tone', 'int_texts_with_embeddings',
            'int_thresholds_fitted', 'int_topics_logged', 'int_variant_answers_averaged', 'int_variant_pairs',
            'int_variants_keyed', 'int_variants_measured', 'int_version_pairs_listed', 'int_version_queries_keyed',
            'int_version_segments_shared', 'int_weeks_keyed', 'landed_chunks', 'landed_documents',
            'landed_interactions', 'landed_queries', 'landed_ratings', 'landed_relevance_judgements',
            'landed_retrievals', 'landed_spans', 'logged_variant_types', 'restricted_topics', 'scope_examples',
            'span_annotations', 'span_dialects', 'stg_chunks', 'stg_chunks__rejected', 'stg_documents',
            'stg_documents__rejected', 'stg_interactions', 'stg_interactions__rejected', 'stg_queries',
            'stg_queries__rejected', 'stg_ratings', 'stg_ratings__cannot_judge', 'stg_ratings__rejected',
            'stg_relevance_judgements', 'stg_relevance_judgements__rejected', 'stg_retrievals',
            'stg_retrievals__rejected', 'stg_retrievals__unread', 'stg_spans', 'stg_spans__rejected',
            'toxicity_groups', 'version_rules', 'weakness_rules'
        ],
    }) }}
{% endmacro %}
