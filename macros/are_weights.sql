{# True for a list of at least one weight, each a finite number of at least 0. #}
{% macro are_weights(list) -%}
    coalesce(
        {{ array_length(list) }} > 0
        and not array_contains(
            {{ array_map(list, 'coalesce(' ~ is_finite('each') ~ ' and each >= 0, false)') }}, false
        ),
        false
    )
{%- endmacro %}
