with answers as (
    select interaction_id, exposure_key from {{ ref('hcat', 'int_answers_with_spans') }}
),

final as (
    select
        md5(concat_ws('|', spans.interaction_id, spans.finding_index)) as privacy_finding_id,
        spans.*,
        entity_types.entity_class,
        entity_types.is_counted,
        entity_types.is_counted and spans.exposure = 'leaked' as is_leak
    from {{ ref('hcat', 'int_privacy_spans') }} as spans
    -- Findings in another answer or context, or by other recognisers, stay in the table but do not count here.
    inner join answers
        on spans.interaction_id = answers.interaction_id and spans.exposure_key = answers.exposure_key
    inner join {{ seed('privacy_entity_types') }} as entity_types on spans.entity_type = entity_types.entity_type
)

select * from final
