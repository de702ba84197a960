-- The distances are optimal transport and its approximation (HCAT section 3.3.2).
with distances as (
    select
        compared.interaction_id,
        compared.transport_cost,
        compared.average_distance,
        {{ array_length('units.context_text_ids') }} as scored_count,
        compared.count_truncated_answer + compared.count_truncated_context as count_truncated
    from {{ ref('hcat', 'int_interactions_compared') }} as compared
    inner join {{ ref('hcat', 'int_interaction_units') }} as units
        on compared.interaction_id = units.interaction_id and compared.input_key = units.input_key
    where compared.transport_cost is not null
),

unpivoted as (
    select *, 'completeness_transport' as metric_name, transport_cost as raw_score from distances
    union all
    select *, 'completeness_average_distance' as metric_name, average_distance as raw_score from distances
)

{{ evaluations('unpivoted',
    score_status="case when count_truncated > 0 then 'truncated' else 'scored' end",
    detail='null::string'
) }}
