-- A status that promises a score has one. A status that explains the absence of a score has none.
select evaluation_id, metric_name, score_status, raw_score
from {{ ref('hcat', 'fct_evaluations') }}
where
    (score_status in ('scored', 'truncated') and raw_score is null)
    or (score_status in ('missing_input', 'unsupported_language', 'not_applicable', 'failed') and raw_score is not null)
