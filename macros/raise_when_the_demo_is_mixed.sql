{# A hook. It stops a build that asks for the demo while the project names logs of its own. #}
{% macro raise_when_the_demo_is_mixed() %}
    {% set is_named = var('hcat_raw_logs') or var('hcat_raw_relations') %}
    {% if is_building_hcat() and env_var('HCAT_DEMO', '') == '1' and not env_var('HCAT_RAW_LOGS', '') and is_named %}
        {% do exceptions.raise_compiler_error(
            'HCAT_DEMO=1 asks for the demo, and hcat_raw_logs or hcat_raw_relations name logs of your own: unset HCAT_DEMO'
            ~ ' (`make build HCAT_DEMO=0`)'
        ) %}
    {% endif %}
{% endmacro %}
