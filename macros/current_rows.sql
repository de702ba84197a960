{#- Rows of a table that keeps what earlier builds made, as far as the key of this build made them. -#}
{% macro current_rows(kept, current, key) -%}
select kept.*
from {{ kept }} as kept
inner join (select distinct {{ key }} from {{ current }}) as this_build on kept.{{ key }} = this_build.{{ key }}
{%- endmacro %}
