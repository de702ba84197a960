{# Views of hcat on DuckDB, made by one statement as tables are (table.sql). Views of a project are made by dbt. #}
{% materialization view, adapter='duckdb' %}
    {% if model.package_name != 'hcat' %}
        {{ return(dbt.materialization_view_default()) }}
    {% endif %}
    {% set existing = load_cached_relation(this) %}
    {% set replaced = this.incorporate(type='view') %}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {% if existing is not none and not existing.is_view %}
        {% do adapter.drop_relation(existing) %}
    {% endif %}
    {% call statement('main') %}
        {%- if config.get('contract').enforced %}{{ get_assert_columns_equivalent(sql) }}{% endif %}
        create or replace view {{ replaced }} as ({{ sql }}
        )
    {%- endcall %}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {% do persist_docs(replaced, model) %}
    {{ adapter.commit() }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({'relations': [replaced]}) }}
{% endmaterialization %}
