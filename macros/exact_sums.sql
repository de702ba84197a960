{#
    Sum, mean and standard deviation that do not depend on the order in which an engine adds. Scores are summed as whole
    billionths. A sum of doubles would change its last bits with the number of threads, and a rerun must change nothing.
    Scores lie within a few units, so a 128-bit integer holds the squares of 10^9 of them.
#}
{% macro exact_sum(column) %}
    sum({{ in_billionths(column) }})::double / 1e9
{%- endmacro %}

{% macro exact_mean(column) %}
    {{ exact_sum(column) }} / nullif(count({{ column }}), 0)
{%- endmacro %}

{% macro exact_standard_deviation(column) %}
    sqrt(
        (
            count({{ column }}) * sum({{ in_billionths(column) }} * {{ in_billionths(column) }})
            - sum({{ in_billionths(column) }}) * sum({{ in_billionths(column) }})
        )::double
        / nullif(count({{ column }}) * (count({{ column }}) - 1), 0)
    ) / 1e9
{%- endmacro %}

{% macro in_billionths(column) %}
    {{ whole_number('round((' ~ column ~ ') * 1e9)') }}
{%- endmacro %}
