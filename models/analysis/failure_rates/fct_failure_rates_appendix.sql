with described as (
    select * from {{ ref('hcat', 'int_failure_rates_described') }}
),

final as (
    select
        {{ columns_of_a_failure_rate() | indent(8) }}
    from described
    where not is_decisive
)

select * from final
