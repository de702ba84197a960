-- What an earlier build left of a module that is off is neither published nor read.
{%- set seeds = ['applications', 'risk_appetites', 'risks', 'sign_offs'] %}
{%- for mart, module in published_marts() | dictsort %}
{%- set relation = '' if module and not is_on(module) else seed(mart) if mart in seeds else ref('hcat', mart) %}
select
    '{{ mart }}' as mart,
    nullif('{{ module or "" }}', '') as module,
    nullif('{{ relation }}', '') as relation
{%- if not loop.last %}
union all
{%- endif %}
{%- endfor %}
