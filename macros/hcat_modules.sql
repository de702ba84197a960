{#-
    The parts of hcat that a project switches on or off. `profiles` are the profiles that include the module, `families`
    its metrics in the catalogue, and `measurements` what gates can ask of it. `marts` are its marts.
    The YAML of a model names its module in `enabled`; tests/project/test_modules.py holds both together.
-#}
{% macro hcat_modules() %}
    {{ return({
        'bias': {
            'profiles': ['full'],
            'families': [],
            'measurements': ['count_bias_gaps'],
            'marts': ['fct_bias_gaps']
        },
        'calibration': {
            'profiles': ['standard', 'full'],
            'families': [],
            'measurements': ['system_overconfidence', 'false_accepts_above_appetite'],
            'marts': [
                'fct_audit_tests', 'fct_calibration_bins', 'fct_calibration_quality', 'fct_calibration_validity',
                'fct_calibrators', 'fct_conformal_coverage', 'fct_labels_needed', 'fct_metric_thresholds', 'fct_rater_agreement', 'fct_rater_reports', 'fct_ratings',
                'fct_score_bands', 'fct_system_calibration'
            ]
        },
        'conversations': {
            'profiles': ['standard', 'full'],
            'families': [],
            'measurements': [],
            'marts': ['fct_conversations']
        },
        'distributions': {
            'profiles': ['standard', 'full'],
            'families': [],
            'measurements': [],
            'marts': ['fct_score_distributions']
        },
        'drift': {
            'profiles': ['standard', 'full'],
            'families': [],
            'measurements': ['count_drifting_series', 'count_drifting_mixes'],
            'marts': ['fct_metric_drift', 'fct_metric_weeks']
        },
        'findings': {
            'profiles': ['standard', 'full'],
            'families': [],
            'measurements': [],
            'marts': ['fct_failure_causes', 'fct_findings']
        },
        'privacy': {
            'profiles': ['standard', 'full'],
            'families': ['privacy'],
            'measurements': ['count_leaked_values'],
            'marts': ['fct_privacy_findings']
        },
        'reference': {
            'profiles': ['standard', 'full'],
            'families': ['reference'],
            'measurements': [],
            'marts': []
        },
        'representativeness': {
            'profiles': ['full'],
            'families': [],
            'measurements': [],
            'marts': ['fct_representativeness']
        },
        'retention': {
            'profiles': ['standard', 'full'],
            'families': [],
            'measurements': [],
            'marts': ['fct_deletions']
        },
        'retrieval': {
            'profiles': ['standard', 'full'],
            'families': ['retrieval'],
            'measurements': [],
            'marts': ['dim_chunks', 'fct_retrieval_quality']
        },
        'robustness': {
            'profiles': ['full'],
            'families': [],
            'measurements': ['robustness'],
            'marts': [
                'fct_answer_correctness', 'fct_metric_reliability', 'fct_robustness_differences', 'fct_robustness_groups',
                'fct_robustness_pairs', 'fct_robustness_rates', 'fct_robustness_variants'
            ]
        },
        'safety': {
            'profiles': ['standard', 'full'],
            'families': ['safety'],
            'measurements': [
                'toxicity_false_alarms', 'share_toxic_answers', 'answered_when_due_to_refuse', 'count_canary_leaks'
            ],
            'marts': [
                'fct_query_flags', 'fct_safety_rates', 'fct_toxicity_error_rates'
            ]
        },
        'selfcheck': {
            'profiles': ['full'],
            'families': ['selfcheck'],
            'measurements': [],
            'marts': []
        },
        'semantic': {
            'profiles': ['standard', 'full'],
            'families': [],
            'measurements': [],
            'marts': []
        },
        'spans': {
            'profiles': ['standard', 'full'],
            'families': [],
            'measurements': [],
            'marts': []
        },
        'versions': {
            'profiles': ['standard', 'full'],
            'families': [],
            'measurements': ['version_difference'],
            'marts': ['fct_replicate_variation', 'fct_version_comparisons', 'fct_version_regressions']
        }
    }) }}
{% endmacro %}
