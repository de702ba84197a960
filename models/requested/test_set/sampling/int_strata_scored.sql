-- Only the allocation neyman needs scores: with any other a test set needs no evaluated logs.
{% if var('hcat_sampling_allocation') == 'neyman' -%}
with evaluations as (
    select * from {{ ref('hcat', 'fct_evaluations') }}
    where metric_name = 'groundedness' and raw_score is not null
),

chunk_strata as (
    select chunk_id, stratum_id from {{ ref('hcat', 'int_chunk_strata') }}
),

traced as (
    select
        chunk_strata.stratum_id,
        evaluations.raw_score,
        interactions.asked_at,
        coalesce(interactions.answer_run_id, interactions.application_version, '') as run
    from evaluations
    inner join {{ ref('hcat', 'int_interactions') }} as interactions
        on evaluations.interaction_id = interactions.interaction_id
    -- a query made of several chunks is of the stratum of its first
    inner join chunk_strata on {{ array_at('interactions.source_chunk_ids', 1) }} = chunk_strata.chunk_id
),

last_run as (
    select run
    from traced
    group by run
    order by max(asked_at) desc nulls last, run desc
    limit 1
),

final as (
    select
        traced.stratum_id,
        count(*) as count_scored,
        {{ exact_standard_deviation('traced.raw_score') }} as score_standard_deviation
    from traced
    inner join last_run on traced.run = last_run.run
    group by traced.stratum_id
)

select * from final
{%- else -%}
select null::string as stratum_id, null::bigint as count_scored, null::double as score_standard_deviation
where false
{%- endif %}
