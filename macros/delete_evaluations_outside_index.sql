{# Deletes rows of fct_evaluations whose metric left the catalogue or whose interaction left staging. #}
{% macro delete_evaluations_outside_index() %}
    {% set index = ref('hcat', 'int_evaluations_completed') %}
    {% set kept = 'select 1 from ' ~ index ~ ' as kept where kept.evaluation_id = ' ~ this.identifier ~ '.evaluation_id' %}
    {{ delete_rows(this, 'not exists (' ~ kept ~ ')') }}
{% endmacro %}
