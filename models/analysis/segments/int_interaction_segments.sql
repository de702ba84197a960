-- A dimension is a column or a tag of the logs, or a column of a relation that hcat_own_dimensions names.
{{ config(materialized='table') }}
{%- set columns = [
    'system', 'application', 'application_version', 'topic', 'query_type', 'difficulty', 'language', 'customer_group',
    'answer_type', 'variant_type', 'expected_behaviour', 'answer_length', 'retrieval_hit', 'asked_week', 'turn',
    'conversation_length', 'population'
] %}

with interactions as (
    select * from {{ ref('hcat', 'fct_interactions') }}
),

dimensions as (
    select * from {{ ref('hcat', 'int_analysis_dimensions') }}
),

from_columns as (
    {%- for column in columns %}
    select interaction_id, cluster_id, '{{ column }}' as field, {{ column }}::string as segment from interactions
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

from_tags as (
    select
        interactions.interaction_id, interactions.cluster_id, dimensions.field,
        {{ json_field('interactions.tags', 'dimensions.field') }} as segment
    from interactions
    inner join dimensions on dimensions.source = 'tag'
    where interactions.tags is not null
),

everything as (
    select interaction_id, cluster_id, 'all' as dimension, 'all' as segment from interactions
),

{%- for dimension, relation in var('hcat_own_dimensions').items() %}
own_{{ loop.index }} as (
    select
        interactions.interaction_id, interactions.cluster_id,
        '{{ dimension }}' as dimension,
        own.{{ dimension }}::string as segment
    from interactions
    inner join {{ ref(relation) }} as own on interactions.interaction_id = own.interaction_id
),
{%- endfor %}

final as (
    select interaction_id, cluster_id, dimension, segment from everything
    {%- for _ in var('hcat_own_dimensions') %}
    union all
    select interaction_id, cluster_id, dimension, segment from own_{{ loop.index }}
    where segment is not null
    {%- endfor %}
    union all
    select from_columns.interaction_id, from_columns.cluster_id, dimensions.dimension, from_columns.segment
    from from_columns
    inner join dimensions on dimensions.source = 'column' and from_columns.field = dimensions.field
    where from_columns.segment is not null
    union all
    select from_tags.interaction_id, from_tags.cluster_id, dimensions.dimension, from_tags.segment
    from from_tags
    inner join dimensions on dimensions.source = 'tag' and from_tags.field = dimensions.field
    where from_tags.segment is not null
)

select * from final
