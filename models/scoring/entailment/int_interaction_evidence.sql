-- One row per interaction that has both answer and context, with the content key of its windows of evidence.
{{ config(materialized='view') }}
with units as (
    select * from {{ ref('hcat', 'int_interaction_units') }}
),

classifier as (
    select * from {{ ref('hcat', 'int_classifier') }}
),

final as (
    select
        units.interaction_id,
        md5(
            concat_ws(
                '|',
                units.input_key,
                '{{ var("hcat_evidence_mode") }}',
                '{{ var("hcat_evidence_windows") }}',
                '{{ var("hcat_evidence_sentences") }}',
                '{{ var("hcat_evidence_characters") }}'
            )
        ) as evidence_key,
        units.answer_text_ids,
        {{ evidence_of_turn('text_ids') }} as context_text_ids,
        {{ evidence_of_turn('ranks') }} as context_ranks
    from units
    cross join classifier
    where units.answer_text_ids is not null and units.context_text_ids is not null and classifier.location <> 'none'
)

select * from final
