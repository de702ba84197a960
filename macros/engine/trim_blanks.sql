{# The text without outer blanks. Spark gets literal characters, because its chr stops at 255. #}
{% macro trim_blanks(text) -%}
    {{ return(adapter.dispatch('trim_blanks', 'hcat')(text)) }}
{%- endmacro %}

{% macro default__trim_blanks(text) -%}
    trim({{ text }}, ' ' || chr(9) || chr(10) || chr(13) || chr(160) || chr(8203) || chr(12288))
{%- endmacro %}

{% macro spark__trim_blanks(text) -%}
    trim(both '{{ " \t\n\r\u00a0\u200b\u3000" }}' from {{ text }})
{%- endmacro %}
