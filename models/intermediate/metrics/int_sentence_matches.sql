-- One row per (interaction, comparison, sentence): its best match in the other role and its weight in the weighted
-- mean.
{%- set comparisons = [
    ('query', 'context'), ('context', 'query'), ('answer', 'context'),
    ('context', 'answer'), ('answer', 'query'), ('query', 'answer')
] %}

with compared as (
    select * from {{ ref('int_interactions_compared') }}
),

units as (
    select * from {{ ref('int_interaction_units') }}
),

current_rows as (
    select
        compared.*,
        units.query_content_words,
        units.answer_content_words,
        units.context_content_words,
        units.context_completeness_weights
    from compared
    inner join units on compared.interaction_id = units.interaction_id and compared.input_key = units.input_key
),

final as (
    {%- for first, second in comparisons %}
    select
        interaction_id,
        '{{ first }}_to_{{ second }}' as comparison,
        unnest(range(len({{ first }}_to_{{ second }}_similarity)))::integer as sentence_index,
        unnest({{ first }}_to_{{ second }}_match) as match_index,
        unnest({{ first }}_to_{{ second }}_similarity)::double as similarity,
        -- completeness weighs a context sentence by its relevance to the query, so that irrelevant context does not
        -- count against the answer, unless the logs bring weights for the chunks of this interaction; elsewhere a
        -- sentence counts by its content words
        {% if first == 'context' and second == 'answer' -%}
        case
            when list_max(context_completeness_weights) is not null
                then coalesce(unnest(context_completeness_weights), 0.0)
            else greatest(0.0, unnest(context_to_query_similarity)::double)
        end as weight,
        {%- else -%}
        unnest({{ first }}_content_words)::double as weight,
        {%- endif %}
        count_truncated_{{ first }} + count_truncated_{{ second }}
        {%- if first == 'context' and second == 'answer' %} + count_truncated_query{% endif %} as count_truncated
    from current_rows
    where {{ first }}_to_{{ second }}_similarity is not null
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
)

select * from final
