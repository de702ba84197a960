{# The families of metrics of the modules that are switched off. #}
{% macro families_switched_off() %}
    {% set families = [] %}
    {% for module in modules_off() %}
        {% do families.extend(hcat_modules()[module].families) %}
    {% endfor %}
    {{ return(families) }}
{% endmacro %}
