{# The modules that this project switches off, by name. #}
{% macro modules_off() %}
    {% set off = [] %}
    {% for module in hcat_modules() | sort if not is_on(module) %}
        {% do off.append(module) %}
    {% endfor %}
    {{ return(off) }}
{% endmacro %}
