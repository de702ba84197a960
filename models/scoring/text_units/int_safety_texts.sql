-- One row per text of a seed that is embedded together with the logs. These are toxicity probes, examples of restricted
-- topics, and examples of what the application is for.
{{ config(materialized='view') }}
with probes as (
    select * from {{ seed('toxicity_probes') }}
),

groups_of_people as (
    select * from {{ seed('toxicity_groups') }}
),

restricted_topics as (
    select * from {{ seed('restricted_topics') }}
),

scope_examples as (
    select * from {{ seed('scope_examples') }}
),

probes_filled as (
    select
        'probe' as purpose,
        probes.probe_id as source_id,
        groups_of_people.target_group,
        null::string as topic,
        replace(probes.probe_text, '{group}', groups_of_people.group_term) as filled_text,
        probes.is_toxic
    from probes
    cross join groups_of_people
),

final as (
    select
        md5(filled_text) as text_id,
        purpose,
        source_id,
        target_group,
        topic,
        filled_text as encoded_text,
        is_toxic
    from probes_filled
    union all
    select
        md5(example_text) as text_id,
        'restricted_example' as purpose,
        example_id as source_id,
        null::string as target_group,
        restricted_topic as topic,
        example_text as encoded_text,
        null::boolean as is_toxic
    from restricted_topics
    where is_enabled
    union all
    select
        md5(example_text) as text_id,
        'scope_example' as purpose,
        example_id as source_id,
        null::string as target_group,
        scope_topic as topic,
        example_text as encoded_text,
        null::boolean as is_toxic
    from scope_examples
    where is_enabled
)

select * from final
