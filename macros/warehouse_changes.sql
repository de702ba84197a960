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
            'fct_failure_rates_appendix', 'fct_risk_controls', 'fct_threshold_methods',
            'int_audit_labels', 'int_audits_tested', 'int_calibration_targets',
            'int_calibration_validity', 'int_calibrator_parameters', 'int_calibrators_fitted',
            'int_calibrators_measured', 'int_cell_clusters', 'int_cell_estimates', 'int_cell_totals',
            'int_chunk_orders_measured', 'int_conformal_coverage', 'int_conformal_limits_left_out',
            'int_conformal_quantiles', 'int_errors_attributed', 'int_failure_rates_described',
            'int_gates_in_force', 'int_groups_typed', 'int_interaction_strata',
            'int_interaction_version_classes', 'int_label_versions', 'int_labels',
            'int_labels_cross_fitted', 'int_labels_needed', 'int_partition_sums', 'int_prediction_sets',
            'int_rater_agreement', 'int_rater_reports', 'int_ratings_adjudicated',
            'int_ratings_labelled', 'int_ratings_modelled', 'int_ratings_unjudged',
            'int_rejections_said', 'int_release_interactions', 'int_reliability_measured', 'int_risks_controlled',
            'int_run_environment', 'int_safety_measurements', 'int_score_bands', 'int_scores_boosted', 'int_scores_located',
            'int_scores_to_boost', 'int_sides_compared', 'int_tables_to_publish',
            'int_thresholds_fitted', 'int_variants_measured'
        ],
    }) }}
{% endmacro %}
