-- This is a table, because the recognisers, the masks and the exposures all need its grouping of all texts.
{{ config(materialized='table') }}

with interactions as (
    select interaction_id, answer_language, customer_group, tags from {{ ref('hcat', 'int_interaction_attributes') }}
),

queries as (
    select query_text, reference_answer, tags from {{ ref('hcat', 'stg_queries') }}
),

documents as (
    select title, topic, document_text from {{ ref('hcat', 'stg_documents') }}
),

chunks as (
    select topic, chunk_text, count_interactions + count_queries as count_uses
    from {{ ref_if_on(
        'retrieval', 'int_chunks_counted', 'topic, chunk_text, count_interactions bigint, count_queries bigint'
    ) }}
),

corpus as (
    select chunk_text from {{ ref('hcat', 'stg_chunks') }}
),

recognisers as (
    select recogniser_key, has_tagger from {{ ref('hcat', 'int_models') }}
    where part = 'recognisers of personal data'
),

united as (
    select
        passages.passage_text as text,
        -- Documents count as written in a known language, whatever the language of the customer.
        passages.role = 'context'
        or interactions.answer_language is null
        or interactions.answer_language in (
            '{{ var("hcat_tagger_languages") | join("', '") }}'
        ) as is_in_known_language,
        false as is_public
    from {{ ref('hcat', 'int_interaction_passages') }} as passages
    inner join interactions on passages.interaction_id = interactions.interaction_id
    union all
    -- A prepared query states no language. The interactions that ask it do.
    select query_text as text, null::boolean as is_in_known_language, false as is_public from queries
    union all
    select reference_answer as text, null::boolean as is_in_known_language, false as is_public from queries
    union all
    select title as text, null::boolean as is_in_known_language, false as is_public from documents
    union all
    -- Rules alone read labels, because rules do not mistake a product for a person.
    select customer_group as text, false as is_in_known_language, false as is_public from interactions
    union all
    select topic as text, false as is_in_known_language, false as is_public from documents
    union all
    select topic as text, false as is_in_known_language, false as is_public from chunks
    union all
    -- Of a corpus, only the chunks are shown that an interaction retrieved or a query needs.
    select chunk_text as text, true as is_in_known_language, false as is_public from chunks
    where count_uses > 0
    {%- if var('hcat_documents_are_public') %}
    union all
    -- What the knowledge base publishes is no secret, also where nobody retrieved it. Rules find it at little cost.
    select document_text as text, false as is_in_known_language, true as is_public from documents
    union all
    select chunk_text as text, false as is_in_known_language, true as is_public from corpus
    {%- endif %}
),

read_by as (
    select
        md5(text) as text_id,
        min(text) as text,
        coalesce(bool_or(is_in_known_language), true) as is_in_known_language,
        bool_or(is_public) as is_public
    from united
    where not {{ is_blank('text') }}
    group by md5(text)
),

records as (
    select tags as text from interactions
    where tags is not null
    union distinct
    select tags as text from queries
    where tags is not null
),

final as (
    select
        read_by.text_id,
        md5(concat_ws('|', recognisers.recogniser_key, read_by.is_in_known_language)) as reading_key,
        read_by.text,
        read_by.is_in_known_language and recognisers.has_tagger as is_tagged,
        read_by.is_public,
        false as is_record
    from read_by
    cross join recognisers
    union all
    select
        md5(records.text) as text_id,
        md5(concat_ws('|', recognisers.recogniser_key, 'record')) as reading_key,
        records.text,
        false as is_tagged,
        false as is_public,
        true as is_record
    from records
    cross join recognisers
)

select * from final
