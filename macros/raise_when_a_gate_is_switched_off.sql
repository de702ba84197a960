{#
    A hook. It stops a build before it starts if a gate of the project asks for something that only a module which is
    switched off measures: a measurement, or a metric. Gates and metrics are read from the files of their seeds, because
    the seeds are loaded later. Shipped gates of such a module are left out without a word (int_gates_in_force).
#}
{% macro raise_when_a_gate_is_switched_off() %}
    {% set off = modules_off() %}
    {% if is_building_hcat() and off and flags.WHICH in ('build', 'run') %}
        {% set switched_off = {} %}
        {% for module in off %}
            {% for measurement in hcat_modules()[module].measurements %}
                {% do switched_off.update({measurement: module}) %}
            {% endfor %}
            {% for metric in rows_of_seed('metric_catalog', '') if metric[1] in hcat_modules()[module].families %}
                {% do switched_off.update({metric[0]: module}) %}
            {% endfor %}
        {% endfor %}
        {% for gate in rows_of_seed('threshold_gates', 'hcat/seeds/') %}
            {% for asked in gate if asked in switched_off %}
                {% do exceptions.raise_compiler_error(
                    'the gate ' ~ gate[0] ~ ' asks for ' ~ asked ~ ', and its module ' ~ switched_off[asked]
                    ~ ' is switched off: remove the gate from threshold_gates, or switch the module on'
                ) %}
            {% endfor %}
        {% endfor %}
    {% endif %}
{% endmacro %}
