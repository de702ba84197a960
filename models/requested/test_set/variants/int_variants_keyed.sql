-- One row per variant to be made. Queries of the same text and reference share it.
select distinct
    variant_key,
    variant_type,
    query_text,
    reference_answer,
    language,
    rate
from {{ ref('hcat', 'int_variants_planned') }}
