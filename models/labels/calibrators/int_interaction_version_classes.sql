-- One row per interaction: the class of its application version, within which labels of one version hold for another.
with interactions as (
    select * from {{ ref('int_interactions_joined') }}
),

assessed as (
    select * from {{ ref('application_version_classes') }}
),

prompted as (
    select
        interaction_id,
        application,
        application_version,
        system,
        {{ json_field('tags', "'prompt_version'") }} as prompt_version
    from interactions
),

matched as (
    select
        prompted.*,
        assessed.version_class,
        -- a row about this prompt goes before one about any
        row_number() over (
            partition by prompted.interaction_id order by assessed.prompt_version nulls last, assessed.version_class
        ) as choice
    from prompted
    left join assessed
        on
            prompted.application = assessed.application
            and prompted.application_version = assessed.application_version
            and coalesce(assessed.prompt_version, prompted.prompt_version, '') = coalesce(prompted.prompt_version, '')
),

final as (
    select
        interaction_id,
        coalesce(version_class, concat_ws(' prompt ', system, prompt_version)) as version_class
    from matched
    where choice = 1
)

select * from final
