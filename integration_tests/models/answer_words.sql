select
    interaction_id,
    'answer_words' as metric_name,
    len(string_split(answer, ' '))::double as raw_score,
    'scored' as score_status,
    1::bigint as scored_count,
    null::varchar as detail
from {{ ref('answered_calls') }}
