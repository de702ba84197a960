{# Rows of a metric that left the catalogue, or of an interaction that left staging, leave the incremental mart too. #}
{% macro delete_rows_outside_index(index_model, key) %}
    {% set expected = 'select 1 from ' ~ ref(index_model) ~ ' as expected where expected.' ~ key %}
    {{ delete_rows(this, 'not exists (' ~ expected ~ ' = ' ~ this.identifier ~ '.' ~ key ~ ')') }}
{% endmacro %}
