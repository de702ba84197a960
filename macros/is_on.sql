{# Whether a module is part of this project: what hcat_modules says, otherwise what the profile includes. #}
{% macro is_on(module) %}
    {{ return(var('hcat_modules').get(module, var('hcat_profile') in hcat_modules()[module].profiles)) }}
{% endmacro %}
