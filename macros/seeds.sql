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

{#
    The rows of the file of a seed, each a list of texts: of the project's own one where there is one. A file in the
    place that is left out has none.
#}
{% macro rows_of_seed(name, place_left_out) %}
    {% set rows = [] %}
    {% for seed in graph.nodes.values() if seed.resource_type == 'seed' and seed.name == name
        and seed.package_name == (project_name if name in var('hcat_own_seeds') else 'hcat')
        and not (place_left_out and (seed.package_name ~ '/' ~ seed.original_file_path).startswith(place_left_out)) %}
        {% for row in run_query('select * from ' ~ rows_of_csv(seed.root_path ~ '/' ~ seed.original_file_path)).rows %}
            {% do rows.append(row.values() | list) %}
        {% endfor %}
    {% endfor %}
    {{ return(rows) }}
{% endmacro %}
