{{ keys_that_repeat({
    'dim_runs': 'run_id',
    'fct_deletions': 'deletion_number',
    'fct_release_decisions': 'release_decision_id',
    'fct_run_metrics': 'run_metric_id',
    'fct_threshold_gates': 'gate_result_id'
}) }}
