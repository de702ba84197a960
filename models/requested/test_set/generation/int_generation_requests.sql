-- The content key of a request is processed once and never again.
{{ config(materialized='table') }}

{%- set generator = one_of('hcat_generator', ['offline', 'language_model']) -%}
{%- set speaker = var('hcat_generation_speaker') | replace("'", "''") -%}
{%- set service = env_var('HCAT_LLM_MODEL', var('hcat_language_model')) | replace("'", "''") -%}
{# raised when rules or prompts change: every query is then made again under a new id -#}
{%- set revision = 4 -%}
{# other chunks of its document that a multi-hop query may combine with its own: they bound the work -#}
{%- set count_partners = 8 %}

with chunks_sampled as (
    select chunk_id from {{ ref('hcat', 'fct_sampled_chunks') }}
),

chunks as (
    select chunk_id, document_id, chunk_text from {{ ref('hcat', 'stg_chunks') }}
),

documents as (
    select document_id, title from {{ ref('hcat', 'stg_documents') }}
),

template_keys as (
    select
        query_type,
        md5(
            {{ joined_text(
                "concat_ws('|', template_id, template, coalesce(required_words, ''), coalesce(absent_words, ''))",
                "'|'", 'template_id'
            ) }}
        ) as template_key
    from {{ seed('query_templates') }}
    group by query_type
),

sampled as (
    select
        chunks.chunk_id,
        chunks.document_id,
        chunks.chunk_text,
        documents.title as document_title
    from chunks_sampled
    inner join chunks on chunks_sampled.chunk_id = chunks.chunk_id
    left join documents on chunks.document_id = documents.document_id
),

-- other chunks of the same document, which a multi-hop query may join the chunk with
numbered_partners as (
    select
        sampled.chunk_id,
        partners.chunk_id as partner_chunk_id,
        partners.chunk_text as partner_text,
        row_number() over (
            partition by sampled.chunk_id
            order by {{ sampling_number('partner', "sampled.chunk_id || '|' || partners.chunk_id") }}, partners.chunk_id
        ) as partner_number
    from sampled
    inner join chunks as partners
        on sampled.document_id = partners.document_id and sampled.chunk_id <> partners.chunk_id
),

partners_listed as (
    select
        chunk_id,
        {{ ordered_array('partner_chunk_id', 'partner_number') }} as partner_chunk_ids,
        {{ ordered_array('partner_text', 'partner_number') }} as partner_texts
    from numbered_partners
    where partner_number <= {{ count_partners }}
    group by chunk_id
),

wanted as (
    select
        sampled.*,
        query_types.query_type,
        query_types.expected_behaviour,
        query_types.needs_language_model,
        case when query_types.is_from_templates then 'offline' else '{{ generator }}' end as generator,
        -- a fraction of a query is one query in that share of the chunks
        floor(query_types.queries_per_chunk)::integer
        + (
            {{ sampling_number('count', "sampled.chunk_id || '|' || query_types.query_type") }}
            < query_types.queries_per_chunk - floor(query_types.queries_per_chunk)
        )::integer as count_wanted
    from sampled
    cross join {{ seed('test_query_types') }} as query_types
),

joined as (
    select
        wanted.*,
        case when wanted.query_type = 'multi_hop' then partners_listed.partner_chunk_ids end as partner_chunk_ids,
        case when wanted.query_type = 'multi_hop' then partners_listed.partner_texts end as partner_texts,
        template_keys.template_key
    from wanted
    left join partners_listed on wanted.chunk_id = partners_listed.chunk_id
    left join template_keys on wanted.query_type = template_keys.query_type
    where wanted.count_wanted > 0
),

final as (
    select
        md5(
            concat_ws(
                '|',
                joined.generator,
                '{{ revision }}',
                joined.query_type,
                joined.count_wanted::string,
                joined.chunk_id,
                md5(joined.chunk_text),
                coalesce(joined.document_title, ''),
                coalesce({{ array_join('joined.partner_chunk_ids', ',') }}, ''),
                coalesce(md5({{ array_join('joined.partner_texts', '|') }}), ''),
                coalesce(joined.template_key, ''),
                '{{ speaker }}',
                '{{ var("hcat_random_seed") }}',
                case when joined.generator = 'language_model' then '{{ service }}' else '' end
            )
        ) as generation_key,
        concat_ws(' ', joined.generator, '{{ revision }}') as generator_revision,
        joined.{{ columns_except(['template_key']) }}
    from joined
)

select * from final
