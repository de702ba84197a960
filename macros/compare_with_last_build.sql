{# The rows of a model that keeps a hash per key, from its CTE `keyed`, with has_changed: whether the hash differs from
   the one that the table has from the last build. A build that writes everything says so of every row. #}
{% macro compare_with_last_build(key, hash) -%}
    {%- set before = load_relation(this) if execute and not writes_all_interactions() else none -%}
    select
        keyed.{{ key }},
        keyed.{{ hash }},
        {{ 'coalesce(before.' ~ hash ~ ' <> keyed.' ~ hash ~ ', true)' if before else 'true' }} as has_changed
    from keyed
    {%- if before %}
    left join {{ this }} as before on keyed.{{ key }} = before.{{ key }}
    {%- endif %}
{%- endmacro %}
