{# Rows of a metric that left the catalogue, or of an interaction that left staging, leave the incremental mart too. #}
{% macro delete_rows_outside_index(index_model, key) %}
    {{ delete_rows(this, key ~ ' not in (select expected.' ~ key ~ ' from ' ~ ref(index_model) ~ ' as expected)') }}
{% endmacro %}
