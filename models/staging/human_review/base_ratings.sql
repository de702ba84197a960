{#- words of users -> point of the scale of user_feedback -#}
{%- set thumbs = {
    2: ['up', 'thumbs_up', 'thumbsup', 'like', 'upvote', 'positive', 'good', 'helpful', 'true', '👍'],
    0: ['down', 'thumbs_down', 'thumbsdown', 'dislike', 'downvote', 'negative', 'bad', 'false', '👎']
} -%}
{%- set of_name = '(' ~ finite_or_null('scale_point_text') ~ ') over (partition by rater, criterion)' -%}
{%- set least, greatest = 'min' ~ of_name, 'max' ~ of_name -%}
{{ config(materialized='table') }}
{%- set columns = [
    'interaction_id', 'rater', 'rater_kind', 'criterion', 'guideline_version', 'scale_point', 'rating_pass', 'rated_at',
    'review_round', 'sampling', 'inclusion_probability', 'comment', 'reason_start', 'reason_end',
    'correction'
] %}
{%- set folded = ['interaction_id', 'rater', 'rater_kind', 'criterion', 'scale_point', 'rated_at'] %}
{%- set is_named = is_on('spans') %}
{%- set interaction = 'coalesce(named.interaction_id, source.interaction_id)' if is_named else 'interaction_id' %}

with source as (
    {{ landed_and_folded('ratings', columns, folded) | indent(4) }}
),

{%- if is_named %}

-- scores of tools name their trace or a span of it
spans as (
    select trace_id, {{ explode(array_of(['trace_id', 'span_id'])) }} as name
    from {{ ref('hcat', 'base_folded_traces') }}
    where entity = 'spans'
),

named as (
    select source.interaction_id as named_id, min(traces.interaction_id) as interaction_id
    from source
    inner join spans on source.interaction_id = spans.name
    inner join {{ ref('hcat', 'base_folded_traces') }} as traces
        on traces.entity = 'interactions' and spans.trace_id = traces.trace_id
    group by source.interaction_id
    having count(distinct traces.interaction_id) = 1
),
{%- endif %}

interactions as (
    -- Only here does staging look at another source. A record is an orphan while its interaction is not staged. It
    -- stops being an orphan when the interaction arrives in a later file.
    select
        interaction_id as known_interaction_id,
        length(answer) as count_answer_characters
    from {{ ref('hcat', 'base_interactions') }}
    where record_status = 'staged'
),

renamed as (
    select
        -- ids
        source.record_id,
        source.source_file,
        {{ text_or_null(interaction) }} as interaction_id,

        -- strings
        {{ text_or_null('rater') }} as rater,
        lower({{ text_or_null('rater_kind') }}) as logged_rater_kind,
        -- raters may write the name of the metric
        if(
            {{ text_or_null('criterion') }} = 'groundedness'
            and not (select bool_or(scales.criterion = 'groundedness') from {{ seed('rating_scales') }} as scales),
            'faithfulness', {{ text_or_null('criterion') }}
        ) as criterion,
        {{ text_or_null('guideline_version') }} as guideline_version,
        {{ text_or_null('scale_point') }} as scale_point_text,
        {{ text_or_null('rating_pass') }} as rating_pass_text,
        {{ text_or_null('rated_at') }} as rated_at_text,
        {{ text_or_null('review_round') }} as review_round,
        -- Why the interaction was rated: audit = it was drawn in a plain random sample; targeted = its label is most
        -- informative; release = it is an additional real query of the latest version; chosen = a reader picked it.
        coalesce({{ text_or_null('sampling') }}, 'audit') as sampling,
        {{ text_or_null('inclusion_probability') }} as inclusion_probability_text,
        {{ text_or_null('comment') }} as comment,
        {{ text_or_null('reason_start') }} as reason_start_text,
        {{ text_or_null('reason_end') }} as reason_end_text,
        {{ text_or_null('correction') }} as correction_text,

        -- numerics
        -- The passage of the answer that is the reason for the rating: characters of the logged answer from 0, the end
        -- is the first one behind it.
        {{ integer_or_null(text_or_null('reason_start')) }} as reason_start,
        {{ integer_or_null(text_or_null('reason_end')) }} as reason_end,
        {{ integer_or_null(text_or_null('scale_point')) }} as scale_point,

        -- Probability with which the interaction was drawn for review; 1 where the record does not state one.
        case
            when {{ text_or_null('sampling') }} = 'chosen' then null
            when {{ text_or_null('inclusion_probability') }} is null then 1
            else try_cast({{ text_or_null('inclusion_probability') }} as double)
        end as inclusion_probability,

        -- Pass 2 is a rater's second look at the same interaction: it tests consistency and is no second rater.
        {{ integer_or_null("coalesce(" ~ text_or_null('rating_pass') ~ ", '1')") }} as rating_pass,

        -- A rater who changes a rating sends it once more with the next number; the first one is number 0.
        {{ integer_or_null("coalesce(" ~ text_or_null('correction') ~ ", '0')", least=0) }} as correction,

        -- booleans
        -- A rater who cannot judge gives no point of the scale. The record is kept and is never a label.
        coalesce(lower({{ text_or_null('scale_point') }}) = 'cannot_judge', false) as is_unjudged,
        -- A rating beside those of the draw, also where the same rater rates the answer in a round.
        coalesce({{ text_or_null('sampling') }} = 'chosen', false) as is_chosen,

        -- timestamps
        {{ logged_timestamp(text_or_null('rated_at')) }} as rated_at,

        {{ columns_of_record() }}
    from source
    {% if is_named %}left join named on source.interaction_id = named.named_id{% endif %}
),

-- What users press is a thumb or stars, and only all values of one name tell which: 1 is the best thumb and the
-- worst star.
scaled as (
    select
        {{ columns_except(['scale_point']) }},
        case
            when criterion <> 'user_feedback' then scale_point
            {%- for point, words in thumbs.items() %}{% for word in words %}
            when lower({{ replace_pattern('scale_point_text', '[ -]+', '_') }}) = '{{ word }}' then {{ point }}
            {%- endfor %}{% endfor %}
            when {{ least }} >= -1 and {{ greatest }} <= 1
                then case scale_point when 1 then 2 when -1 then 0 when 0 then if({{ least }} < 0, 1, 0) end
            when {{ least }} >= 1 and {{ greatest }} <= 5
                then case when scale_point > 3 then 2 when scale_point = 3 then 1 when scale_point < 3 then 0 end
        end as scale_point
    from renamed
),

-- A left join replaces `not in`, for which Apache Spark compares every record with every interaction.
located as (
    select
        scaled.*,
        interactions.known_interaction_id is not null as is_known,
        interactions.count_answer_characters,
        -- who rated: nobody is taken for a person unless the record or the seed says so
        coalesce(scaled.logged_rater_kind, raters.rater_kind, 'unknown') as rater_kind,
        {{ time_fault('rated_at') }} as rated_at_fault,
        coalesce(
            scaled.reason_start >= 0
            and scaled.reason_start < scaled.reason_end
            and scaled.reason_end <= interactions.count_answer_characters,
            false
        ) as has_reason
    from scaled
    left join {{ seed('raters') }} as raters on scaled.rater = raters.rater
    left join interactions on scaled.interaction_id = interactions.known_interaction_id
),

-- The kind of rater, the pass, the sampling and the probability decide what a label counts. Read as their defaults,
-- they would change that without a word, so that an unreadable one costs the record.
checked as (
    select
        {{ columns_except(['rated_at', 'reason_start', 'reason_end']) }},
        case when rated_at_fault is null then rated_at end as rated_at,
        case when has_reason then reason_start end as reason_start,
        case when has_reason then reason_end end as reason_end,
        case
            when read_error is not null then read_error
            when interaction_id is null then 'interaction_id is missing or blank'
            when rater is null then 'rater is missing or blank'
            when rater_kind not in ('person', 'language_model', 'rule', 'unknown', 'user_feedback')
                then 'rater_kind is not person, language_model, rule, unknown or user_feedback: '
                || left(rater_kind, 80)
            when criterion is null then 'criterion is missing or blank'
            when criterion = 'user_feedback' and rater_kind <> 'user_feedback'
                then 'criterion user_feedback needs the rater_kind user_feedback: ' || left(rater_kind, 80)
            when criterion = 'user_feedback' and scale_point is null
                then 'feedback is neither a word, a thumb (-1, 0, 1) nor stars (1 to 5): ' || left(scale_point_text, 80)
            when
                criterion <> 'user_feedback'
                and not exists (
                    select 1 from {{ seed('rating_scales') }} as rating_scales
                    where
                        rating_scales.criterion = located.criterion
                        and (rating_scales.scale_point = located.scale_point or located.is_unjudged)
                )
                then 'criterion and scale_point are not in the seed rating_scales: '
                || left(criterion || ' ' || coalesce(scale_point_text, 'null'), 80)
            when rating_pass is null
                then 'rating_pass is not an integer: ' || left(rating_pass_text, 80)
            when correction is null
                then 'correction is not an integer of at least 0: ' || left(correction_text, 80)
            when sampling not in ('audit', 'targeted', 'release', 'chosen')
                then 'sampling is not audit, targeted, release or chosen: ' || left(sampling, 80)
            when not coalesce(is_chosen or (inclusion_probability > 0 and inclusion_probability <= 1), false)
                then 'inclusion_probability must lie above 0 and not above 1: ' || left(inclusion_probability_text, 80)
            when not is_known then 'orphan: no staged interaction has this interaction_id'
        end as check_failure
    from located
),

{%- set keys = ['interaction_id', 'rater', 'criterion', 'guideline_version', 'rating_pass', 'is_chosen'] %}
{{ number_records(keys + ['correction'], [
    'rated_at_fault',
    "case when coalesce(reason_start_text, reason_end_text) is not null and not has_reason then"
    ~ " 'reason_start and reason_end are no passage of the answer: '"
    ~ " || left(coalesce(reason_start_text, 'null') || ' ' || coalesce(reason_end_text, 'null'), 80) end"
], into='numbered_records') }},

-- Of a rating and its corrections the last one counts. The earlier ones stay here, with their time and comment.
final as (
    select
        *,
        record_status = 'staged' and lead(correction) over corrections is not null as is_corrected,
        first_value(if(is_unjudged, 'cannot_judge', scale_point::string)) over corrections as first_scale_point
    from numbered_records
    window corrections as (
        partition by {{ keys | join(', ') }}, record_status
        order by correction
    )
)

select * from final
