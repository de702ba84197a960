-- What an interaction holds decides which metrics can be scored.
-- The language of an answer counts from this probability and this many letters on (hcat.language.identification).
{%- set probability, letters = 0.8, 20 %}
{{ config(materialized='table', post_hook="{{ raise_when_no_tag('hcat_second_cluster', ['document', 'day']) }}") }}
{#- a tag may name a person, and a hash tells it to whoever tries names -#}
{%- set name = var('hcat_second_cluster') %}
{%- set second_keys = {
    'document': "'document_' || coalesce(interactions.source_document_id, documents_retrieved.document_id)",
    'day': "'day_' || date_trunc('day', interactions.asked_at)::date::string"
} %}
{%- set tag = json_field('interactions.tags', "'" ~ name ~ "'") %}
{%- set first_asked_at = "min(case when population <> 'variant' then asked_at end)" %}
{%- set number = 'case when ' ~ tag ~ ' is not null then dense_rank() over (order by ' ~ tag ~ ') end' %}
{%- set second_key = second_keys.get(name, "'tag_' || " ~ number) %}

with interactions as (
    select * from {{ ref('hcat', 'int_interactions') }}
),

passages as (
    select * from {{ ref('hcat', 'int_interaction_passages') }}
),

answers_described as (
    select
        passages.interaction_id,
        described.refusal_rule,
        described.is_refusal,
        -- an answer tells its language if it is long enough
        case
            when described.language_probability >= {{ probability }} and described.count_letters >= {{ letters }}
                then described.language
        end as language
    from passages
    inner join {{ ref('hcat', 'int_answers_described') }} as described on passages.passage_id = described.passage_id
    -- what other heads read stays in the table
    where
        passages.role = 'answer'
        and described.reading_key = (select encoder.reading_key from {{ ref('hcat', 'int_encoder') }} as encoder)
),

retrievals_graded as (
    select interaction_id, bool_or(grade > 0) as is_source_retrieved
    from {{ ref('hcat', 'int_retrievals_graded') }}
    group by interaction_id
),

context_counts as (
    select interaction_id, count(*) as count_contexts, min(passage_id) as passage_id
    from passages
    where role = 'context'
    group by interaction_id
),

-- the document of the best passage whose document is known
documents_retrieved as (
    select
        retrievals.interaction_id,
        min_by(chunks.document_id, {{ record({'rank': 'retrievals.rank', 'id': 'chunks.document_id'}) }}) as document_id
    from {{ ref('hcat', 'stg_retrievals') }} as retrievals
    inner join {{ ref('hcat', 'stg_chunks') }} as chunks on retrievals.chunk_id = chunks.chunk_id
    group by retrievals.interaction_id
),

-- Answers to variants of queries date no version. Where a version has no time, names order all of them.
versions as (
    select
        {{ named('application') }} as application,
        coalesce(application_version, '') as version,
        -- unnamed answers, and a version that variants alone were asked, take no version its time
        case
            when
                bool_and(
                    coalesce(application_version, '') = '' or {{ first_asked_at }} is not null
                    or bool_and(population = 'variant')
                ) over (partition by {{ named('application') }})
                then {{ first_asked_at }}
        end as first_asked_at,
        bool_or(population = 'test_set') as has_test_set,
        bool_or(population = 'production') as has_production
    from interactions
    group by {{ named('application') }}, coalesce(application_version, '')
),

ordered as (
    select
        *,
        row_number() over newest_first as place,
        nullif(lead(version) over newest_first, '') as predecessor
    from versions
    window newest_first as (
        partition by application
        -- who logged no version has none that could be released, unless nobody names any
        order by
            version = '' asc, first_asked_at desc nulls last, {{ numbers_of_version('version') }} desc, version desc
    )
),

-- a pair of the seed goes before the order of time; of several, the one with the newest candidate counts
declared as (
    select
        pairs.application, pairs.candidate_version as candidate, pairs.baseline_version as baseline,
        row_number() over (partition by pairs.application order by candidates.place, baselines.place) as place
    from {{ seed('version_pairs') }} as pairs
    inner join ordered as candidates
        on pairs.application = candidates.application and pairs.candidate_version = candidates.version
    inner join ordered as baselines
        on pairs.application = baselines.application and pairs.baseline_version = baselines.version
    where pairs.baseline_version <> pairs.candidate_version
),

subjects as (
    select
        ordered.application,
        coalesce(declared.candidate, ordered.version) as candidate,
        coalesce(declared.baseline, ordered.predecessor) as baseline
    from ordered
    left join declared on ordered.application = declared.application and declared.place = 1
    where ordered.place = 1
),

roles as (
    select
        versions.application, versions.version, versions.has_test_set,
        case
            when versions.version = subjects.candidate then 'candidate'
            when versions.version = subjects.baseline then 'baseline'
            else 'other'
        end as version_role,
        -- an application that no customer asks yet is watched on its test set
        not bool_or(versions.has_production) over (partition by versions.application) as is_unasked
    from versions
    inner join subjects on versions.application = subjects.application
),

final as (
    select
        interactions.*,
        -- Questions about one document fail together as well. A key of single rows changes no interval.
        coalesce(nullif({{ second_key }}, interactions.cluster_id), interactions.interaction_id) as second_cluster_id,
        roles.version_role,
        roles.version_role = 'candidate'
        and interactions.population = case when roles.has_test_set then 'test_set' else 'production' end
            as is_in_release_population,
        interactions.population = case when roles.is_unasked then 'test_set' else 'production' end
            as is_in_monitored_population,
        answers_described.refusal_rule,
        -- a shorter one is in the language of all other answers to the same passage
        coalesce(interactions.logged_language, answers_described.language, case
            when
                context_counts.passage_id is not null
                and min(answers_described.language) over same_passage
                = max(answers_described.language) over same_passage
                then min(answers_described.language) over same_passage
        end) as answer_language,
        case
            when interactions.logged_language is not null then 'logged'
            when answers_described.language is not null then 'detected'
            else 'undecided'
        end as language_source,
        coalesce(context_counts.count_contexts, 0) as count_contexts,
        length(interactions.answer) as count_answer_characters,
        interactions.query_text is not null as has_query,
        coalesce(context_counts.count_contexts, 0) > 0 as has_context,
        interactions.reference_answer is not null as has_reference,
        retrievals_graded.interaction_id is not null as has_graded_retrieval,
        retrievals_graded.is_source_retrieved,
        coalesce(passages_unread.has_rejected_passage, false) as has_rejected_passage,
        coalesce(passages_unread.has_unknown_text, false) as has_unknown_text,
        coalesce(answers_described.is_refusal, false) as is_refusal
    from interactions
    inner join roles
        on
            {{ named('interactions.application') }} = roles.application
            and coalesce(interactions.application_version, '') = roles.version
    left join answers_described on interactions.interaction_id = answers_described.interaction_id
    left join context_counts on interactions.interaction_id = context_counts.interaction_id
    left join retrievals_graded on interactions.interaction_id = retrievals_graded.interaction_id
    left join documents_retrieved on interactions.interaction_id = documents_retrieved.interaction_id
    left join {{ ref('hcat', 'stg_retrievals__unread') }} as passages_unread
        on interactions.interaction_id = passages_unread.interaction_id
    window same_passage as (partition by context_counts.passage_id)
)

select * from final
