{#
    What became different in warehouses since hcat 0.1.0: `hcat upgrade` does it, once, and a build does not start before.
    Tables that remember something are listed, because a build makes all others anew, and marts that are no more. An
    entry may stay for ever: it looks at the table, and a table that is as it should be is left alone.

    recomputed        table -> a column that a later version added. A table that lacks it is dropped, and the next build
                      computes it: results by content key, and evaluations.
    dropped_columns   table -> columns that it has no more. The rows stay.
    numbered          histories that had no build numbers -> the column whose times were the order of builds. Old rows are
                      numbered in that order, once.
    removed           tables that no model makes any more. They are dropped.
#}
{% macro warehouse_changes() %}
    {{ return({
        'recomputed': {
            'fct_evaluations': 'written_run_id',
            'int_answers_overlapped': 'reference_recall',
            'int_pairs_entailed': 'deciding_classifier',
            'int_sentences_supported': 'claims_nothing',
        },
        'dropped_columns': {'fct_evaluations': ['content_key']},
        'numbered': {
            'dim_runs': 'started_at',
            'fct_run_metrics': 'measured_at',
            'fct_threshold_gates': 'evaluated_at',
            'hcat_builds': 'logged_at',
            'int_clusters_seen': 'first_seen_at',
            'int_findings_confirmed': 'built_at',
            'int_findings_seen': 'built_at',
        },
        'removed': [
            'fct_failure_rates_appendix', 'fct_risk_controls', 'int_answer_languages', 'int_answers',
            'int_answers_classified_by_refusal', 'int_answers_without_language', 'int_audit_labels',
            'int_audits_tested', 'int_calibrators_fitted', 'int_calibrators_measured', 'int_cell_clusters',
            'int_cell_estimates', 'int_cell_totals', 'int_chunk_orders_measured', 'int_chunks_counted',
            'int_classifier', 'int_conformal_coverage', 'int_conformal_limits_left_out', 'int_conformal_quantiles',
            'int_contexts_retrieved', 'int_conversation_turns', 'int_encoder', 'int_errors_attributed',
            'int_evaluations_decided', 'int_failure_rates_described', 'int_groups_typed',
            'int_interaction_origins', 'int_interaction_privacy_values', 'int_interaction_samples',
            'int_interaction_topics', 'int_interactions_masked', 'int_labels_cross_fitted', 'int_labels_needed',
            'int_partition_sums', 'int_privacy_findings', 'int_privacy_recognisers', 'int_public_values',
            'int_queries_grouped', 'int_queries_masked', 'int_queries_rooted', 'int_query_relevance',
            'int_rater_agreement', 'int_rater_reports', 'int_ratings_modelled', 'int_records_masked',
            'int_records_recognisable', 'int_records_recognised', 'int_reliability_measured',
            'int_risks_controlled', 'int_score_bands', 'int_sides_compared', 'int_tables_to_publish',
            'int_text_classifiers', 'int_texts_masked', 'int_thresholds_fitted', 'int_topics_logged',
            'int_variants_measured'
        ],
    }) }}
{% endmacro %}
