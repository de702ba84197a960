{# Whether a relation is the ledger of hcat's builds; a table of the project may have its name. #}
{% macro is_ledger(relation) %}
    {% set found = adapter.get_relation(relation.database, relation.schema, relation.identifier) %}
    {{ return(
        found is not none and 'settings_hash' in adapter.get_columns_in_relation(found) | map(attribute='name')
    ) }}
{% endmacro %}
