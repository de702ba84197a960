-- Three kinds say whether context or query hold the words, numbers or entities of an answer; two more, whether its
-- numbers or entities stand where the context puts them.
with units as (
    select interaction_id, input_key from {{ ref('hcat', 'int_interaction_units') }}
),

-- The detail is shown to readers, so it hides words and numbers of masked values. Words are joined sentence by
-- sentence, because the words of all interactions, one row each, exceed the memory at scale.
current_rows as (
    select
        -- noqa: disable=PRS,LT02
        {%- for items in ['unsupported', 'displaced'] %}
        {%- set shown = mask_words('supported.' ~ items, 'private_values.private_values') %}
        nullif({{ array_join('array_sort(' ~ shown ~ ')', ', ') }}, '') as {{ items }}_items,
        {%- endfor %}
        -- noqa: enable=PRS,LT02
        supported.*
    from {{ ref('hcat', 'int_sentences_supported') }} as supported
    inner join units on supported.interaction_id = units.interaction_id and supported.input_key = units.input_key
    left join {{ ref('hcat', 'int_interaction_privacy_values') }} as private_values
        on supported.interaction_id = private_values.interaction_id
),

aggregated as (
    select
        interaction_id,
        {%- for kind in ['words', 'numbers', 'entities'] %}
        sum(count_{{ kind }}) as count_{{ kind }},
        sum(count_{{ kind }}_supported) as count_{{ kind }}_supported,
        {%- endfor %}
        max(number_displacement) as numbers_displacement,
        max(entity_displacement) as entities_displacement,
        'not found: ' || {{ joined_text('unsupported_items', "', '", 'sentence_index') }} as not_found,
        'out of place: ' || {{ joined_text('displaced_items', "', '", 'sentence_index') }} as out_of_place
    from current_rows
    group by interaction_id
),

unpivoted as (
    {%- for kind in ['words', 'numbers', 'entities'] %}
    select
        interaction_id,
        'support_{{ kind }}' as metric_name,
        count_{{ kind }} as scored_count,
        -- An answer without numbers has no share of supported numbers, neither 1 nor 0.
        count_{{ kind }}_supported / nullif(count_{{ kind }}, 0)::double as raw_score,
        not_found as detail
    from aggregated
    union all
    {%- endfor %}
    {%- for kind in ['numbers', 'entities'] %}
    select
        interaction_id,
        'placement_{{ kind }}' as metric_name,
        count_{{ kind }} as scored_count,
        case when count_{{ kind }} > 0 then 1 - least(1, {{ kind }}_displacement) end as raw_score,
        out_of_place as detail
    from aggregated
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
)

{{ evaluations('unpivoted',
    score_status="case when scored_count > 0 then 'scored' else 'not_applicable' end",
    detail='left(detail, 400)'
) }}
