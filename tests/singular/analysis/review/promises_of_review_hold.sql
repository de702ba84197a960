{{ config(enabled=is_on('calibration')) }}
-- What the sample for review promises. No publication waits for it. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('drawn_interactions_are_unique', ['int_interactions_sampled_for_review']) %}
select review_id as id, concat_ws(' ', cast(count(*) as string), 'rows') as problem
from {{ ref('hcat', 'int_interactions_sampled_for_review') }}
group by review_id
having count(*) > 1 or review_id is null
{% endcall %}

{% call promise('drawn_interactions_are_described', ['int_interactions_sampled_for_review']) %}
-- Every drawn interaction has its criterion and its probabilities, and how it was drawn is said in known words.
select review_id as id, concat_ws(' ', sampling, ambiguity_basis, plan_status) as problem
from {{ ref('hcat', 'int_interactions_sampled_for_review') }}
where
    criterion is null
    or inclusion_probability is null
    or audit_probability is null
    or sampling not in ('audit', 'targeted', 'release')
    or ambiguity_basis not in ('calibrated_probability', 'raw_score', 'no_probability')
    or plan_status not in ('planned', 'subsampled', 'all_interactions')
{% endcall %}
