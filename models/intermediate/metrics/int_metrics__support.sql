-- One row per (interaction, kind): share of the answer's words, numbers or entities found in context or query.
with supported as (
    select * from {{ ref('int_sentences_supported') }}
),

units as (
    select * from {{ ref('int_interaction_units') }}
),

current_rows as (
    select supported.*
    from supported
    inner join units on supported.interaction_id = units.interaction_id and supported.input_key = units.input_key
),

unsupported_items as (
    select interaction_id, string_agg(item, ', ' order by sentence_index, item) as detail
    from (select interaction_id, sentence_index, unnest(unsupported) as item from current_rows) as unsupported_rows
    group by interaction_id
),

summed as (
    {%- for kind in ['words', 'numbers', 'entities'] %}
    select
        interaction_id,
        'support_{{ kind }}' as metric_name,
        sum(count_{{ kind }}) as scored_count,
        sum(count_{{ kind }}_supported) as count_supported
    from current_rows
    group by interaction_id
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

final as (
    select
        {{ evaluation_id('summed.interaction_id', 'summed.metric_name') }} as evaluation_id,
        summed.interaction_id,
        summed.metric_name,
        -- an answer without numbers has no share of supported numbers: not 1, not 0
        case when summed.scored_count > 0 then summed.count_supported / summed.scored_count::double end as raw_score,
        case when summed.scored_count > 0 then 'scored' else 'not_applicable' end as score_status,
        summed.scored_count,
        'not found: ' || left(unsupported_items.detail, 400) as detail
    from summed
    left join unsupported_items on summed.interaction_id = unsupported_items.interaction_id
)

select * from final
