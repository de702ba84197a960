{#
    The operation behind `hcat upgrade`: it does what is due and prints a line for each step. On DuckDB all of it happens or
    nothing; on Spark a run that was killed is run again.
#}
{% macro upgrade_warehouse(dry_run=false) %}
    {% set steps = upgrade_steps() %}
    {% if steps %}
        {% do say('made by hcat ' ~ version_of_warehouse()) %}
    {% endif %}
    {% set dropped = [] %}
    {% for step in steps if step.kind == 'drop' %}
        {% do dropped.append(step.relation.identifier) %}
    {% endfor %}
    {% if dropped %}
        {% do say(
            'drop ' ~ dropped | length ~ ' tables and views that the next build makes anew: ' ~ dropped | join(', ')
        ) %}
    {% endif %}
    {% if steps and not dry_run %}
        {% call statement('begin', auto_begin=true) %}select 1{% endcall %}
    {% endif %}
    {% for step in steps %}
        {% set name = step.relation.schema ~ '.' ~ step.relation.identifier %}
        {% if step.kind == 'drop columns' %}
            {% do say('drop columns of ' ~ name ~ ': ' ~ step.columns | join(', ')) %}
        {% elif step.kind == 'number' %}
            {% do say('number the builds of ' ~ name) %}
        {% elif step.kind == 'gather' %}
            {% do say('gather the rows of ' ~ step.parts | map(attribute='relation.identifier') | join(', ') ~ ' in ' ~ name) %}
        {% elif step.kind == 'move' %}
            {% set count = run_query('select count(*) from ' ~ step.relation).rows[0][0] %}
            {% do say('move ' ~ name ~ ' with ' ~ count ~ ' rows to ' ~ step.to.schema) %}
        {% endif %}
        {% if dry_run %}
        {% elif step.kind == 'gather' %}
            {% do gather_tables(step.relation, step.parts) %}
        {% elif step.kind == 'drop' %}
            {% do adapter.drop_relation(step.relation) %}
        {% elif step.kind == 'drop columns' %}
            {% do drop_columns(step.relation, step.columns) %}
        {% elif step.kind == 'number' %}
            {% do number_builds(step.relation, step.numbered) %}
        {% else %}
            {% do move_table(step.relation, step.to) %}
        {% endif %}
    {% endfor %}
    {% if steps and not dry_run %}
        {% do adapter.commit() %}
    {% endif %}
{% endmacro %}
