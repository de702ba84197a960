-- A variant must ask what its parent asks, so each is read as premise of the other.
with variants_planned as (
    select variant_key, query_text from {{ ref('hcat', 'int_variants_planned') }}
),

queries_varied as (
    select variant_key, variant_type, query_text from {{ ref('hcat', 'int_queries_varied') }}
    where variant_status = 'made'
),

variant_types as (
    select variant_type from {{ seed('test_variant_types') }}
    where must_entail
),

classifier as (
    -- a classifier that is switched off reads nothing, and hashes know no meaning
    select classifier_key from {{ ref('hcat', 'int_classifier') }}
    where location not in ('none', 'hashing')
),

checked as (
    select variants_planned.query_text as parent_text, queries_varied.query_text as variant_text
    from variants_planned
    inner join queries_varied on variants_planned.variant_key = queries_varied.variant_key
    inner join variant_types on queries_varied.variant_type = variant_types.variant_type
),

paired as (
    select parent_text as premise, variant_text as claim from checked
    union
    select variant_text as premise, parent_text as claim from checked
),

final as (
    select
        {{ text_pair_id('paired.premise', 'md5(paired.claim)') }} as pair_id,
        classifier.classifier_key,
        paired.premise,
        paired.claim,
        length(paired.premise) + length(paired.claim) as count_characters
    from paired
    cross join classifier
)

select * from final
