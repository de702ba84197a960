{# The raw entities that this project reads, in the order in which they are shown. #}
{% macro raw_entities() %}
    {% set entities = ['interactions', 'retrievals', 'queries', 'documents', 'chunks'] %}
    {% for entity, module in [
        ('ratings', 'calibration'), ('relevance_judgements', 'retrieval'), ('spans', 'spans')
    ] if is_on(module) %}
        {% do entities.append(entity) %}
    {% endfor %}
    {{ return(entities) }}
{% endmacro %}
