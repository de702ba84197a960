-- One row per raw entity that a relation of the warehouse gives, instead of files. dbt builds a model or source that
-- hcat_raw_relations names before anything here reads it.
{% for entity, named in var('hcat_raw_relations') | dictsort -%}
select
    '{{ entity }}' as entity,
    {%- if named is mapping and 'ref' in named %}
    '{{ named.ref }}' as relation_name,
    '{{ ref(named.ref) }}' as relation
    {%- elif named is mapping and 'source' in named %}
    '{{ named.source | join('.') }}' as relation_name,
    '{{ source(named.source[0], named.source[1]) }}' as relation
    {%- else %}
    '{{ named | string | replace("'", "''") }}' as relation_name,
    '{{ named | string | replace("'", "''") }}' as relation
    {%- endif %}
union all
{% endfor -%}
select
    {{ dbt.cast('null', dbt.type_string()) }} as entity,
    {{ dbt.cast('null', dbt.type_string()) }} as relation_name,
    {{ dbt.cast('null', dbt.type_string()) }} as relation
where false
