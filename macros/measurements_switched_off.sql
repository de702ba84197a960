{# What gates can ask of the modules that are switched off. #}
{% macro measurements_switched_off() %}
    {% set measurements = [] %}
    {% for module in modules_off() %}
        {% do measurements.extend(hcat_modules()[module].measurements) %}
    {% endfor %}
    {{ return(measurements) }}
{% endmacro %}
