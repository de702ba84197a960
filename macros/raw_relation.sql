{#
    The name for people and the relation of an input that hcat_raw_relations names: {ref: my_model},
    {source: [my_source, my_table]} or the name of a table. Quotes are doubled, because both stand in SQL texts.
#}
{% macro raw_relation(named) %}
    {% if named is mapping and 'ref' in named %}
        {{ return([named.ref, ref(named.ref)]) }}
    {% elif named is mapping and 'source' in named %}
        {{ return([named.source | join('.'), source(named.source[0], named.source[1])]) }}
    {% endif %}
    {% set name = named | string | replace("'", "''") %}
    {{ return([name, name]) }}
{% endmacro %}
