{# Deletes rows of fct_evaluations whose metric left the catalogue or whose interaction left staging. Where only
   interactions changed, all metrics of an interaction stay or go. Where none can have changed, nothing goes. #}
{% macro delete_evaluations_outside_index() %}
    {% set evaluations = ref('hcat', 'int_evaluations_completed') %}
    {% set interactions = ref('hcat', 'int_interactions_described') %}
    {% if writes_all_interactions() %}
        {% set key, index = 'evaluation_id', evaluations %}
    {% else %}
        {% set key, index = 'interaction_id', interactions %}
    {% endif %}
    {% set kept = 'select 1 from ' ~ index ~ ' as kept where kept.' ~ key ~ ' = ' ~ this.identifier ~ '.' ~ key %}
    {% if writes_all_interactions() or has_keys_of_this_build('int_interactions_keyed') %}
        {{ delete_rows(this, 'not exists (' ~ kept ~ ')') }}
    {% endif %}
{% endmacro %}
