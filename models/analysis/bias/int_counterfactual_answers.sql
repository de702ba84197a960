-- If the plain query itself contains a term, it is a side and no longer a plain query to compare with.
{{ config(materialized='table') }}

with sides as (
    select * from {{ ref('hcat', 'int_counterfactual_sides') }}
),

interactions as (
    select interaction_id, query_id, system
    from {{ ref('hcat', 'int_interaction_attributes') }}
    where is_answered
),

units as (
    select interaction_id, input_key, answer_text_ids from {{ ref('hcat', 'int_interaction_units') }}
),

answers as (
    select
        interactions.interaction_id, interactions.query_id, interactions.system, units.input_key,
        units.answer_text_ids
    from interactions
    inner join units on interactions.interaction_id = units.interaction_id
    where {{ array_length('units.answer_text_ids') }} > 0
),

own_sides as (
    select distinct parent_query_id, pair_id
    from sides
    where query_id = parent_query_id
),

matched as (
    select
        'between_sides' as comparison,
        firsts.dimension, firsts.parent_query_id, firsts.pair_id,
        firsts.query_id as first_query_id,
        seconds.query_id as second_query_id
    from sides as firsts
    inner join sides as seconds
        on firsts.parent_query_id = seconds.parent_query_id and firsts.pair_id = seconds.pair_id
    where firsts.is_first and not seconds.is_first
    union all
    select
        'with_plain_query' as comparison,
        sides.dimension, sides.parent_query_id, sides.pair_id,
        sides.query_id as first_query_id,
        sides.parent_query_id as second_query_id
    from sides
    left join own_sides on sides.parent_query_id = own_sides.parent_query_id and sides.pair_id = own_sides.pair_id
    where own_sides.pair_id is null
),

final as (
    select
        md5(
            concat_ws(
                '|', matched.comparison, matched.pair_id, first_answers.interaction_id, second_answers.interaction_id
            )
        ) as answer_pair_id,
        md5(concat_ws('|', first_answers.input_key, second_answers.input_key)) as input_key,
        matched.parent_query_id, matched.pair_id,
        first_answers.interaction_id as first_interaction_id,
        matched.comparison, matched.dimension, first_answers.system,
        first_answers.answer_text_ids as first_text_ids,
        second_answers.answer_text_ids as second_text_ids
    from matched
    inner join answers as first_answers on matched.first_query_id = first_answers.query_id
    inner join answers as second_answers
        on matched.second_query_id = second_answers.query_id and first_answers.system = second_answers.system
)

select * from final
