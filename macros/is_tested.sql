{#
    Whether to test models and seeds together: no module that is switched off has one of them, and this build makes them
    all. So a build of some models tests no table that it leaves as it was. `dbt test` makes none and tests all.
#}
{% macro is_tested(names) %}
    {% for module, described in hcat_modules().items() %}
        {% for name in names if name in described.marts and not is_on(module) %}
            {{ return(false) }}
        {% endfor %}
    {% endfor %}
    {% set made = [] %}
    {% if execute %}
        {% for id in selected_resources if id.split('.')[0] in ('model', 'seed') %}
            {# a seed may be the project's own; a model of its own with the name of one of hcat is another one #}
            {% do made.append(id.split('.')[2] if id.startswith(('model.hcat.', 'seed.')) else id) %}
        {% endfor %}
    {% endif %}
    {% for name in names if made and name not in made %}
        {{ return(false) }}
    {% endfor %}
    {{ return(true) }}
{% endmacro %}
