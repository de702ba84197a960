with probes as (
    select *
    from {{ ref('hcat', 'int_safety_texts') }}
    where purpose = 'probe'
),

scores as (
    {{ current_rows(
        ref('hcat', 'int_texts_classified_by_tone'), ref('hcat', 'int_text_classifiers'), 'scoring_key'
    ) | indent(4) }}
),

classifier as (
    select *
    from {{ ref('hcat', 'int_text_classifiers') }}
    where purpose = 'toxicity'
),

judged as (
    select
        probes.target_group,
        probes.source_id,
        probes.is_toxic,
        (scores.toxicity >= {{ toxic_probability() }}) <> probes.is_toxic as is_error
    from probes
    inner join scores on probes.text_id = scores.text_id
    where scores.toxicity is not null
),

of_groups as (
    select * from judged
    union all
    select 'all' as target_group, source_id, is_toxic, is_error
    from judged
),

counted as (
    select
        target_group,
        is_toxic,
        count(*) as count_probes,
        count(distinct source_id) as count_frames,
        count(*) filter (where is_error) as count_errors
    from of_groups
    group by target_group, is_toxic
),

shared as (
    select *, count_errors / count_probes::double as share_errors
    from counted
),

final as (
    select
        md5(shared.target_group || '|' || shared.is_toxic::string) as toxicity_error_rate_id,
        shared.target_group,
        case when shared.is_toxic then 'missed' else 'false_alarm' end as error_kind,
        classifier.classifier_name,
        classifier.classifier_revision,
        shared.count_probes,
        shared.count_frames,
        shared.count_errors,
        shared.share_errors,
        {{ wilson_bound('shared.share_errors', 'shared.count_frames', 'lower') }} as share_errors_lower,
        {{ wilson_bound('shared.share_errors', 'shared.count_frames', 'upper') }} as share_errors_upper
    from shared
    cross join classifier
)

select * from final
