with flags as (
    select *
    from {{ ref('hcat', 'int_query_flags') }}
    where is_flagged
)

select {{ columns_of_contract({
    'query_id': 'interactions.query_id',
    'cluster_id': 'interactions.cluster_id',
    'system': 'interactions.system',
    'expected_behaviour': 'interactions.expected_behaviour',
    'is_answered': 'interactions.is_answered',
    'is_refusal': 'interactions.is_refusal',
}, of='flags') }}
from flags
inner join {{ ref('hcat', 'fct_interactions') }} as interactions on flags.interaction_id = interactions.interaction_id
