{# Whether this command runs a model of hcat: the hooks of a package run in every command of the project that has it. #}
{% macro is_building_hcat() %}
    {{ return(execute and 'model.hcat.' in selected_resources | join(' ')) }}
{% endmacro %}

{# Whether this command writes tables of hcat: a test or a compilation does not. #}
{% macro is_writing_hcat() %}
    {{ return(is_building_hcat() and flags.WHICH in ('build', 'run')) }}
{% endmacro %}
