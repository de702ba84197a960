{{ config(
    materialized='table',
    pre_hook="{{ begin_buckets(
        '(select greatest(1, ceil(8 * count(*) * (select count(distinct metric_name) from '
        ~ ref('hcat', 'int_primary_evaluations') ~ ') / ' ~ bucket_characters() ~ '))::integer from '
        ~ ref('hcat', 'int_interaction_cells') ~ ')'
    ) }}",
    post_hook="{{ insert_other_buckets() }}"
) }}
{%- set quantiles = [0.0, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0] %}

with evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
    where is_in_release_population
),

-- lists of scores and clusters stay in memory: those of some cells at a time
cells as (
    select * from {{ ref('hcat', 'int_interaction_cells') }}
    where {{ is_in_bucket('cell_key') }}
),

interactions as (
    select interaction_id, second_cluster_id from {{ ref('hcat', 'fct_interactions') }}
),

named as (
    select distinct cell_key, first_dimension, first_segment, second_dimension, second_segment
    from cells
),

summarised as (
    select
        evaluations.metric_name, cells.cell_key,
        count(*) as count_interactions,
        count(distinct cells.cluster_id) as count_clusters,
        count(distinct interactions.second_cluster_id) as count_second_clusters,
        count(distinct {{ hash_number('cells.cluster_id, interactions.second_cluster_id') }}) as count_cluster_pairs,
        {%- if is_on('distributions') %}
        -- one list: separate quantiles would hold the scores as many times
        {{ quantiles_of('evaluations.raw_score', quantiles) }} as scores,
        {%- endif %}
        max(evaluations.threshold) as threshold
    from cells
    inner join evaluations on cells.interaction_id = evaluations.interaction_id
    inner join interactions on cells.interaction_id = interactions.interaction_id
    group by evaluations.metric_name, cells.cell_key
),

final as (
    select
        {{ cell_id('summarised.metric_name', 'named') }} as cell_id,
        summarised.metric_name, named.first_dimension, named.first_segment, named.second_dimension,
        named.second_segment, summarised.cell_key, summarised.count_interactions, summarised.count_clusters,
        summarised.count_second_clusters, summarised.count_cluster_pairs,
        {%- if is_on('distributions') %}
        case when summarised.scores is not null then {{ array_of(doubles(quantiles)) }} end as quantiles,
        summarised.scores,
        {%- endif %}
        {%- for quantile in [0.25, 0.5, 0.75] %}
        {{ array_at('summarised.scores', quantiles.index(quantile) + 1) if is_on('distributions') else 'null::double' }}
            as quantile_{{ '%02d' % (quantile * 100) | round | int }},
        {%- endfor %}
        summarised.threshold
    from summarised
    inner join named on summarised.cell_key = named.cell_key
)

select * from final
