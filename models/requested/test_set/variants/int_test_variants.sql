{{ config(materialized='table') }}
{# below this probability, in either direction, a variant does not ask what its parent asks (docs/variants.md) -#}
{%- set least_entailment = 0.5 %}

with test_queries as (
    select * from {{ ref('hcat', 'int_test_queries') }}
),

variants_planned as (
    select variant_key, parent_query_id, rate from {{ ref('hcat', 'int_variants_planned') }}
),

variant_types as (
    select variant_type, meaning, must_entail from {{ seed('test_variant_types') }}
),

pairs_entailed as (
    select entailed.pair_id, entailed.probability_entailment
    from {{ ref('hcat', 'int_test_variants_entailed') }} as entailed
    inner join {{ ref('hcat', 'int_classifier') }} as classifier on entailed.classifier_key = classifier.classifier_key
),

joined as (
    select
        md5(concat_ws('|', planned.parent_query_id, planned.variant_key, varied.variant_number)) as query_id,
        planned.parent_query_id,
        varied.variant_type,
        variant_types.meaning,
        varied.variant_status as rule_status,
        case
            when varied.variant_status <> 'made' or not variant_types.must_entail then 'not_due'
            when from_parent.pair_id is null or to_parent.pair_id is null then 'not_read'
            when
                least(from_parent.probability_entailment, to_parent.probability_entailment)
                < {{ least_entailment }}
                then 'not_equivalent'
            else 'equivalent'
        end as equivalence_status,
        varied.query_text,
        case when variant_types.meaning in ('kept', 'attacked') then test_queries.reference_answer end
            as reference_answer,
        case when variant_types.meaning = 'out_of_scope' then 'off_topic' else test_queries.query_type end
            as query_type,
        test_queries.difficulty,
        case when variant_types.meaning in ('kept', 'attacked') then test_queries.answer_type end as answer_type,
        case when variant_types.meaning = 'out_of_scope' then 'refuse' else test_queries.expected_behaviour end
            as expected_behaviour,
        test_queries.language,
        test_queries.topic_id,
        varied.detail,
        varied.item_id,
        varied.canary,
        case when variant_types.meaning <> 'out_of_scope' then test_queries.source_chunk_ids end as source_chunk_ids,
        varied.variant_number,
        planned.rate,
        from_parent.probability_entailment as entailment_from_parent,
        to_parent.probability_entailment as entailment_to_parent,
        test_queries.sampling_weight
    from variants_planned as planned
    inner join {{ ref('hcat', 'int_queries_varied') }} as varied on planned.variant_key = varied.variant_key
    inner join test_queries on planned.parent_query_id = test_queries.query_id
    inner join variant_types on varied.variant_type = variant_types.variant_type
    left join pairs_entailed as from_parent
        on {{ text_pair_id('test_queries.query_text', 'md5(varied.query_text)') }} = from_parent.pair_id
    left join pairs_entailed as to_parent
        on {{ text_pair_id('varied.query_text', 'md5(test_queries.query_text)') }} = to_parent.pair_id
),

judged as (
    select
        *,
        case when equivalence_status = 'not_equivalent' then equivalence_status else rule_status end as variant_status
    from joined
),

-- the same words twice would count one answer twice: the first in a fixed order stands
numbered as (
    select
        *,
        row_number() over (
            partition by query_text, variant_status
            order by parent_query_id, variant_type, variant_number
        ) as occurrence
    from judged
),

final as (
    select
        numbered.{{ columns_except([
            'rule_status', 'variant_status', 'occurrence', 'rate', 'entailment_from_parent', 'entailment_to_parent'
        ]) }},
        case
            when
                variant_status = 'made'
                and (
                    occurrence > 1
                    or exists (
                        select 1 from test_queries
                        where test_queries.query_text = numbered.query_text
                    )
                )
                then 'duplicate'
            else variant_status
        end as variant_status,
        '{{ var("hcat_random_seed") }}'::bigint as random_seed,
        {{ variant_revision() }}::integer as variant_revision,
        rate::double as rate,
        case when equivalence_status in ('equivalent', 'not_equivalent') then entailment_from_parent end
            as entailment_from_parent,
        case when equivalence_status in ('equivalent', 'not_equivalent') then entailment_to_parent end
            as entailment_to_parent
    from numbered
)

select * from final
