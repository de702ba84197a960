-- One row per column of a key or foreign key. The warehouse knows it, or people declare it for tables that are read
-- here.
with known as (
    select * from {{ ref('hcat', 'int_grammar_keys') }}
),

declared as (
    select * from {{ seed('grammar_constraints') }}
),

tables as (
    select lower(table_name) as table_name from {{ ref('hcat', 'int_grammar_relations') }}
),

-- all columns of a constraint are kept together, so that a constraint never matches half of another
declared_here as (
    select
        'declared ' || declared.constraint_name as constraint_name,
        declared.constraint_type,
        declared.table_name,
        declared.column_name,
        declared.ordinal_position,
        declared.referenced_table_name,
        declared.referenced_column_name
    from declared
    where
        lower(declared.table_name) in (select tables.table_name from tables)
        and (
            declared.referenced_table_name is null
            or lower(declared.referenced_table_name) in (select tables.table_name from tables)
        )
),

final as (
    select
        constraint_name,
        constraint_type,
        table_name,
        column_name,
        ordinal_position,
        referenced_table_name,
        referenced_column_name
    from known
    union all
    select
        constraint_name,
        constraint_type,
        table_name,
        column_name,
        ordinal_position,
        referenced_table_name,
        referenced_column_name
    from declared_here
)

select * from final
