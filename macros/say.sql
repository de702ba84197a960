{# Prints one line, cleaned, also with --quiet. #}
{% macro say(text) %}
    {% do print(clean_line(text)) %}
{% endmacro %}
