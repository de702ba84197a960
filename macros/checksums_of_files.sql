{# The checksums that dbt keeps of the seeds (or models) of this project and its packages, by name. #}
{% macro checksums_of_files(resource_type) %}
    {% set checksums = {} %}
    {% if execute %}
        {% for node in graph.nodes.values() | selectattr('resource_type', 'equalto', resource_type) | sort(attribute='name') %}
            {% do checksums.update({node.name: node.checksum.checksum[:12]}) %}
        {% endfor %}
    {% endif %}
    {{ return(checksums) }}
{% endmacro %}
