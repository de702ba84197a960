{#
    The rows that break a promise about models: its name, the row as `id`, and the `problem`. The body of the call
    selects the last two. A file of promises begins with promises().
#}
{% macro promise(name, about) %}
    {% if is_tested(about) %}
    union all
    select
        '{{ name }}' as promise,
        cast({{ name }}.id as string) as id,
        cast({{ name }}.problem as string) as problem
    from (
        {{ caller() }}
    ) as {{ name }}
    {% endif %}
{% endmacro %}

{# The columns of broken promises, without a row. #}
{% macro promises() %}
    select
        cast(null as string) as promise,
        cast(null as string) as id,
        cast(null as string) as problem
    where false
{% endmacro %}

{# The rows of `expected` that are not in `found`, and those of `found` that are not expected; `id` names a row. #}
{% macro rows_that_differ(id) %}
    select {{ id }} as id, 'missing' as problem
    from (select * from expected except select * from found) as missing
    union all
    select {{ id }} as id, 'not expected' as problem
    from (select * from found except select * from expected) as unexpected
{% endmacro %}

{# The keys that are null or stand in several rows: `keys` has the key of each model. #}
{% macro keys_that_repeat(keys) %}
    select
        cast(null as string) as model,
        cast(null as string) as key,
        cast(null as bigint) as count_rows
    where false
    {% for model, key in keys.items() if is_tested([model]) %}
    union all
    select
        '{{ model }}' as model,
        cast({{ key }} as string) as key,
        count(*) as count_rows
    from {{ ref('hcat', model) }}
    group by {{ key }}
    having count(*) > 1 or {{ key }} is null
    {% endfor %}
{% endmacro %}
