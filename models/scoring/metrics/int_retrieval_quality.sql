{{ config(materialized='table') }}

with judged as (
    select * from {{ ref('hcat', 'int_retrievals_graded') }}
),

relevance as (
    select
        query_id,
        grade,
        row_number() over (partition by query_id order by grade desc, chunk_id asc) as ideal_position
    from {{ ref('hcat', 'int_query_relevance') }}
    where grade > 0
),

cut_offs as (
    select {{ explode(array_of([1, 3, 5, 10])) }} as k
),

ideal as (
    select
        relevance.query_id,
        cut_offs.k,
        -- This sum and those below are ordered: order changes the last bits, and a rerun must change nothing.
        {{ ordered_sum(
            'case when relevance.ideal_position <= cut_offs.k'
            ~ ' then relevance.grade / log2(relevance.ideal_position + 1) else 0 end',
            'relevance.ideal_position'
        ) }} as ideal_gain,
        count(*) as count_relevant
    from relevance
    cross join cut_offs
    group by relevance.query_id, cut_offs.k
),

at_k as (
    select
        judged.interaction_id,
        judged.query_id,
        cut_offs.k,
        sum(case when judged.position <= cut_offs.k and judged.grade > 0 then 1 else 0 end)::double as count_found,
        {{ ordered_sum(
            'case when judged.position <= cut_offs.k then judged.grade / log2(judged.position + 1) else 0 end',
            'judged.position'
        ) }} as gain
    from judged
    cross join cut_offs
    group by judged.interaction_id, judged.query_id, cut_offs.k
),

whole_list as (
    select
        interaction_id,
        query_id,
        coalesce(max(case when grade > 0 then 1::double / position end), 0) as reciprocal_rank,
        {{ ordered_sum(
            'case when grade > 0 then count_found_so_far / position::double else 0 end', 'position'
        ) }} as sum_precision
    from (
        select
            *,
            sum(case when grade > 0 then 1 else 0 end) over (partition by interaction_id order by position)
                as count_found_so_far
        from judged
    ) as counted
    group by interaction_id, query_id
),

joined_at_k as (
    select at_k.*, ideal.ideal_gain, ideal.count_relevant
    from at_k
    inner join ideal on at_k.query_id = ideal.query_id and at_k.k = ideal.k
),

joined_whole_list as (
    select whole_list.*, ideal.count_relevant
    from whole_list
    inner join ideal on whole_list.query_id = ideal.query_id and ideal.k = 1
),

final as (
    select interaction_id, 'recall' as metric_name, k, count_found / count_relevant as score from joined_at_k
    union all
    select interaction_id, 'precision' as metric_name, k, count_found / k as score from joined_at_k
    union all
    select interaction_id, 'ndcg' as metric_name, k, gain / ideal_gain as score from joined_at_k
    union all
    select interaction_id, 'reciprocal_rank' as metric_name, null as k, reciprocal_rank as score from joined_whole_list
    union all
    select interaction_id, 'average_precision' as metric_name, null as k, sum_precision / count_relevant as score
    from joined_whole_list
)

select * from final
