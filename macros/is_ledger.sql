{# Whether a relation is the ledger of hcat's builds; a table of the project may have its name. #}
{% macro is_ledger(relation) %}
    {% set found = adapter.get_relation(relation.database, relation.schema, relation.identifier) %}
    {{ return(found is not none and has_column(found, 'settings_hash')) }}
{% endmacro %}
