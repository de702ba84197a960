{{ config(materialized='table') }}

{%- set relations = [] -%}
{%- for name in var('hcat_grammar_relations') -%}
{%- set parts = name.split('.') -%}
{%- if name.count('.') > 1 -%}
{{ exceptions.raise_compiler_error("hcat_grammar_relations holds schema.table or table, got " ~ name) }}
{%- endif -%}
{%- set table_schema = parts[0] if '.' in name else target.schema -%}
{%- if execute and not adapter.get_relation(target.database, table_schema, parts[-1]) -%}
{{ exceptions.raise_compiler_error("hcat_grammar_relations names tables of the warehouse, got " ~ name) }}
{%- endif -%}
{%- do relations.append((table_schema, parts[-1])) -%}
{%- endfor -%}
{%- if not var('hcat_grammar_relations') and env_var('HCAT_DEMO', '') != '1' -%}
{%- if execute -%}
{{ exceptions.raise_compiler_error("hcat_grammar_relations names no table: name those from which queries are made") }}
{%- endif -%}
{%- elif not var('hcat_grammar_relations') -%}
{%- for table in [seed('branches'), seed('products'), seed('fees'), seed('channels'), seed('advice_desks')] -%}
{%- do relations.append((table.schema, table.identifier)) -%}
{%- endfor -%}
{%- endif %}

{% for table_schema, table_name in relations %}
{% if not loop.first %}
union all
{% endif %}
select
    '{{ table_schema | replace("'", "''") }}' as table_schema,
    '{{ table_name | replace("'", "''") }}' as table_name
{% endfor %}
