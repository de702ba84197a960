{#
    Wilson score interval of a share (Wilson 1927) on an effective sample size, so that siblings do not count as
    independent. bound is 'lower' or 'upper'; null when there is nothing to count.
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
