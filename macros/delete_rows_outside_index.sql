{# Deletes rows of the incremental mart whose metric left the catalogue or whose interaction left staging. #}
{% macro delete_rows_outside_index(index_model, key) %}
    {% set expected = 'select 1 from ' ~ ref('hcat', index_model) ~ ' as expected where expected.' ~ key %}
    {{ delete_rows(this, 'not exists (' ~ expected ~ ' = ' ~ this.identifier ~ '.' ~ key ~ ')') }}
{% endmacro %}
