-- One row per interaction with the class of its application version. Within a class, the labels of one version are
-- valid for another.
with interactions as (
    select * from {{ ref('hcat', 'int_interactions_joined') }}
),

assessed as (
    select * from {{ seed('application_version_classes') }}
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
        -- A row for this prompt takes precedence over a row for any prompt.
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
