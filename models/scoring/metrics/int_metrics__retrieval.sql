with quality as (
    select
        interaction_id,
        case when k is null then metric_name else metric_name || '_at_' || k end as metric_name,
        score
    from {{ ref('hcat', 'int_retrieval_quality') }}
),

lengths as (
    select interaction_id, count(position) as count_retrieved
    from {{ ref('hcat', 'int_retrievals_graded') }}
    group by interaction_id
),

final as (
    select
        {{ evaluation_id('quality.interaction_id', 'quality.metric_name') }} as evaluation_id,
        quality.interaction_id,
        quality.metric_name,
        quality.score as raw_score,
        'scored' as score_status,
        lengths.count_retrieved as scored_count,
        null::string as detail
    from quality
    inner join lengths on quality.interaction_id = lengths.interaction_id
)

select * from final
