{#
    What the first group of a regular expression matched, each time, as a list of texts. The pattern has no backslash:
    the engines read one differently.
#}
{% macro all_matches(text, pattern) -%}
    regexp_extract_all({{ text }}, '{{ pattern }}', 1)
{%- endmacro %}

{# True when the regular expression is found in the text. #}
{% macro matches_pattern(text, pattern) -%}
    {{ return(adapter.dispatch('matches_pattern', 'hcat')(text, pattern)) }}
{%- endmacro %}

{% macro default__matches_pattern(text, pattern) -%}
    regexp_matches({{ text }}, '{{ pattern }}')
{%- endmacro %}

{% macro spark__matches_pattern(text, pattern) -%}
    regexp_like({{ text }}, r'{{ pattern }}')
{%- endmacro %}

{# The text with every occurrence of a regular expression replaced by a text. #}
{% macro replace_pattern(text, pattern, replacement) -%}
    {{ return(adapter.dispatch('replace_pattern', 'hcat')(text, pattern, replacement)) }}
{%- endmacro %}

{% macro default__replace_pattern(text, pattern, replacement) -%}
    regexp_replace({{ text }}, '{{ pattern }}', '{{ replacement }}', 'g')
{%- endmacro %}

{% macro spark__replace_pattern(text, pattern, replacement) -%}
    regexp_replace({{ text }}, r'{{ pattern }}', '{{ replacement }}')
{%- endmacro %}

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

{# The text without outer blanks, as literal characters, because Spark's chr stops at 255. #}
{% macro trim_blanks(text) -%}
    trim(both '{{ " \t\n\r\u00a0\u200b\u3000" }}' from {{ text }})
{%- endmacro %}
