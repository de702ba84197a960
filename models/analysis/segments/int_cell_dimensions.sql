-- One row per (first dimension, second dimension) whose pairs of segments are cells: the declared pairs and those of
-- the headline. The second dimension of a triple is a joint one.
{{ config(materialized='view') }}
with pairs as (
    select first_dimension, second_dimension from {{ seed('analysis_dimension_pairs') }}
),

headline as (
    select
        first_dimension,
        case when third_dimension is null then second_dimension else second_dimension || ' x ' || third_dimension end
            as second_dimension
    from {{ seed('headline_cells') }}
    where second_dimension is not null
),

final as (
    select first_dimension, second_dimension from pairs
    union
    select first_dimension, second_dimension from headline
)

select * from final
