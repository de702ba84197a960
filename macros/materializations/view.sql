{# Views of hcat on DuckDB, made by one statement as tables are (table.sql). Views of a project are made by dbt. #}
{% materialization view, adapter='duckdb' %}
    {% if model.package_name != 'hcat' %}
        {{ return(dbt.materialization_view_default()) }}
    {% endif %}
    {% set replaced = hcat.begin_replacement('view') %}
    {% call statement('main') %}
        {%- if config.get('contract').enforced %}{{ get_assert_columns_equivalent(sql) }}{% endif %}
        create or replace view {{ replaced }} as ({{ sql }}
        )
    {%- endcall %}
    {{ return(hcat.end_replacement(replaced)) }}
{% endmaterialization %}
