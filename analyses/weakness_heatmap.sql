-- The weakness map as a pivot for a BI sheet: the failure rate of one metric by two dimensions, with n. A cell with few
-- clusters is marked, because its rate may be due to chance.
{%- set metric_name = 'support_words' %}
{%- set rows = 'topic' %}
{%- set columns = 'query_type' %}

with cells as (
    select first_segment as row_segment, second_segment as column_segment, share_failing, count_scored, is_small
    from {{ ref('hcat', 'fct_bivariate_weaknesses') }}
    where metric_name = '{{ metric_name }}' and first_dimension = '{{ rows }}' and second_dimension = '{{ columns }}'
    union all
    -- a pair of dimensions is stored once, whichever comes first
    select second_segment as row_segment, first_segment as column_segment, share_failing, count_scored, is_small
    from {{ ref('hcat', 'fct_bivariate_weaknesses') }}
    where metric_name = '{{ metric_name }}' and first_dimension = '{{ columns }}' and second_dimension = '{{ rows }}'
),

labelled as (
    select
        row_segment,
        column_segment,
        coalesce(format('{:.0f} %', 100 * share_failing), 'no verdict')
        || format(' (n {})', count_scored)
        || case when is_small then ' few clusters' else '' end as cell
    from cells
)

pivot labelled
on column_segment
using first(cell)
group by row_segment
order by row_segment
