-- One row per (type, value) of personal data that a document or chunk of the knowledge base holds: the help lines,
-- addresses and names of the assistant's own house. A card in a document is a leak there, and not public.
-- This is a table, because the texts of the logs and those of a test set are compared with it.
{{ config(materialized='table') }}

with texts as (
    select * from {{ ref('hcat', 'int_texts_recognisable') }}
    where is_public
),

recognised as (
    select * from {{ ref('hcat', 'int_texts_recognised') }}
),

spans as (
    select texts.text, {{ explode('recognised.spans') }} as span
    from texts
    inner join recognised
        on texts.text_id = recognised.text_id and texts.reading_key = recognised.reading_key
),

found as (
    select
        span['entity_type'] as entity_type,
        substring(text, span['start'] + 1, span['end'] - span['start']) as written
    from spans
),

final as (
    select distinct
        entity_type,
        {{ public_value('entity_type', 'written') }} as value
    from found
    where entity_type in ('phone', 'email', 'iban', 'sort_code', 'address', 'person', 'place')
)

select * from final
where value is not null
