-- What the facts promise. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('costs_count_every_interaction', ['fct_assistant_costs']) %}
-- A row of all of the log counts the interactions of its system and population.
select costs.assistant_cost_id as id, 'counts other interactions' as problem
from {{ ref('hcat', 'fct_assistant_costs') }} as costs
left join (
    select system, population, count(*) as count_interactions from {{ ref('hcat', 'fct_interactions') }}
    group by system, population
) as interactions
    on costs.system = interactions.system and costs.population = interactions.population
where costs.period = 'all' and costs.count_interactions is distinct from interactions.count_interactions
{% endcall %}

{% call promise('one_system_has_one_name', []) %}
-- Rates and gates know a system by its name: application and version may not make the same name in two ways.
select system as id, 'two systems have this name: ' || min(named) || ' and ' || max(named) as problem
from (
    select
        system,
        coalesce('application "' || application || '"', 'no application')
        || coalesce(' with version "' || application_version || '"', ' without a version') as named
    from {{ ref('hcat', 'fct_interactions') }}
) as systems
group by system
having min(named) < max(named)
{% endcall %}

{% call promise('conversations_are_complete', ['fct_conversations']) %}
-- Every conversation with one system has one row, with all of its turns and all of its failing interactions.
with turns as (
    select conversation_key, count(distinct turn_index) as count_logged_turns
    from {{ ref('hcat', 'int_interactions') }}
    where conversation_key is not null
    group by conversation_key
),

failing as (
    select interactions.conversation_key, count(*) as count_failing
    from {{ ref('hcat', 'fct_interactions') }} as interactions
    inner join {{ ref('hcat', 'fct_verdicts') }} as verdicts on interactions.interaction_id = verdicts.interaction_id
    where verdicts.verdict = 'failing'
    group by interactions.conversation_key
)

select
    coalesce(turns.conversation_key, conversations.conversation_key) as id,
    'no row of its own, or not all of its turns and failing interactions' as problem
from turns
full outer join {{ ref('hcat', 'fct_conversations') }} as conversations
    on turns.conversation_key = conversations.conversation_key
left join failing on turns.conversation_key = failing.conversation_key
where
    turns.conversation_key is null
    or conversations.conversation_key is null
    or conversations.count_logged_turns <> turns.count_logged_turns
    or conversations.count_failing <> coalesce(failing.count_failing, 0)
{% endcall %}

{% call promise('retrieved_contexts_are_complete', ['fct_retrieved_contexts']) %}
-- Every retrieved passage has its row, and each passage that a metric read has its text there. One aggregation, because
-- it spills: joins of three tables that grow with the logs do not fit beside another node.
with places as (
    select interaction_id, rank, 'retrieved' as found_in
    from {{ ref('hcat', 'stg_retrievals') }}
    union all
    select
        interaction_id, rank,
        case when context_text is null then 'contexts' else 'contexts with text' end as found_in
    from {{ ref('hcat', 'fct_retrieved_contexts') }}
    union all
    select interaction_id, position as rank, 'passages with text' as found_in
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'context' and passage_text is not null
),

counted as (
    select
        interaction_id, rank,
        sum(case when found_in = 'retrieved' then 1 else 0 end) as count_retrieved,
        sum(case when found_in like 'contexts%' then 1 else 0 end) as count_contexts,
        sum(case when found_in = 'contexts with text' then 1 else 0 end) as count_contexts_with_text,
        sum(case when found_in = 'passages with text' then 1 else 0 end) as count_passages_with_text
    from places
    group by interaction_id, rank
)

select
    concat_ws(' ', interaction_id, cast(rank as string)) as id,
    'a retrieved passage without its row, a row without its text, or a place without a name' as problem
from counted
where
    (count_retrieved > 0 and count_contexts = 0)
    or (count_retrieved = 0 and count_contexts > 0)
    or (count_passages_with_text > 0 and count_contexts_with_text < count_contexts)
    -- a place without a name is no place
    or (count_retrieved + count_contexts > 0 and (interaction_id is null or rank is null))
{% endcall %}

{% call promise('scores_and_statuses_agree', ['fct_evaluations']) %}
-- A status that promises a score has one. A status that explains the absence of a score has none.
select evaluation_id as id, concat_ws(' ', metric_name, score_status) as problem
from {{ ref('hcat', 'fct_evaluations') }}
where
    (score_status in ('scored', 'truncated') and raw_score is null)
    or (score_status in ('missing_input', 'unsupported_language', 'not_applicable', 'failed') and raw_score is not null)
{% endcall %}

{% call promise('scores_lie_in_the_catalogued_range', ['fct_evaluations']) %}
-- Scores outside the range of the catalogue. The test allows a tolerance, because similarities are float32.
select
    evaluations.evaluation_id as id, concat_ws(' ', evaluations.metric_name, cast(evaluations.raw_score as string)) as problem
from {{ ref('hcat', 'fct_evaluations') }} as evaluations
inner join {{ ref('hcat', 'int_metric_catalog') }} as metrics on evaluations.metric_name = metrics.metric_name
where
    evaluations.raw_score < metrics.range_low - 1e-6
    or evaluations.raw_score > metrics.range_high + 1e-6
{% endcall %}

{% call promise('sentence_evidence_is_complete', ['fct_sentence_evidence']) %}
-- Every answer sentence of an interaction with context has its evidence. Each such answer has one suspect sentence.
select units.interaction_id as id, 'not one row per sentence, or not one suspect sentence' as problem
from {{ ref('hcat', 'int_interaction_units') }} as units
left join {{ ref('hcat', 'fct_sentence_evidence') }} as evidence on units.interaction_id = evidence.interaction_id
where units.answer_text_ids is not null and units.context_text_ids is not null
group by units.interaction_id, units.answer_text_ids
having
    count(evidence.sentence_id) <> {{ array_length('units.answer_text_ids') }}
    or count(evidence.sentence_id) filter (where evidence.is_least_grounded) <> 1
{% endcall %}

{% call promise('verdicts_are_complete', ['fct_verdicts']) %}
-- Every interaction has one verdict, and no other row exists. Every interaction is expected to have one evaluation
-- for each metric: completes_index compares evaluations with these, and does not see a key that is twice on both sides.
with metrics as (
    select count(*) as count_metrics
    from {{ ref('hcat', 'int_metric_catalog') }}
    where {{ is_metric_of_this_build('requires') }} and family <> 'verdict'
),

expected as (
    select interaction_id, count(*) as count_evaluations
    from {{ ref('hcat', 'int_evaluations_expected') }}
    group by interaction_id
)

select
    coalesce(interactions.interaction_id, verdicts.interaction_id) as id,
    'no verdict, or no interaction' as problem
from {{ ref('hcat', 'fct_interactions') }} as interactions
full outer join {{ ref('hcat', 'fct_verdicts') }} as verdicts
    on interactions.interaction_id = verdicts.interaction_id
where interactions.interaction_id is null or verdicts.interaction_id is null
union all
select expected.interaction_id as id, 'not one evaluation for each metric' as problem
from expected
cross join metrics
where expected.count_evaluations <> metrics.count_metrics
{% endcall %}

{% call promise('metrics_are_complete', ['dim_metrics']) %}
-- Every metric of this build has a row, and no other has one.
with expected as (
    select metric_name from {{ ref('hcat', 'int_metric_catalog') }}
    where {{ is_metric_of_this_build('requires') }}
),

found as (
    select metric_name from {{ ref('hcat', 'dim_metrics') }}
)

{{ rows_that_differ('metric_name') }}
{% endcall %}
