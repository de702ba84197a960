-- One row per table that hcat publishes, with its module (null = it belongs to every build) and its relation. A table of
-- a module that is switched off has no relation: what an earlier build left of it is neither published nor read.
{%- set seeds = ['applications', 'risk_appetites', 'risks', 'sign_offs'] %}
{% for mart, module in published_marts() | dictsort -%}
select
    '{{ mart }}' as mart,
    {{ "'" ~ module ~ "'" if module else 'cast(null as ' ~ dbt.type_string() ~ ')' }} as module,
    {% if not module or is_on(module) %}'{{ seed(mart) if mart in seeds else ref('hcat', mart) }}'{% else %}cast(null as {{ dbt.type_string() }}){% endif %} as relation
{% if not loop.last %}union all
{% endif %}
{%- endfor %}
