{# Replaces private values in a text by their masks. Values are records (length, value, masked), longer ones first. #}
{% macro mask_values(text, values) -%}
    {{ return(adapter.dispatch('mask_values', 'hcat')(text, values)) }}
{%- endmacro %}

{% macro default__mask_values(text, values) -%}
    case
        when {{ values }} is null or {{ text }} is null then {{ text }}
        else list_reduce(
            {{ values }},
            lambda shown, each: {
                'length': 0,
                'value': replace(shown['value'], each['value'], each['masked']),
                'masked': ''
            },
            { 'length': 0, 'value': {{ text }}, 'masked': '' }
        )['value']
    end
{%- endmacro %}

{% macro spark__mask_values(text, values) -%}
    coalesce(aggregate({{ values }}, {{ text }}, (shown, each) -> replace(shown, each.value, each.masked)), {{ text }})
{%- endmacro %}
