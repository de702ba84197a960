{# The checksums that dbt keeps of the seeds (or models) of this project and its packages, by name. #}
{% macro checksums_of_files(resource_type) %}
    {% set checksums = {} %}
    {% if execute %}
        {% set nodes = graph.nodes.values() | selectattr('resource_type', 'equalto', resource_type) %}
        {% for node in nodes | sort(attribute='name') %}
            {% do checksums.update({node.name: node.checksum.checksum}) %}
        {% endfor %}
    {% endif %}
    {{ return(checksums) }}
{% endmacro %}
