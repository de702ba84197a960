-- One row per column of a table from which queries are made, with what people declare about it.
with columns as (
    select * from {{ ref('hcat', 'int_grammar_columns') }}
),

described as (
    select * from {{ seed('grammar_columns') }}
),

final as (
    select
        -- strings
        columns.table_schema,
        columns.table_name,
        columns.column_name,
        columns.data_type,

        -- numerics
        columns.ordinal_position,
        columns.count_distinct,
        columns.count_rows,

        -- booleans
        columns.is_nullable,
        described.is_descriptive
    from columns
    left join described
        on
            lower(columns.table_name) = lower(described.table_name)
            and lower(columns.column_name) = lower(described.column_name)
)

select * from final
