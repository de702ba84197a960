-- dbt builds a model or source that hcat_raw_relations names before anything here reads it.
{{ config(materialized='view') }}
select
    null::string as entity,
    null::string as relation_name,
    null::string as relation
where false
{%- for entity, named in var('hcat_raw_relations') | dictsort %}
{%- set relation_name, relation = raw_relation(named) %}
union all
select
    '{{ entity }}' as entity,
    '{{ relation_name }}' as relation_name,
    '{{ relation }}' as relation
{%- endfor %}
