-- One row per (interaction, kind) with the share of the answer's words, numbers or entities that occur in the context
-- or the query. Two further kinds say whether its numbers or entities stand where the context puts them.
-- This is a table that is written bucket by bucket, because the words of all interactions exceed the memory at scale.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    full_refresh=writes_all_interactions(),
    pre_hook=["{{ delete_changed() }}", "{{ cut_into_buckets(only_changed=true) }}"],
    post_hook="{{ insert_other_buckets() }}"
) }}

with supported as (
    select * from {{ ref('hcat', 'int_sentences_supported') }}
    where {{ is_in_bucket('interaction_id') }} and {{ is_changed('interaction_id') }}
),

units as (
    select * from {{ ref('hcat', 'int_interaction_units') }}
    where {{ is_in_bucket('interaction_id') }} and {{ is_changed('interaction_id') }}
),

private_values as (
    select * from {{ ref('hcat', 'int_interaction_privacy_values') }}
    where {{ is_in_bucket('interaction_id') }} and {{ is_changed('interaction_id') }}
),

current_rows as (
    select
        supported.*,
        private_values.private_values
    from supported
    inner join units on supported.interaction_id = units.interaction_id and supported.input_key = units.input_key
    left join private_values on supported.interaction_id = private_values.interaction_id
),

unsupported_items as (
    select interaction_id, {{ joined_text('item', "', '", 'sentence_index, item') }} as detail
    from (
        -- The detail is shown to readers, so it hides words and numbers of masked values.
        select
            current_rows.interaction_id,
            current_rows.sentence_index,
            {{ explode(mask_words('current_rows.unsupported', 'current_rows.private_values')) }} as item
        from current_rows
    ) as unsupported_rows
    group by interaction_id
),

displaced_items as (
    select interaction_id, {{ joined_text('item', "', '", 'sentence_index, item') }} as detail
    from (
        -- The detail is shown to readers, so it hides words and numbers of masked values.
        select
            current_rows.interaction_id,
            current_rows.sentence_index,
            {{ explode(mask_words('current_rows.displaced', 'current_rows.private_values')) }} as item
        from current_rows
    ) as displaced_rows
    group by interaction_id
),

measured as (
    {%- for kind in ['words', 'numbers', 'entities'] %}
    select
        interaction_id,
        'support_{{ kind }}' as metric_name,
        sum(count_{{ kind }}) as scored_count,
        -- An answer without numbers has no share of supported numbers, neither 1 nor 0.
        sum(count_{{ kind }}_supported) / nullif(sum(count_{{ kind }}), 0)::double as score
    from current_rows
    group by interaction_id
    union all
    {%- endfor %}
    {%- for kind, singular in [('numbers', 'number'), ('entities', 'entity')] %}
    select
        interaction_id,
        'placement_{{ kind }}' as metric_name,
        sum(count_{{ kind }}) as scored_count,
        case when sum(count_{{ kind }}) > 0 then 1 - least(1, max({{ singular }}_displacement)) end as score
    from current_rows
    group by interaction_id
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

final as (
    select
        {{ evaluation_id('measured.interaction_id', 'measured.metric_name') }} as evaluation_id,
        measured.interaction_id,
        measured.metric_name,
        measured.score as raw_score,
        case when measured.scored_count > 0 then 'scored' else 'not_applicable' end as score_status,
        measured.scored_count,
        left(
            if(
                measured.metric_name like 'placement%',
                'out of place: ' || displaced_items.detail,
                'not found: ' || unsupported_items.detail
            ),
            400
        ) as detail
    from measured
    left join unsupported_items on measured.interaction_id = unsupported_items.interaction_id
    left join displaced_items on measured.interaction_id = displaced_items.interaction_id
)

select * from final
