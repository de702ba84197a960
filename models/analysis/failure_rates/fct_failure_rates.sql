-- What somebody decides by: whole systems, and the segments with labelled clusters enough.
with estimated as (
    select * from {{ ref('hcat', 'int_failure_rates_estimated') }}
),

final as (
    select
        -- ids
        md5(concat_ws('|', criterion, system, dimension, segment)) as failure_rate_id,
        criterion,
        system,
        dimension,
        segment,

        -- strings
        method,
        message,
        statement,

        -- numerics
        count_interactions,
        count_known_outcomes,
        count_labels,
        count_labels_by_people,
        count_labels_by_language_models,
        count_failures,
        count_clusters,
        effective_n,
        failure_rate,
        failure_rate_lower,
        failure_rate_upper,
        labels_only_rate,
        power_tuning,
        width_ratio,

        -- booleans
        count_clusters < {{ var('hcat_minimum_segment_clusters') }} as is_small
    from estimated
    where dimension = 'all' or count_clusters >= {{ var('hcat_minimum_segment_clusters') }}
)

select * from final
