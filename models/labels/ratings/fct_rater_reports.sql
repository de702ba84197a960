with final as (
    select
        -- ids
        md5(concat_ws('|', criterion, rater, rater_kind)) as rater_report_id,

        -- strings
        criterion,
        rater,
        rater_kind,
        status,

        -- numerics
        count_ratings::integer as count_ratings,
        count_shared_units::integer as count_shared_units,
        count_effective,
        agreement,
        low as agreement_low,
        high as agreement_high,
        kappa,
        agreement_of_others,

        -- booleans
        disagrees_with_everyone
    from {{ ref('hcat', 'int_rater_reports') }}
)

select * from final
