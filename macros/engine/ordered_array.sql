{# The ordered list of the values of a group in rows where the condition holds; null without such rows. #}
{% macro ordered_array(value, order_by, condition=none) -%}
    {{ return(adapter.dispatch('ordered_array', 'hcat')(value, order_by, condition)) }}
{%- endmacro %}

{% macro default__ordered_array(value, order_by, condition=none) -%}
    array_agg({{ value }} order by {{ order_by }}){% if condition %} filter (where {{ condition }}){% endif %}
{%- endmacro %}

{% macro spark__ordered_array(value, order_by, condition=none) -%}
    {%- set kept %}{% if condition %} filter (where {{ condition }}){% endif %}{% endset %}
    {%- set rows = 'collect_list(struct(' ~ order_by ~ ', ' ~ value ~ ' as value))' ~ kept -%}
    case when count(*){{ kept }} > 0 then transform(array_sort({{ rows }}), each -> each.value) end
{%- endmacro %}
