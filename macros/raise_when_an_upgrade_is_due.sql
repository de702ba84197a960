{# A hook. It stops a build on the warehouse of an earlier version before a model touches it. #}
{% macro raise_when_an_upgrade_is_due() %}
    {% if is_building_hcat() %}
        {% set steps = upgrade_steps() %}
        {% if steps %}
            {% do exceptions.raise_compiler_error(
                'the warehouse was made by hcat ' ~ version_of_warehouse() ~ ': run `hcat upgrade` before this build (`hcat upgrade'
                ~ ' --dry-run` says what it does)'
            ) %}
        {% endif %}
    {% endif %}
{% endmacro %}
