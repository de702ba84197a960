-- A query gets a variant of a type if its seeded hash is below the share of the type.
with variant_types as (
    select * from {{ seed('test_variant_types') }}
    where is_enabled
),

materials as (
    -- what a variant is made of is part of its key: an edited seed makes it again, under another query_id
    select
        variant_type,
        md5(
            {{ joined_text(
                "concat_ws('|', material, item_id, coalesce(text_before, ''), coalesce(text_after, ''))",
                'chr(10)', 'material, item_id'
            ) }}
        ) as materials_hash
    from {{ ref('hcat', 'int_variant_materials') }}
    group by variant_type
),

drawn as (
    select
        test_queries.query_id as parent_query_id,
        variant_types.variant_type, test_queries.query_text, test_queries.reference_answer, test_queries.language,
        materials.materials_hash, variant_types.rate, variant_types.share_of_queries,
        {{ share_of_hash(
            "'variant|" ~ var('hcat_random_seed') ~ "|' || variant_types.variant_type || '|' || test_queries.query_id"
        ) }} as draw_number
    from {{ ref('hcat', 'int_test_queries') }} as test_queries
    cross join variant_types
    left join materials on variant_types.variant_type = materials.variant_type
    where variant_types.applies_to = 'any' or test_queries.expected_behaviour = 'answer'
),

final as (
    select
        md5(
            concat_ws(
                '|', '{{ var("hcat_random_seed") }}', '{{ variant_revision() }}', variant_type, rate,
                coalesce(materials_hash, ''), coalesce(language, ''), length(query_text), query_text,
                coalesce(reference_answer, '')
            )
        ) as variant_key,
        parent_query_id,
        variant_type,
        query_text,
        reference_answer,
        language,
        rate
    from drawn
    where draw_number < share_of_queries
)

select * from final
