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
        probes.target_group, probes.source_id, probes.is_toxic,
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
        target_group, is_toxic,
        count(*) as count_probes,
        count(distinct source_id) as count_frames,
        count(*) filter (where is_error) as count_errors
    from of_groups
    group by target_group, is_toxic
),

shared as (
    select *, count_errors / count_probes::double as share_errors
    from counted
)

select {{ columns_of_contract({
    'toxicity_error_rate_id': "md5(shared.target_group || '|' || shared.is_toxic::string)",
    'error_kind': "case when shared.is_toxic then 'missed' else 'false_alarm' end",
    'classifier_name': 'classifier.classifier_name',
    'classifier_revision': 'classifier.classifier_revision',
    'share_errors_lower': wilson_bound('shared.share_errors', 'shared.count_frames', 'lower'),
    'share_errors_upper': wilson_bound('shared.share_errors', 'shared.count_frames', 'upper'),
}, of='shared') }}
from shared
cross join classifier
