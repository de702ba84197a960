{{ config(
    materialized='table',
    pre_hook="{{ cut_into_buckets() }}",
    post_hook="{{ insert_other_buckets() }}"
) }}
{%- set roles = ['query', 'answer', 'context', 'statement'] %}

with interaction_passages as (
    -- The lists of all interactions at once exceed the memory at scale.
    select * from {{ ref('hcat', 'int_interaction_passages') }}
    where {{ is_in_bucket('interaction_id') }}
),

classifier as (
    select location from {{ ref('hcat', 'int_classifier') }}
),

sentences as (
    select
        interaction_passages.interaction_id,
        interaction_passages.role,
        -- The fields stand in the order by which a list of these records is sorted.
        {{ record({
            'position': 'interaction_passages.position',
            'sentence_index': 'passages_split.sentence_index',
            'text_id': 'passages_split.text_id',
            'count_content_words': 'passages_split.count_content_words',
            'completeness_weight': 'interaction_passages.completeness_weight'
        }) }} as sentence
    from interaction_passages
    inner join {{ ref('hcat', 'int_passages_split') }} as passages_split
        on interaction_passages.passage_id = passages_split.passage_id
    where interaction_passages.role <> 'reference'
),

-- Builds one list per role and sorts it afterwards. Nine ordered lists at once exceed the memory at scale. A role
-- without sentences has no list, where some engines would make an empty one.
sentences_gathered as (
    select
        {%- for role in roles %}
        case
            when bool_or(role = '{{ role }}') then array_sort(array_agg(sentence) filter (where role = '{{ role }}'))
        end as {{ role }}_sentences,
        {%- endfor %}
        interaction_id
    from sentences
    group by interaction_id
),

sentences_listed as (
    select
        -- The linter mistakes the elements of a list for a table.
        interaction_id,  -- noqa: RF03
        {%- for role in roles %}
        {{ array_map(role ~ '_sentences', 'each.text_id') }} as {{ role }}_text_ids,
        {%- if role != 'statement' %}
        {{ array_map(role ~ '_sentences', 'each.count_content_words') }} as {{ role }}_content_words,
        {%- endif %}
        {%- endfor %}
        {{ array_map('context_sentences', 'each.position') }} as context_ranks,
        {{ array_map('statement_sentences', 'each.position') }} as statement_ranks,
        {{ array_map('context_sentences', 'each.completeness_weight') }} as context_completeness_weights
    from sentences_gathered
),

windows as (
    select
        interaction_passages.interaction_id,
        interaction_passages.role,
        passage_windows.text_id,
        passage_windows.window_index,
        passage_windows.count_characters
    from interaction_passages
    inner join {{ ref('hcat', 'int_passage_windows') }} as passage_windows
        on interaction_passages.passage_id = passage_windows.passage_id
    where interaction_passages.role in ('answer', 'reference')
),

windows_listed as (
    select
        interaction_id,
        {{ ordered_array('text_id', 'window_index', "role = 'answer'") }} as answer_window_ids,
        {{ ordered_array('count_characters', 'window_index', "role = 'answer'") }}
            as answer_window_characters,
        {{ ordered_array('text_id', 'window_index', "role = 'reference'") }} as reference_window_ids,
        {{ ordered_array('count_characters', 'window_index', "role = 'reference'") }}
            as reference_window_characters
    from windows
    group by interaction_id
),

keyed as (
    select
        sentences_listed.*,
        -- Only interactions with a reference answer to compare with have windows.
        case when windows_listed.reference_window_ids is not null then windows_listed.answer_window_ids end
            as answer_window_ids,
        case when windows_listed.reference_window_ids is not null then windows_listed.answer_window_characters end
            as answer_window_characters,
        windows_listed.reference_window_ids,
        windows_listed.reference_window_characters,
        md5(
            concat_ws(
                '|',
                encoder.encoder_key,
                encoder.reading_key,
                '{{ revision_of("scoring") }}',
                coalesce({{ array_join('sentences_listed.query_text_ids', ',') }}, ''),
                coalesce({{ array_join('sentences_listed.answer_text_ids', ',') }}, ''),
                coalesce({{ array_join('sentences_listed.context_text_ids', ',') }}, ''),
                coalesce({{ array_join('sentences_listed.context_ranks', ',') }}, ''),
                coalesce({{ array_join('windows_listed.reference_window_ids', ',') }}, ''),
                -- null without statements of earlier turns, so that other keys stay as they are
                {{ array_join('sentences_listed.statement_text_ids', ',') }}
            )
        ) as input_key
    from sentences_listed
    left join windows_listed on sentences_listed.interaction_id = windows_listed.interaction_id
    cross join {{ ref('hcat', 'int_encoder') }} as encoder
),

final as (
    select
        keyed.*,
        -- Only where a classifier reads evidence for an answer.
        case
            when
                keyed.answer_text_ids is not null
                and keyed.context_text_ids is not null
                and classifier.location <> 'none'
                then keyed.input_key
        end as evidence_key
    from keyed
    cross join classifier
)

select * from final
