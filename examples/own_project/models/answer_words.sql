-- An own metric in SQL: one row per answered interaction with the number of words of its answer.
select
    interaction_id,
    'answer_words' as metric_name,
    len(string_split(trim(answer), ' '))::double as raw_score,
    'scored' as score_status,
    1 as scored_count,
    null as detail
from {{ ref('hcat', 'int_interaction_attributes') }}
where is_answered
