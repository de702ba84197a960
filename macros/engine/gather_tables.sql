{#
    Makes a table of the rows of several tables, which differ in their columns, with the entity of each: columns that a
    table does not have are null.
#}
{% macro gather_tables(relation, parts) %}
    {% set types, selects = {}, [] %}
    {% for part in parts %}
        {% for column in adapter.get_columns_in_relation(part.relation) if column.name not in types %}
            {% do types.update({column.name: column.data_type}) %}
        {% endfor %}
    {% endfor %}
    {% for part in parts %}
        {% set own = adapter.get_columns_in_relation(part.relation) | map(attribute='name') | list %}
        {% set columns = ["'" ~ part.entity ~ "' as entity"] %}
        {% for name, type in types.items() %}
            {% do columns.append(('' if name in own else 'cast(null as ' ~ type ~ ') as ') ~ adapter.quote(name)) %}
        {% endfor %}
        {% do selects.append('select ' ~ columns | join(', ') ~ ' from ' ~ part.relation) %}
    {% endfor %}
    {% do adapter.create_schema(relation) %}
    {% do run_query('create table ' ~ relation ~ ' as ' ~ selects | join(' union all ')) %}
{% endmacro %}
