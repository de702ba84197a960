-- The key under which a text is read holds the places of the public values, so that a change of the documents decides
-- anew about the texts that it concerns, and about no other.
-- This is a table, because every reader of masked texts needs it.
{{ config(materialized='table') }}

{{ texts_with_public_values(
    ref('hcat', 'int_texts_recognisable'),
    ref('hcat', 'int_texts_recognised'),
    'select entity_type, value from ' ~ ref('hcat', 'int_public_values')
) }}
