{#
    Tables of hcat on DuckDB. One statement puts the new rows in the place of the old ones: all of it happens or nothing.
    dbt-duckdb writes another table and renames it, so that a model may read its own old rows. No table of hcat needs
    that, and a small build takes less time without it (decision 57). `hcat init` copies this file
    into a new project, because dbt asks the project, and not its packages, how tables are made. SQL models of that
    project are made by dbt-duckdb; dbt lets no other macro run its Python models.
#}
{% materialization table, adapter='duckdb', supported_languages=['sql', 'python'] %}
    {% if model.package_name != 'hcat' and model.language == 'sql' %}
        {{ return(dbt.materialization_table_duckdb()) }}
    {% endif %}
    {% set replaced = hcat.begin_replacement('table') %}
    {% call statement('main', language=model.language) %}
        {{- hcat.replace_table_as(replaced, compiled_code, model.language) -}}
    {% endcall %}
    {{ return(hcat.end_replacement(replaced)) }}
{% endmaterialization %}
