-- One row per (parent query, pair of terms, query that stands for one side of it): a variant that mentions a term
-- stands for its side; where the parent itself holds a term, it stands for one side and the variant for the other.
with queries as (
    select query_id, parent_query_id, query_text, variant_type from {{ ref('stg_queries') }}
),

terms as (
    select * from {{ ref('demographic_terms') }}
),

variants as (
    select
        variants.query_id,
        variants.parent_query_id,
        variants.query_text,
        parents.query_text as parent_text
    from queries as variants
    left join queries as parents on variants.parent_query_id = parents.query_id
    where variants.variant_type = 'counterfactual' and variants.parent_query_id is not null
),

mentioned as (
    select
        variants.parent_query_id,
        variants.query_id,
        terms.pair_id,
        terms.dimension,
        starts_with(variants.query_text, terms.first_term || ' ') as is_first
    from variants
    inner join terms
        on
            terms.usage = 'mentioned'
            and (
                starts_with(variants.query_text, terms.first_term || ' ')
                or starts_with(variants.query_text, terms.second_term || ' ')
            )
),

swapped as (
    select
        variants.parent_query_id,
        variants.query_id,
        terms.pair_id,
        terms.dimension,
        regexp_matches(lower(variants.parent_text), '\b' || lower(terms.first_term) || '\b') as is_parent_first
    from variants
    inner join terms
        on
            terms.usage = 'swapped'
            and (
                (
                    regexp_matches(lower(variants.parent_text), '\b' || lower(terms.first_term) || '\b')
                    and regexp_matches(lower(variants.query_text), '\b' || lower(terms.second_term) || '\b')
                )
                or (
                    regexp_matches(lower(variants.parent_text), '\b' || lower(terms.second_term) || '\b')
                    and regexp_matches(lower(variants.query_text), '\b' || lower(terms.first_term) || '\b')
                )
            )
    where variants.query_id not in (select mentioned.query_id from mentioned)
    -- several terms of a text change together: one of them names the pair
    qualify row_number() over (partition by variants.query_id order by terms.pair_id) = 1
),

united as (
    select parent_query_id, query_id, pair_id, dimension, is_first from mentioned
    union all
    select parent_query_id, query_id, pair_id, dimension, not is_parent_first as is_first from swapped
    union all
    select distinct parent_query_id, parent_query_id as query_id, pair_id, dimension, is_parent_first as is_first
    from swapped
),

final as (
    select
        parent_query_id,
        query_id,
        pair_id,
        dimension,
        is_first
    from united
)

select * from final
