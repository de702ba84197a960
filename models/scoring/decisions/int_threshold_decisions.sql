-- A threshold that was decided on scores of another encoder, classifier or scoring revision is void here. An expired
-- decision is still applied and raises a warning. Where a decision has a row per classifier, the row of this build's
-- classifier counts.
{{ config(materialized='view') }}
with encoder as (
    select encoder_sha256 from {{ ref('hcat', 'int_encoder') }}
),

classifier as (
    select classifier_sha256 from {{ ref('hcat', 'int_classifier') }}
),

checked as (
    select
        decisions.*,
        case
            when
                left(coalesce(encoder.encoder_sha256, ''), length(decisions.encoder_sha256))
                <> decisions.encoder_sha256
                then 'void_encoder'
            when
                left(coalesce(classifier.classifier_sha256, ''), length(decisions.classifier_sha256))
                <> decisions.classifier_sha256
                then 'void_classifier'
            when decisions.scoring_revision <> {{ revision_of('scoring') }} then 'void_scoring'
            when decisions.valid_until < current_date then 'expired'
            else 'in_force'
        end as decision_status
    from {{ seed('threshold_decisions') }} as decisions
    cross join encoder
    cross join classifier
),

ranked as (
    select
        *,
        row_number() over (
            partition by decision_name
            order by
                case when decision_status in ('in_force', 'expired') then 0 else 1 end,
                classifier_sha256 nulls last
        ) as row_rank
    from checked
),

final as (
    select
        {{ columns_except(['threshold', 'row_rank']) }},
        case
            when decision_status = 'expired' then 'decision ' || decision_name || ' expired on ' || valid_until
            when decision_status = 'void_encoder'
                then 'decision ' || decision_name || ' is void: made on scores of another encoder'
            when decision_status = 'void_classifier'
                then 'decision ' || decision_name || ' is void: made on scores of another classifier'
            when decision_status = 'void_scoring'
                then 'decision ' || decision_name || ' is void: made on scores of another scoring revision'
        end as decision_note,
        case when decision_status in ('in_force', 'expired') then threshold end as threshold,
        threshold as decided_threshold
    from ranked
    where row_rank = 1
)

select * from final
