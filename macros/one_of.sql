{# The value of a setting with a closed list of words. Another word stops the build with a message that names both. #}
{% macro one_of(setting, words) %}
    {%- set word = var(setting) | string -%}
    {%- if word not in words -%}
        {{ exceptions.raise_compiler_error(setting ~ " must be among " ~ words | join(', ') ~ ", got " ~ word) }}
    {%- endif -%}
    {{- return(word) -}}
{% endmacro %}
