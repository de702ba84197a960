{# Element of a list, counted from 1; null beyond its end. (The operator counts from 0 on Spark.) #}
{% macro array_at(list, position) -%}
    {{ return(adapter.dispatch('array_at', 'hcat')(list, position)) }}
{%- endmacro %}

{% macro default__array_at(list, position) -%}
    {{ list }}[{{ position }}]
{%- endmacro %}

{% macro spark__array_at(list, position) -%}
    try_element_at({{ list }}, cast({{ position }} as int))
{%- endmacro %}

{# A list without its nulls. #}
{% macro array_compact(list) -%}
    {{ return(adapter.dispatch('array_compact', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__array_compact(list) -%}
    list_filter({{ list }}, lambda each: each is not null)
{%- endmacro %}

{% macro spark__array_compact(list) -%}
    array_compact({{ list }})
{%- endmacro %}

{# The elements of a list from the first one that equals the value. #}
{% macro array_from(list, value) -%}
    {{ return(adapter.dispatch('array_from', 'hcat')(list, value)) }}
{%- endmacro %}

{% macro default__array_from(list, value) -%}
    {{ list }}[list_position({{ list }}, {{ value }}):]
{%- endmacro %}

{% macro spark__array_from(list, value) -%}
    slice({{ list }}, array_position({{ list }}, {{ value }}), array_size({{ list }}))
{%- endmacro %}

{# The elements of a list as one text; nulls are left out. #}
{% macro array_join(list, separator) -%}
    {{ return(adapter.dispatch('array_join', 'hcat')(list, separator)) }}
{%- endmacro %}

{% macro default__array_join(list, separator) -%}
    array_to_string({{ list }}, '{{ separator }}')
{%- endmacro %}

{% macro spark__array_join(list, separator) -%}
    array_join({{ list }}, '{{ separator }}')
{%- endmacro %}

{# Number of elements of a list; null for no list. #}
{% macro array_length(list) -%}
    {{ return(adapter.dispatch('array_length', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__array_length(list) -%}
    len({{ list }})
{%- endmacro %}

{% macro spark__array_length(list) -%}
    array_size({{ list }})
{%- endmacro %}

{# Applies an expression to every element of a list; the expression calls the element `each`. #}
{% macro array_map(list, expression) -%}
    {{ return(adapter.dispatch('array_map', 'hcat')(list, expression)) }}
{%- endmacro %}

{% macro default__array_map(list, expression) -%}
    list_transform({{ list }}, lambda each: {{ expression }})
{%- endmacro %}

{% macro spark__array_map(list, expression) -%}
    transform({{ list }}, each -> {{ expression }})
{%- endmacro %}

{# A list of the given expressions. #}
{% macro array_of(items) -%}
    {{ return(adapter.dispatch('array_of', 'hcat')(items)) }}
{%- endmacro %}

{% macro default__array_of(items) -%}
    [{{ items | join(', ') }}]
{%- endmacro %}

{% macro spark__array_of(items) -%}
    array({{ items | join(', ') }})
{%- endmacro %}

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

{# Sum of the products of the elements of two lists of doubles. #}
{% macro dot_product(first, second) -%}
    {{ return(adapter.dispatch('dot_product', 'hcat')(first, second)) }}
{%- endmacro %}

{% macro default__dot_product(first, second) -%}
    list_dot_product({{ first }}, {{ second }})
{%- endmacro %}

{% macro spark__dot_product(first, second) -%}
    aggregate(zip_with({{ first }}, {{ second }}, (x, y) -> x * y), 0::double, (total, each) -> total + each)
{%- endmacro %}

{# The texts of a group as one, in order. #}
{% macro joined_text(value, separator, order_by) -%}
    {{ return(adapter.dispatch('joined_text', 'hcat')(value, separator, order_by)) }}
{%- endmacro %}

{% macro default__joined_text(value, separator, order_by) -%}
    string_agg({{ value }}, {{ separator }} order by {{ order_by }})
{%- endmacro %}

{% macro spark__joined_text(value, separator, order_by) -%}
    listagg({{ value }}, {{ separator }}) within group (order by {{ order_by }})
{%- endmacro %}

{# Number literals as doubles. A literal with a point would be a decimal, which engines round differently. #}
{% macro doubles(numbers) %}
    {%- set literals = [] -%}
    {%- for number in numbers %}{% do literals.append(number ~ '::double') %}{% endfor -%}
    {{- return(literals) -}}
{% endmacro %}
