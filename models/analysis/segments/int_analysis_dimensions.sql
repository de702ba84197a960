select dimension, source, field, rationale
from {{ seed('analysis_dimensions') }}
{%- for dimension in var('hcat_own_dimensions') %}
union all
select
    '{{ dimension }}' as dimension,
    'own' as source,
    '{{ dimension }}' as field,
    'Added by this project' as rationale
{%- endfor %}
