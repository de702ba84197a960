-- Equal draws take the n_h smallest hashes of N_h, so pi = n_h / N_h. Draws by size or importance use systematic
-- sampling in the order of the hashes (Madow 1949). Its probabilities are exactly those planned, and its size is fixed.
-- Sorting hashes by weight has no closed form of pi. The pi of Pareto sampling is an approximation that fails in small
-- strata. Where every chunk is taken, nothing is drawn: there is no probability, and the weight is 1.
{%- set draw_sizes = {
    'equal': '1', 'size': 'chunk_strata.size_measure', 'importance': in_billionths('chunk_strata.importance')
} -%}
{%- set within = one_of('hcat_sampling_within', draw_sizes.keys() | list) -%}
{%- set draw_size = draw_sizes[within] %}

with strata_planned as (
    select stratum_id, plan_status, count_population, count_planned from {{ ref('hcat', 'int_strata_planned') }}
),

numbered as (
    select
        chunk_strata.*,
        case
            when strata_planned.plan_status = 'all_chunks' then 'all_chunks_taken'
            when strata_planned.count_planned = strata_planned.count_population then 'stratum_taken'
            else 'drawn'
        end as sampling_status,
        strata_planned.count_population,
        strata_planned.count_planned,
        {{ sampling_number('sampled chunk', 'chunk_strata.chunk_id') }} as draw_number,
        {{ sampling_number('start of stratum', 'chunk_strata.stratum_id') }} as start_number,
        -- whole numbers: a sum of them is the same in any order
        {{ whole_number(draw_size) }} as draw_size
    from {{ ref('hcat', 'int_chunk_strata') }} as chunk_strata
    inner join strata_planned on chunk_strata.stratum_id = strata_planned.stratum_id
),

-- from the largest: a chunk whose share of what is still to be drawn reaches one is taken with certainty
ranked as (
    select
        *,
        row_number() over from_largest - 1 as count_larger,
        sum(draw_size) over (
            partition by stratum_id order by draw_size asc, chunk_id desc
            rows between unbounded preceding and current row
        ) as size_of_others
    from numbered
    window from_largest as (partition by stratum_id order by draw_size desc, chunk_id asc)
),

certain as (
    select *, (count_planned - count_larger) * draw_size >= size_of_others as is_certain
    from ranked
),

cumulated as (
    select
        *,
        count_planned - sum(is_certain::bigint) over (partition by stratum_id) as count_drawn,
        sum(draw_size) over (partition by stratum_id, is_certain) as size_drawn,
        sum(draw_size) over (
            partition by stratum_id, is_certain order by draw_number asc, chunk_id asc
            rows between unbounded preceding and current row
        ) as size_so_far
    from certain
),

-- a chunk is as long as its probability, one after the other; those that hold start, start + 1, ... are drawn
drawn as (
    select
        *,
        case when is_certain then 1 else (count_drawn * draw_size)::double / size_drawn::double end
            as inclusion_probability,
        case
            when is_certain then true
            {% if within == 'equal' -%}
            -- alike in length: the first n_h in hash order will do, and stay when other chunks come or go
            else size_so_far <= count_drawn
            {%- else -%}
            else
                floor((count_drawn * size_so_far)::double / size_drawn::double - start_number)
                > floor((count_drawn * (size_so_far - draw_size))::double / size_drawn::double - start_number)
            {%- endif %}
        end as is_drawn
    from cumulated
)

select {{ columns_of_contract({
    'draw_number': 'draw_number::double',
    'inclusion_probability': "case when sampling_status = 'drawn' then inclusion_probability end::double",
    'sampling_weight': '(1 / inclusion_probability)::double',
}) }}
from drawn
where is_drawn
