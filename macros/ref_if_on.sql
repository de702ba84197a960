{#
    A model of a module. Where the module is switched off, no rows of the columns that the reader names, for instance
    'interaction_id string, threshold double'.
#}
{% macro ref_if_on(module, model, columns) %}
    {% if is_on(module) %}
        {{ return(ref('hcat', model)) }}
    {% endif %}
    {% set selected = [] %}
    {% for column in columns.split(',') %}
        {% set name, type = column.split() %}
        {% do selected.append('cast(null as ' ~ type ~ ') as ' ~ name) %}
    {% endfor %}
    {{ return('(select ' ~ selected | join(', ') ~ ' where false)') }}
{% endmacro %}
