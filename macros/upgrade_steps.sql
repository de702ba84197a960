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
