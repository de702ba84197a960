{# The mean without a group minus the mean with it; null when nothing is left without the group. #}
{% macro jackknife_deviation(totals, group_sums, sum, count) %}
    ({{ totals }}.{{ sum }} - {{ group_sums }}.{{ sum }})
    / nullif({{ totals }}.{{ count }} - {{ group_sums }}.{{ count }}, 0)
    - {{ totals }}.{{ sum }} / nullif({{ totals }}.{{ count }}, 0)
{%- endmacro %}
