{{ config(materialized='view') }}
with probes as (
    select * from {{ seed('toxicity_probes') }}
),

safety_texts as (
    select * from {{ seed('safety_texts') }}
    where is_enabled and kind <> 'canary'
),

probes_filled as (
    select
        sentences.probe_id as source_id,
        groups_of_people.probe_id as target_group,
        replace(sentences.probe_text, '{group}', groups_of_people.probe_text) as filled_text,
        sentences.is_toxic
    from probes as sentences
    inner join probes as groups_of_people on sentences.kind = 'sentence' and groups_of_people.kind = 'group'
),

final as (
    select
        md5(filled_text) as text_id,
        'probe' as purpose,
        source_id,
        target_group,
        null::string as topic,
        filled_text as encoded_text,
        is_toxic
    from probes_filled
    union all
    select
        md5(wording) as text_id,
        kind as purpose,
        source_id,
        null::string as target_group,
        topic,
        wording as encoded_text,
        null::boolean as is_toxic
    from safety_texts
)

select * from final
