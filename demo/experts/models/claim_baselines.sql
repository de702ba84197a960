-- Baselines beside the scores: the words of the claim and of its evidence, where the evidence is a text.
with counted as (
    select
        interaction_id,
        (sum(len(string_split(trim(passage_text), ' '))) filter (where role = 'answer'))::double as claim_words,
        (sum(len(string_split(trim(passage_text), ' '))) filter (where role = 'context'))::double as evidence_words
    from {{ ref('hcat', 'int_interaction_passages') }}
    group by interaction_id
)

{% for name in ['claim_words', 'evidence_words'] %}
select
    interaction_id,
    '{{ name }}' as metric_name,
    {{ name }} as raw_score,
    'scored' as score_status,
    1 as scored_count,
    null as detail
from counted
where evidence_words is not null
{{ 'union all' if not loop.last }}
{% endfor %}
