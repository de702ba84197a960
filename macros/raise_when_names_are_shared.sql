{#
    A hook. dbt looks for the model of a test in the project before it looks in the package, unless a flag says
    otherwise. A project with a model that has the name of one of hcat needs that flag.
#}
{% macro raise_when_names_are_shared() %}
    {% if is_building_hcat() and project_name != 'hcat' %}
        {% set shared = [] %}
        {% for node in graph.nodes.values() if node.package_name == 'hcat' %}
            {% for read in node.depends_on.nodes %}
                {% set name = read.split('.') | last %}
                {% if read.startswith('model.') and not read.startswith('model.hcat.')
                    and 'model.hcat.' ~ name in graph.nodes %}
                    {% do shared.append(name) %}
                {% endif %}
            {% endfor %}
        {% endfor %}
        {% if shared %}
            {% do exceptions.raise_compiler_error(
                'hcat and your project both have ' ~ shared | unique | sort | join(', ')
                ~ ': add flags: {require_ref_searches_node_package_before_root: true} to dbt_project.yml'
            ) %}
        {% endif %}
    {% endif %}
{% endmacro %}
