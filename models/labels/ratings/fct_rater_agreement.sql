with final as (
    select
        -- ids
        md5(
            concat_ws(
                '|', criterion, statistic, coalesce(rater, ''), rater_kind, coalesce(other_rater_kind, '')
            )
        ) as rater_agreement_id,

        -- strings
        criterion,
        statistic,
        rater_kind,
        other_rater_kind,
        rater,
        status,
        interval_status,

        -- numerics
        value as agreement,
        low as agreement_low,
        high as agreement_high,
        count_units::integer as count_units,
        count_ratings::integer as count_ratings,
        count_clusters::integer as count_clusters
    from {{ ref('hcat', 'int_raters_measured') }}
    where part = 'agreement'
)

select * from final
