{#
    Tables of hcat on DuckDB. One statement puts the new rows in the place of the old ones: all of it happens or nothing.
    dbt-duckdb writes another table and renames it, which takes dbt three times as long. That lets a model read its own
    old rows and have indexes, and no table of hcat does. `hcat init` copies this file into a new project, because dbt
    asks the project, and not its packages, how tables are made. SQL models of that project are made by dbt-duckdb.
#}
{% materialization table, adapter='duckdb', supported_languages=['sql', 'python'] %}
    {% if model.package_name != 'hcat' and model.language == 'sql' %}
        {{ return(dbt.materialization_table_duckdb()) }}
    {% endif %}
    {% set existing = load_cached_relation(this) %}
    {% set replaced = this.incorporate(type='table') %}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {% if existing is not none and not existing.is_table %}
        {% do adapter.drop_relation(existing) %}
    {% endif %}
    {% call statement('main', language=model.language) %}
        {{- hcat.replace_table_as(replaced, compiled_code, model.language) -}}
    {% endcall %}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {% do persist_docs(replaced, model) %}
    {{ adapter.commit() }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({'relations': [replaced]}) }}
{% endmaterialization %}
