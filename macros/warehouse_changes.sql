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
        'gathered': {'landed_records': 'landed_'},
        'removed': [
            'base_folded_chunks', 'base_folded_documents', 'base_folded_queries', 'base_folded_ratings',
            'base_folded_retrievals', 'base_span_paths', 'base_traces', 'fct_failure_rates_appendix', 'fct_risk_controls',
            'int_audit_labels', 'int_audits_tested', 'int_calibrators_fitted', 'int_calibrators_measured',
            'int_cell_clusters', 'int_cell_estimates', 'int_cell_totals', 'int_chunk_orders_measured',
            'int_conformal_coverage', 'int_conformal_limits_left_out', 'int_conformal_quantiles',
            'int_errors_attributed', 'int_failure_rates_described', 'int_groups_typed',
            'int_labels_cross_fitted', 'int_labels_needed', 'int_partition_sums', 'int_rater_agreement',
            'int_rater_reports', 'int_ratings_modelled', 'int_reliability_measured', 'int_risks_controlled',
            'int_score_bands', 'int_sides_compared', 'int_tables_to_publish', 'int_thresholds_fitted',
            'int_variants_measured', 'landed_chunks', 'landed_documents', 'landed_interactions',
            'landed_queries', 'landed_ratings', 'landed_relevance_judgements', 'landed_retrievals',
            'landed_spans', 'stg_chunks', 'stg_chunks__rejected', 'stg_documents',
            'stg_documents__rejected', 'stg_interactions', 'stg_interactions__rejected', 'stg_queries',
            'stg_queries__rejected', 'stg_ratings', 'stg_ratings__cannot_judge', 'stg_ratings__rejected',
            'stg_relevance_judgements', 'stg_relevance_judgements__rejected', 'stg_retrievals',
            'stg_retrievals__rejected', 'stg_retrievals__unread', 'stg_spans', 'stg_spans__rejected'
        ],
    }) }}
{% endmacro %}
