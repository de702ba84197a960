select
    requests.evaluation_id,
    requests.interaction_id,
    requests.metric_name,
    verdicts.verdict_score as raw_score,
    case
        when requests.request_status <> 'wanted' then 'not_applicable'
        when verdicts.verdict_status is null or verdicts.verdict_status <> 'judged' then 'failed'
        when verdicts.is_cut then 'truncated'
        else 'scored'
    end as score_status,
    verdicts.count_judged::bigint as scored_count,
    case requests.request_status
        when 'not_sampled' then 'not among the interactions that the judge reads (hcat_judge_interactions)'
        when 'no_text' then 'the judge returns probabilities, and this metric needs texts'
        when 'no_other_answer' then 'no other answer to the same query'
        else verdicts.detail
    end as detail
from {{ ref('hcat', 'int_judge_requests') }} as requests
left join {{ ref('hcat', 'int_judge_verdicts') }} as verdicts
    on requests.judge_key = verdicts.judge_key and requests.request_status = 'wanted'
