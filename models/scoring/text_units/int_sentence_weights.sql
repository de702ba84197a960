{%- set texts = {'query': 'query_text', 'answer': 'answer', 'reference': 'reference_answer'} %}

with weighed as (
    {%- for role in texts %}
    select
        interaction_id,
        '{{ role }}' as role,
        {{ role }}_sentence_weights as weights
    from {{ ref('hcat', 'int_interactions') }}
    where {{ role }}_sentence_weights is not null
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

counted as (
    select
        weighed.interaction_id,
        weighed.role,
        count(passages_split.sentence_index) as count_sentences
    from weighed
    left join {{ ref('hcat', 'int_interaction_passages') }} as interaction_passages
        on weighed.interaction_id = interaction_passages.interaction_id and weighed.role = interaction_passages.role
    left join {{ ref('hcat', 'int_passages_split') }} as passages_split
        on interaction_passages.passage_id = passages_split.passage_id
    group by weighed.interaction_id, weighed.role
),

final as (
    select
        weighed.interaction_id,
        weighed.role,
        weighed.weights,
        {{ array_length('weighed.weights') }} = counted.count_sentences as is_usable,
        case
            when {{ array_length('weighed.weights') }} <> counted.count_sentences
                then 'a weight for each sentence of the ' || weighed.role
                || ' (weights: ' || {{ array_length('weighed.weights') }}
                || ', sentences: ' || counted.count_sentences || ')'
        end as mismatch
    from weighed
    inner join counted on weighed.interaction_id = counted.interaction_id and weighed.role = counted.role
)

select * from final
