-- One row per (system, variant, metric) whose parent the same system was asked, with both scores and the change.
{{ config(materialized='table') }}

with queries as (
    select query_id, parent_query_id, variant_type from {{ ref('hcat', 'stg_queries') }}
    where parent_query_id is not null and parent_query_id <> query_id
),

queries_grouped as (
    select query_id, variant_meaning from {{ ref('hcat', 'int_queries') }}
),

averaged as (
    select * from {{ ref('hcat', 'int_variant_answers_averaged') }}
),

metrics as (
    select metric_name, direction from {{ ref('hcat', 'int_metric_catalog') }}
    union all
    select 'answer_correctness' as metric_name, 'higher_is_better' as direction
),

final as (
    select
        md5(concat_ws(chr(31), variants.system, queries.parent_query_id, queries.query_id, variants.metric_name))
            as robustness_pair_id,
        variants.system,
        queries.parent_query_id,
        queries.query_id as variant_query_id,
        parents.cluster_id,
        queries.variant_type,
        queries_grouped.variant_meaning,
        variants.metric_name,
        parents.mean_score as parent_score,
        variants.mean_score as variant_score,
        -- positive = the variant does better
        case
            when metrics.direction = 'higher_is_better' then variants.mean_score - parents.mean_score
            else parents.mean_score - variants.mean_score
        end as score_change,
        parents.is_right as is_parent_right,
        variants.is_right as is_variant_right,
        case
            when parents.is_right is null or variants.is_right is null then 'undecided'
            when parents.is_right and variants.is_right then 'both_right'
            when parents.is_right then 'broken'
            when variants.is_right then 'mended'
            else 'both_wrong'
        end as outcome
    from queries
    inner join queries_grouped on queries.query_id = queries_grouped.query_id
    inner join averaged as variants on queries.query_id = variants.query_id
    inner join averaged as parents
        on
            queries.parent_query_id = parents.query_id
            and variants.system = parents.system
            and variants.metric_name = parents.metric_name
    inner join metrics on variants.metric_name = metrics.metric_name
)

select * from final
