select
    interaction_id,
    'answer_words' as metric_name,
    (length(answer) - length(replace(answer, ' ', '')) + 1)::double as raw_score,
    'scored' as score_status,
    1::bigint as scored_count,
    null::string as detail
from {{ ref('answered_calls') }}
