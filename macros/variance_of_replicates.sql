{#
    Variance between the answers to one query on one side, from their mean, the mean of their squares and their number.
    Null with a single answer. Rounding must not make it negative.
#}
{% macro variance_of_replicates(name) -%}
    case
        when {{ name }}_answers > 1
            then
                greatest({{ name }}_squared - {{ name }} * {{ name }}, 0)
                * {{ name }}_answers / ({{ name }}_answers - 1)
    end
{%- endmacro %}
