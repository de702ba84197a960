{# The number of this build as an expression: a later build has a larger one. Null outside of builds. #}
{% macro build_number() -%}
    {{ find_build_number() if is_writing_hcat() else 'null' }}::bigint
{%- endmacro %}
