{{ config(enabled=is_on('calibration')) }}
{{ keys_that_repeat({
    'fct_calibration_validity': 'calibration_validity_id',
    'fct_calibrators': 'calibrator_id',
    'fct_conformal_coverage': 'conformal_coverage_id',
    'fct_metric_thresholds': 'threshold_id',
    'fct_rater_agreement': 'rater_agreement_id',
    'fct_rater_reports': 'rater_report_id',
    'fct_ratings': 'rating_id',
    'fct_score_bands': 'score_band_id'
}) }}
