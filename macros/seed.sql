{#
    The relation of a seed of hcat, or of the project's own seed of the same name, where hcat_own_seeds names it. A
    model of the project that happens to have the name is another thing.
#}
{% macro seed(name) %}
    {% if name in var('hcat_own_seeds') %}
        {{ return(ref(project_name, name)) }}
    {% endif %}
    {{ return(ref('hcat', name)) }}
{% endmacro %}
