{#
    Limit of the Wilson score interval of a share (Wilson 1927). The effective sample size keeps siblings from counting
    as independent. bound is 'lower' or 'upper'. The limit is null when there is nothing to count.
#}
{% macro wilson_bound(share, count_effective, bound) %}
    {%- set z = normal_quantile() -%}
    {%- set sign = '-' if bound == 'lower' else '+' -%}
    {%- set clip = 'greatest(0.0, ' if bound == 'lower' else 'least(1.0, ' -%}
    case
        when {{ count_effective }} > 0
            then {{ clip }}(
                {{ share }} + {{ z }} * {{ z }} / (2 * {{ count_effective }})
                {{ sign }} {{ z }} * sqrt(
                    {{ share }} * (1 - {{ share }}) / {{ count_effective }}
                    + {{ z }} * {{ z }} / (4 * {{ count_effective }} * {{ count_effective }})
                )
            ) / (1 + {{ z }} * {{ z }} / {{ count_effective }}))
    end
{%- endmacro %}
