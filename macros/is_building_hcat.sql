{# Whether this command runs a model of hcat: the hooks of a package run in every command of the project that has it. #}
{% macro is_building_hcat() %}
    {{ return(execute and 'model.hcat.' in selected_resources | join(' ')) }}
{% endmacro %}
