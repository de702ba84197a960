-- One row per (type, value) of personal data that a document or chunk of the knowledge base holds.
-- This is a table, because all texts of the logs are compared with it.
{{ config(materialized='table') }}

{{ public_values(ref('hcat', 'int_texts_recognisable'), ref('hcat', 'int_texts_recognised')) }}
