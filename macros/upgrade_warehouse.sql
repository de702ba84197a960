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

{#
    What an upgrade of this warehouse has to do, as a list of {kind, relation, ...}; empty where nothing is due. Tables that
    remember something are the incremental models of the graph, hcat_builds and the tables of deletions; they are renamed
    and moved. What a build makes anew is dropped in a schema that hcat leaves. Tables of the project and its sources are
    none of hcat's.
#}
{% macro upgrade_steps() %}
    {% set steps = [] %}
    {% set changes = warehouse_changes() %}
    {% set ledger = graph.nodes['model.hcat.dim_runs'] %}
    {% set made = api.Relation.create(database=ledger.database, schema=ledger.schema, identifier=ledger.alias) %}
    {% set left = made.incorporate(path={'schema': target.schema}) %}
    {% set is_moving = ledger.schema != target.schema and is_ledger(left) and not is_ledger(made) %}
    {% set place = left if is_moving else made %}
    {% set others = [] %}
    {% for node in (graph.nodes.values() | list) + (graph.sources.values() | list) if node.package_name != 'hcat' %}
        {% do others.append(node.schema ~ '.' ~ (node.alias or node.identifier)) %}
    {% endfor %}

    {% set kept = {'hcat_builds': true, 'hcat_deletions': true, 'hcat_deletion_log': true} %}
    {% for node in graph.nodes.values() if node.package_name == 'hcat' and node.resource_type in ('model', 'seed') %}
        {% do kept.update({node.alias: node.config.materialized == 'incremental'}) %}
    {% endfor %}
    {% for name in changes.removed %}
        {% do kept.update({name: false}) %}
    {% endfor %}

    {# before a table is moved, because a number comes from all histories together #}
    {% set numbered, unnumbered = [], [] %}
    {% for name, time in changes.numbered | dictsort if place.schema ~ '.' ~ name not in others %}
        {% set found = adapter.get_relation(place.database, place.schema, name) %}
        {% if found is not none %}
            {% do numbered.append({'relation': found, 'time': time}) %}
            {% do unnumbered.append(found) if not has_column(found, 'build_number') %}
        {% endif %}
    {% endfor %}
    {% set deletions = adapter.get_relation(place.database, place.schema, 'hcat_deletion_log') %}
    {% do unnumbered.append(deletions) if deletions is not none and not has_column(deletions, 'after_build_number') %}
    {% for found in unnumbered %}
        {% do steps.append({'kind': 'number', 'relation': found, 'numbered': numbered}) %}
    {% endfor %}

    {% for name, start in changes.gathered.items() %}
        {% set parts = [] %}
        {% for part in changes.removed if part.startswith(start) %}
            {% set found = adapter.get_relation(place.database, place.schema, part) %}
            {% do parts.append({'entity': part[start | length:], 'relation': found}) if found is not none %}
        {% endfor %}
        {% set to = made.incorporate(path={'identifier': name}) %}
        {% if parts and adapter.get_relation(to.database, to.schema, name) is none %}
            {% do steps.append({'kind': 'gather', 'relation': to, 'parts': parts}) %}
        {% endif %}
    {% endfor %}

    {% for name, is_kept in kept | dictsort if place.schema ~ '.' ~ name not in others %}
        {% set needed, dropped = changes.recomputed.get(name), changes.dropped_columns.get(name, []) %}
        {% set is_removed = name in changes.removed %}
        {% set found = adapter.get_relation(place.database, place.schema, name)
            if is_moving or needed or dropped or is_removed else none %}
        {% if found is not none %}
            {% set columns = adapter.get_columns_in_relation(found) | map(attribute='name') | list %}
            {% if is_removed or (needed and needed not in columns) or (is_moving and not is_kept) %}
                {% do steps.append({'kind': 'drop', 'relation': found}) %}
            {% else %}
                {% set names = dropped | select('in', columns) | list %}
                {% if names %}
                    {% do steps.append({'kind': 'drop columns', 'relation': found, 'columns': names}) %}
                {% endif %}
                {% if is_moving %}
                    {% set to = found.incorporate(path={'schema': made.schema}) %}
                    {% do steps.append({'kind': 'move', 'relation': found, 'to': to}) %}
                {% endif %}
            {% endif %}
        {% endif %}
    {% endfor %}
    {{ return(steps) }}
{% endmacro %}

{% macro has_column(relation, name) %}
    {{ return(name in adapter.get_columns_in_relation(relation) | map(attribute='name')) }}
{% endmacro %}

{# The version of hcat that made the last build of a warehouse, as its ledger has it. #}
{% macro version_of_warehouse() %}
    {% set ledger = graph.nodes['model.hcat.dim_runs'] %}
    {% for schema in [ledger.schema, target.schema] | unique %}
        {% set place = api.Relation.create(database=ledger.database, schema=schema, identifier=ledger.alias) %}
        {% if is_ledger(place) %}
            {# an earlier version knew its builds by their times alone #}
            {% set order = 'build_number' if has_column(place, 'build_number') else 'started_at' %}
            {% set versions = 'select code_version from ' ~ place ~ ' order by ' ~ order ~ ' desc limit 1' %}
            {% set last = run_query(versions).rows %}
            {{ return(last[0][0] if last else 'of another version') }}
        {% endif %}
    {% endfor %}
    {{ return('of another version') }}
{% endmacro %}
