{# Sums that a jackknife group adds to a cell and to its metric. The rows have value, cluster_id and is_in_cell. #}
{% macro sums_of_a_cell() -%}
    count(distinct case when is_in_cell then cluster_id end) as count_clusters_cell,
    count(distinct cluster_id) as count_clusters_all,
    count(case when is_in_cell then 1 end) as count_cell,
    coalesce({{ exact_sum('case when is_in_cell then value end') }}, 0) as sum_cell,
    count(*) as count_all,
    {{ exact_sum('value') }} as sum_all,
    {{ exact_sum('value * value') }} as sum_squares_all
{%- endmacro %}
