-- One row per interaction with the origin of its query. The origin is test_set when somebody declared a reference
-- answer, source chunk, kind, expectation, family or variant for the query, else production.
with interactions as (
    select * from {{ ref('hcat', 'int_interactions') }}
),

final as (
    select
        interaction_id,
        cluster_id,
        case
            when
                reference_answer is null
                and source_chunk_ids is null
                and query_type is null
                and declared_cluster_id is null
                and family_query_id is null
                and expected_behaviour = 'answer'
                and coalesce(variant_type, 'original') = 'original'
                then 'production'
            else 'test_set'
        end as origin
    from interactions
)

select * from final
