-- Rules alone read the documents, whose values are public.
with test_queries as (
    select query_text, reference_answer from {{ ref('hcat', 'int_test_queries') }}
),

test_variants as (
    select query_text, detail from {{ ref('hcat', 'int_test_variants') }}
),

candidates as (
    select query_text, reference_answer from {{ ref('hcat', 'int_generated_candidates') }}
),

calls as (
    select prompt, answer from {{ ref('hcat', 'int_generation_calls') }}
),

recognisers as (
    select recogniser_key, has_tagger from {{ ref('hcat', 'int_models') }}
    where part = 'recognisers of personal data'
),

documents as (
    select document_text from {{ ref('hcat', 'stg_documents') }}
),

chunks as (
    select chunk_text from {{ ref('hcat', 'stg_chunks') }}
),

shown as (
    select query_text as text from test_queries
    union
    select reference_answer as text from test_queries
    union
    select query_text as text from test_variants
    union
    select detail as text from test_variants
    union
    select query_text as text from candidates
    union
    select reference_answer as text from candidates
    union
    select prompt as text from calls
    union
    select answer as text from calls
),

united as (
    select text, true as is_shown, false as is_public from shown
    {%- if var('hcat_documents_are_public') %}
    union all
    select document_text as text, false as is_shown, true as is_public from documents
    union all
    select chunk_text as text, false as is_shown, true as is_public from chunks
    {%- endif %}
),

distinct_texts as (
    select text, bool_or(is_shown) as is_shown, bool_or(is_public) as is_public
    from united
    where not {{ is_blank('text') }}
    group by text
),

final as (
    select
        md5(distinct_texts.text) as text_id,
        case
            when distinct_texts.is_shown then recognisers.recogniser_key
            else md5(concat_ws('|', recognisers.recogniser_key, 'rules'))
        end as reading_key,
        distinct_texts.text,
        distinct_texts.is_shown and recognisers.has_tagger as is_tagged,
        distinct_texts.is_public,
        false as is_record
    from distinct_texts
    cross join recognisers
)

select * from final
