-- A variant that mentions a term represents the side of that term. If the parent itself contains a term, it represents
-- one side and the variant the other.
with queries as (
    select query_id, parent_query_id, query_text, variant_type from {{ ref('hcat', 'stg_queries') }}
),

terms as (
    select * from {{ seed('demographic_terms') }}
),

variants as (
    select
        variants.query_id, variants.parent_query_id, variants.query_text,
        parents.query_text as parent_text
    from queries as variants
    left join queries as parents on variants.parent_query_id = parents.query_id
    where variants.variant_type = 'counterfactual' and variants.parent_query_id is not null
),

mentioned as (
    select
        variants.parent_query_id, variants.query_id, terms.pair_id, terms.dimension,
        left(variants.query_text, length(terms.first_term) + 1) = terms.first_term || ' ' as is_first
    from variants
    inner join terms
        on
            terms.usage = 'mentioned'
            and (
                left(variants.query_text, length(terms.first_term) + 1) = terms.first_term || ' '
                or left(variants.query_text, length(terms.second_term) + 1) = terms.second_term || ' '
            )
),

swapped as (
    select
        variants.parent_query_id, variants.query_id, terms.pair_id, terms.dimension,
        {{ has_word('variants.parent_text', 'terms.first_term') }} as is_parent_first
    from variants
    inner join terms
        on
            terms.usage = 'swapped'
            and (
                (
                    {{ has_word('variants.parent_text', 'terms.first_term') }}
                    and {{ has_word('variants.query_text', 'terms.second_term') }}
                )
                or (
                    {{ has_word('variants.parent_text', 'terms.second_term') }}
                    and {{ has_word('variants.query_text', 'terms.first_term') }}
                )
            )
    where
        not exists (
            select 1 from mentioned
            where mentioned.query_id = variants.query_id
        )
    -- several terms of a text change together, and one of them names the pair
    qualify row_number() over (partition by variants.query_id order by terms.pair_id) = 1
),

united as (
    select parent_query_id, query_id, pair_id, dimension, is_first from mentioned
    union all
    select parent_query_id, query_id, pair_id, dimension, not is_parent_first as is_first from swapped
    union all
    select distinct parent_query_id, parent_query_id as query_id, pair_id, dimension, is_parent_first as is_first
    from swapped
)

select * from united
