-- One row per table of this build that is published, with its module; null = it belongs to every build.
{% for mart, module in published_marts() | dictsort -%}
select
    '{{ mart }}' as mart,
    {{ "'" ~ module ~ "'" if module else 'cast(null as ' ~ dbt.type_string() ~ ')' }} as module,
    '{{ ref(mart) }}' as relation
{% if not loop.last %}union all
{% endif %}
{%- endfor %}
