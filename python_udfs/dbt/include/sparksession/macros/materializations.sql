{#
    dbt-spark drops a table before it builds the next one: a model that raises would leave nothing. Here the new table is
    built beside the old one, held against its contract, and takes its place when it is whole.
#}
{% materialization table, adapter='sparksession', supported_languages=['sql', 'python'] %}
    {% set language = model['language'] %}
    {% set fresh = drop_draft(this, '__dbt_new') %}
    {{ run_hooks(pre_hooks) }}
    {# dbt submits Python only from the statement of a materialization itself #}
    {% call statement('main', language=language) %}{{ create_table_as(False, fresh, compiled_code, language) }}{% endcall %}
    {% do check_constraints(fresh) %}
    {% do swap_table(this, fresh) %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}


{#
    append: rows are added. delete+insert: the table is written anew without the rows whose key comes again, since Parquet
    knows no delete; with `file_format: iceberg` or `delta`, set incremental_strategy to merge and dbt-spark merges.
#}
{% materialization incremental, adapter='sparksession', supported_languages=['sql', 'python'] %}
    {% set language = model['language'] %}
    {% set strategy = config.get('incremental_strategy') or 'append' %}
    {% set existing = load_relation(this) %}
    {{ run_hooks(pre_hooks) }}
    {% set is_new = existing is none or existing.is_view or should_full_refresh() %}
    {# a table and no temporary view also for an addition: a view would read the table that it is added to #}
    {% set fresh = drop_draft(this, '__dbt_new' if is_new else '__dbt_tmp') %}
    {% call statement('main', language=language) %}{{ create_table_as(False, fresh, compiled_code, language) }}{% endcall %}
    {% do check_constraints(fresh) %}
    {% if is_new %}
        {% do swap_table(this, fresh) %}
    {% else %}
        {% do process_schema_changes(incremental_validate_on_schema_change(config.get('on_schema_change')), fresh, existing) %}
        {% if strategy == 'delete+insert' %}
            {% set columns = adapter.get_columns_in_relation(existing) | map(attribute='quoted') | join(', ') %}
            {% set key = adapter.quote(config.require('unique_key')) %}
            {% do replace_table(
                this,
                'select ' ~ columns ~ ' from ' ~ this ~ ' left anti join (select distinct ' ~ key ~ ' from ' ~ fresh
                ~ ') using (' ~ key ~ ') union all select ' ~ columns ~ ' from ' ~ fresh
            ) %}
        {% else %}
            {% do run_query(
                dbt_spark_get_incremental_sql(strategy, fresh, this, existing, config.get('unique_key'), none)
            ) %}
        {% endif %}
        {% do adapter.drop_relation(fresh) %}
    {% endif %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}


{# The name under which a table is written before it takes its place; what a killed build left of it is dropped. #}
{% macro drop_draft(relation, suffix) %}
    {% set fresh = relation.incorporate(path={'identifier': relation.identifier ~ suffix}, type='table') %}
    {% do adapter.drop_relation(fresh) %}
    {{ return(fresh) }}
{% endmacro %}


{# Writes a table anew from a query, which may read the table itself. #}
{% macro replace_table(relation, query) %}
    {% set fresh = drop_draft(relation, '__dbt_new') %}
    {% do run_query('create table ' ~ fresh ~ ' using ' ~ config.get('file_format', 'parquet') ~ ' as ' ~ query) %}
    {% do swap_table(relation, fresh) %}
{% endmacro %}


{% macro swap_table(relation, fresh) %}
    {% do adapter.drop_relation(load_relation(relation) or relation.incorporate(type='table')) %}
    {% do run_query('alter table ' ~ fresh ~ ' rename to ' ~ relation) %}
{% endmacro %}


{# Parquet keeps no constraints: those of the contract (not_null, check) are counted before a table takes its place. #}
{% macro check_constraints(relation) %}
    {% set checks = [] %}
    {% for owner in [model] + (model.columns.values() | list) %}
        {% for constraint in owner.constraints if constraint.type in ('not_null', 'check') %}
            {% do checks.append(constraint.expression or adapter.quote(owner.name) ~ ' is not null') %}
        {% endfor %}
    {% endfor %}
    {% if checks and config.get('contract').enforced %}
        {% set query = 'select count_if(not (' ~ checks | join(')), count_if(not (') ~ ')) from ' ~ relation %}
        {% for count in run_query(query).rows[0] if count > 0 %}
            {% do exceptions.raise_compiler_error(model.name ~ ': ' ~ count ~ ' rows break the contract') %}
        {% endfor %}
    {% endif %}
{% endmacro %}
