-- Within a class, the labels of one version are valid for another.
with interactions as (
    select
        interaction_id,
        application,
        application_version,
        system,
        {{ json_field('tags', "'prompt_version'") }} as prompt_version
    from {{ ref('hcat', 'int_interactions') }}
),

assessed as (
    select application, application_version, prompt_version, min(version_class) as version_class
    from {{ seed('application_version_classes') }}
    group by application, application_version, prompt_version
),

final as (
    select
        interactions.interaction_id,
        -- A row for this prompt takes precedence over a row for any prompt.
        coalesce(
            of_prompt.version_class,
            of_any_prompt.version_class,
            concat_ws(' prompt ', interactions.system, interactions.prompt_version)
        ) as version_class
    from interactions
    left join assessed as of_prompt
        on
            interactions.application = of_prompt.application
            and interactions.application_version = of_prompt.application_version
            and interactions.prompt_version = of_prompt.prompt_version
    left join assessed as of_any_prompt
        on
            interactions.application = of_any_prompt.application
            and interactions.application_version = of_any_prompt.application_version
            and of_any_prompt.prompt_version is null
)

select * from final
