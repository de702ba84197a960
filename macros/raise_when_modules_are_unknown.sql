{# A hook. It stops a build whose hcat_profile or hcat_modules says something that does not exist. #}
{% macro raise_when_modules_are_unknown() %}
    {% set known = hcat_modules() | sort %}
    {% if var('hcat_profile') not in ['minimal', 'standard', 'full'] %}
        {% do exceptions.raise_compiler_error(
            "hcat_profile is '" ~ var('hcat_profile') ~ "': it must be minimal, standard or full"
        ) %}
    {% endif %}
    {% for module, is_wanted in var('hcat_modules').items() %}
        {% if module not in known %}
            {% do exceptions.raise_compiler_error(
                "hcat_modules names '" ~ module ~ "', which is none of " ~ known | join(', ')
            ) %}
        {% elif is_wanted not in [true, false] %}
            {% do exceptions.raise_compiler_error(
                "hcat_modules: " ~ module ~ " must be true or false, got '" ~ is_wanted ~ "'"
            ) %}
        {% endif %}
    {% endfor %}
{% endmacro %}
