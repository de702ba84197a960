-- This is a table, because three models read it: a view would explode the lists of all interactions for each.
{{ config(materialized='table') }}
{%- set comparisons = [
    ('query', 'context'), ('context', 'query'), ('answer', 'context'),
    ('context', 'answer'), ('answer', 'query'), ('query', 'answer')
] %}

with sentence_weights as (
    select * from {{ ref('hcat', 'int_sentence_weights') }}
    where is_usable
),

current_rows as (
    select
        compared.*,
        units.query_content_words,
        units.answer_content_words,
        units.context_content_words,
        units.context_completeness_weights
    from {{ ref('hcat', 'int_interactions_compared') }} as compared
    inner join {{ ref('hcat', 'int_interaction_units') }} as units
        on compared.interaction_id = units.interaction_id and compared.input_key = units.input_key
),

exploded as (
    {%- for first, second in comparisons %}
    select
        interaction_id,
        '{{ first }}_to_{{ second }}' as comparison,
        '{{ first }}' as weighed_role,
        {%- set lists = {
            'sentence_index': number_series(array_length(first ~ '_to_' ~ second ~ '_similarity')),
            'match_index': first ~ '_to_' ~ second ~ '_match',
            'similarity': first ~ '_to_' ~ second ~ '_similarity',
            'count_content_words': first ~ '_content_words'
        } %}
        {%- if first == 'context' and second == 'answer' %}
        {%- do lists.update({
            'completeness_weight': 'context_completeness_weights', 'relevance': 'context_to_query_similarity'
        }) %}
        {{ array_at('array_sort(context_completeness_weights)', 1) }} is not null as is_weighted,
        {{ explode_together(lists) }},
        {%- else %}
        false as is_weighted,
        {{ explode_together(lists) }},
        null::double as completeness_weight,
        null::double as relevance,
        {%- endif %}
        count_truncated_{{ first }} + count_truncated_{{ second }}
        {%- if first == 'context' and second == 'answer' %} + count_truncated_query{% endif %} as count_truncated
    from current_rows
    where {{ first }}_to_{{ second }}_similarity is not null
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

final as (
    select
        exploded.interaction_id,
        exploded.comparison,
        exploded.sentence_index::integer as sentence_index,
        exploded.match_index,
        exploded.similarity::double as similarity,
        -- Completeness weights a context sentence by its relevance to the query, so that irrelevant context does not
        -- count against the answer. In all other comparisons the weight of a sentence is its number of content words.
        -- Weights that the logs hold for the chunks or the sentences of this interaction take precedence.
        case
            when exploded.is_weighted then coalesce(exploded.completeness_weight, 0.0)
            when exploded.comparison = 'context_to_answer' then greatest(0.0, exploded.relevance::double)
            when sentence_weights.interaction_id is not null
                then {{ array_at('sentence_weights.weights', 'exploded.sentence_index + 1') }}
            else exploded.count_content_words::double
        end as weight,
        exploded.count_truncated
    from exploded
    left join sentence_weights
        on exploded.interaction_id = sentence_weights.interaction_id and exploded.weighed_role = sentence_weights.role
)

select * from final
