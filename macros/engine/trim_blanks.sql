{# The text without outer blanks, as literal characters, because Spark's chr stops at 255. #}
{% macro trim_blanks(text) -%}
    trim(both '{{ " \t\n\r\u00a0\u200b\u3000" }}' from {{ text }})
{%- endmacro %}
