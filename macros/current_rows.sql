{#- Rows of a table that keeps results of earlier builds, limited to the rows with a key of this build. -#}
{% macro current_rows(kept, current, key) -%}
select kept.*
from {{ kept }} as kept
inner join (select distinct {{ key }} from {{ current }}) as this_build on kept.{{ key }} = this_build.{{ key }}
{%- endmacro %}
