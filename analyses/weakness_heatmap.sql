-- The weakness map as a pivot: failure rate of one metric by topic and query type, with n, for a BI sheet.
pivot (
    select
        first_segment as topic,
        second_segment as query_type,
        format('{:.0f} % (n {})', 100 * share_failing, count_scored) as cell
    from {{ ref('fct_bivariate_weaknesses') }}
    where
        metric_name = 'support_words'
        and first_dimension = 'topic'
        and second_dimension = 'query_type'
)
on query_type
using first(cell)
order by topic
