{# A hook that stops the build with the message, cleaned, when the condition holds for a row of the query `source`. #}
{% macro raise_when(condition, message, source) -%}
    {% if execute %}
        {% for row in run_query('select ' ~ message ~ ' from ' ~ source ~ ' where ' ~ condition).rows %}
            {% do exceptions.raise_compiler_error(clean_line(row[0])) %}
        {% endfor %}
    {% endif %}
{%- endmacro %}
