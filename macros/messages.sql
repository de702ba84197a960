{#
    A text on one line: blanks become spaces, and what no screen shows becomes visible. The rule is that of
    hcat.engine.saying.clean_line. Texts of logs and names of files must not write lines of their own into a terminal.
#}
{% macro clean_line(text) -%}
    {%- for character in text | string -%}
        {%- set number = character.encode('utf-32-be', 'surrogatepass').hex().lstrip('0').rjust(4, '0').upper() -%}
        {{- character if character.isprintable() else ' ' if character.isspace() else '⟨U+' ~ number ~ '⟩' -}}
    {%- endfor -%}
{%- endmacro %}

{# Prints one line, cleaned, also with --quiet. #}
{% macro say(text) %}
    {% do print(clean_line(text)) %}
{% endmacro %}
