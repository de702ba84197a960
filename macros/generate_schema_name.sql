{#
    The schema of a relation of hcat. In hcat's own project it is that of the target. In a project that has hcat as a
    package it is hcat_schema, so that a table of the project may have the name of one of hcat. The name is made by the
    project's own generate_schema_name where there is one, otherwise as dbt does it: <schema of the target>_hcat. An empty
    hcat_schema is the schema of the target.
#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- if project_name == 'hcat' -%}
        {{ return(target.schema) }}
    {%- endif -%}
    {%- set wanted = custom_schema_name or var('hcat_schema', 'hcat') or none -%}
    {%- set of_project = context.get(project_name, {}).get('generate_schema_name') -%}
    {{ return(of_project(wanted, node) if of_project else default__generate_schema_name(wanted, node)) }}
{%- endmacro %}
