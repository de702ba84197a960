-- Queries of the explorer over the marts, by name.

-- query: order_interactions
-- Worst first: failing by verdict, then undecided, then the lower score. The id makes the order whole.
with judged as (
    select
        evaluations.interaction_id,
        min(
            case
                when evaluations.metric_name = $score_metric and evaluations.score_status in ('scored', 'truncated')
                    then evaluations.raw_score * case when metrics.direction = 'higher_is_better' then 1 else -1 end
            end
        ) as merit,
        min(evaluations.human_label) as label
    from fct_evaluations as evaluations
    inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
    group by evaluations.interaction_id
),

ordered as (
    select
        interactions.interaction_id,
        judged.label,
        row_number() over (
            order by case verdicts.verdict when 'failing' then 0 when 'acceptable' then 2 else 1 end,
                judged.merit nulls last, interactions.interaction_id
        ) - 1 as position
    from fct_interactions as interactions
    left join judged on interactions.interaction_id = judged.interaction_id
    left join fct_verdicts as verdicts on interactions.interaction_id = verdicts.interaction_id
)

-- query: list_interactions
-- The names of the dimensions come from marts of the build.
flagged as (
    select interaction_id, string_agg(distinct flag_name, chr(31) order by flag_name) as flags
    from {flags}
    group by interaction_id
),

first_documents as (
    select contexts.interaction_id, min(coalesce(documents.title, contexts.document_id)) as first_document
    from fct_retrieved_contexts as contexts
    left join dim_documents as documents on contexts.document_id = documents.document_id
    where contexts.rank = 1
    group by contexts.interaction_id
)

select
    interactions.interaction_id,
    interactions.cluster_id,
    coalesce(interactions.application, 'unnamed') as application,
    interactions.application_version,
    case
        when interactions.turn_index > 1 then 'turn_' || interactions.turn_index || '_' || interactions.conversation_id
        else coalesce(
            interactions.query_id,
            'text_' || md5(lower(regexp_replace(trim(interactions.query_text), '\s+', ' ', 'g')))
        )
    end as query_key,
    case
        when not interactions.is_answered then 'empty' when interactions.is_refusal then 'refused' else 'answered'
    end as outcome,
    case ordered.label when 1 then 'accepted' when 0 then 'failed' else 'not rated' end as label,
    coalesce(replace(verdicts.verdict, '_', ' '), 'not judged') as verdict,
    -- answers to one question in any wording: one reference, or without any one text
    concat_ws('|', interactions.cluster_id, coalesce(interactions.reference_answer, lower(interactions.query_text)))
        as question_key,
    verdicts.failed_criterion,
    causes.fault as cause,
    first_documents.first_document,
    coalesce(interactions.sampling_weight, 1) as sampling_weight,
    if(interactions.is_in_release_population, 1, 0) + if(interactions.is_in_monitored_population, 2, 0) as uses,
    coalesce(flagged.flags, '') as flags,
    {tags} as tags,
    md5('hcat explorer|' || $random_seed || '|' || interactions.interaction_id) as lot
    {dimensions}
from ordered
inner join fct_interactions as interactions on ordered.interaction_id = interactions.interaction_id
left join fct_verdicts as verdicts on interactions.interaction_id = verdicts.interaction_id
left join flagged on interactions.interaction_id = flagged.interaction_id
left join {causes} as causes
    on interactions.interaction_id = causes.interaction_id and causes.metric_name = 'verdict'
left join first_documents on interactions.interaction_id = first_documents.interaction_id
order by ordered.position

-- query: list_scores
-- the verdict is a metric too, as in the marts of weakness: 1 = acceptable, 0 = failing
evaluated as (
    select interaction_id, metric_name, raw_score, score_status, is_failing, calibrated_probability, prediction_set
    from fct_evaluations
    union all
    select interaction_id, 'verdict', 1 - (verdict = 'failing')::integer, 'scored', verdict = 'failing', null, null
    from fct_verdicts
    where verdict in ('acceptable', 'failing')
)

select
    ordered.position::integer as position,
    (list_position($metric_names::varchar[], evaluations.metric_name) - 1)::integer as metric,
    evaluations.raw_score,
    (list_position($statuses::varchar[], evaluations.score_status) - 1)::integer as status,
    case when evaluations.is_failing then 2 when evaluations.is_failing = false then 1 else 0 end as failing,
    evaluations.calibrated_probability,
    case evaluations.prediction_set
        when 'accepted' then 1 when 'failed' then 2 when 'accepted|failed' then 3 when '' then 4 else 0
    end as prediction_set
from evaluated as evaluations
inner join ordered on evaluations.interaction_id = ordered.interaction_id
where list_contains($metric_names::varchar[], evaluations.metric_name)

-- query: count_tag_values
-- Tags with more values than this are no facet.
with entries as (
    select unnest(json_keys(tags)) as tag, tags
    from (select case when json_valid(tags) then tags end as tags from fct_interactions)
    where json_type(tags) = 'OBJECT'
)

select tag, count(distinct json_extract_string(tags, '$."' || tag || '"')) as count_values
from entries
where tag not in (select dimension from fct_marginal_weaknesses) and tag not like '%"%'
group by tag
having count_values <= $maximum
order by tag

-- query: list_rankings
-- Grades along the ranks, and how many relevant chunks were not retrieved. A chunk counts at its first rank.
with contexts as (
    select
        interaction_id,
        rank,
        case when row_number() over (partition by interaction_id, chunk_id order by rank) = 1 then grade end as grade
    from fct_retrieved_contexts
)

select
    interactions.interaction_id,
    coalesce(
        string_agg(coalesce(contexts.grade, 0)::integer, ',' order by contexts.rank)
            filter (where contexts.rank is not null),
        ''
    ) as grades,
    coalesce(any_value(len(interactions.missed_chunk_ids)), 0) as count_missed
from fct_interactions as interactions
left join contexts on interactions.interaction_id = contexts.interaction_id
where interactions.has_graded_retrieval
group by interactions.interaction_id

-- query: list_texts
select
    interactions.interaction_id,
    interactions.query_id,
    interactions.conversation_key,
    interactions.turn_index,
    interactions.asked_at,
    interactions.expected_behaviour,
    interactions.refusal_rule,
    verdicts.verdict_reason,
    texts.query_text,
    texts.answer,
    texts.reference_answer
from fct_interactions as interactions
left join fct_verdicts as verdicts on interactions.interaction_id = verdicts.interaction_id
inner join {texts} as texts on interactions.interaction_id = texts.interaction_id
where list_contains($interaction_ids::varchar[], interactions.interaction_id)

-- query: list_earlier_turns
select turns.interaction_id, earlier.turn_index, earlier.query_text, earlier.answer
from fct_interactions as turns
inner join (
    select interactions.conversation_key, interactions.turn_index, texts.query_text, texts.answer
    from fct_interactions as interactions
    inner join {texts} as texts on interactions.interaction_id = texts.interaction_id
) as earlier
    on turns.conversation_key = earlier.conversation_key and turns.turn_index > earlier.turn_index
where list_contains($interaction_ids::varchar[], turns.interaction_id)
qualify row_number() over (partition by turns.interaction_id order by earlier.turn_index desc) <= $maximum
order by turns.interaction_id, earlier.turn_index

-- query: list_contexts
-- text: the masked text, or the one that the application saw.
select
    contexts.interaction_id,
    contexts.rank,
    contexts.chunk_id,
    contexts.retrieval_score,
    coalesce(documents.title, contexts.document_id) as document,
    {text} as text,
    contexts.grade,
    list_contains(queries.source_chunk_ids, contexts.chunk_id) as is_source
from fct_retrieved_contexts as contexts
inner join fct_interactions as interactions on contexts.interaction_id = interactions.interaction_id
left join dim_documents as documents on contexts.document_id = documents.document_id
left join dim_queries as queries on interactions.query_id = queries.query_id
{joins}
where list_contains($interaction_ids::varchar[], contexts.interaction_id)
order by contexts.interaction_id, contexts.rank, contexts.chunk_id

-- query: list_missed
-- Relevant chunks that the application did not retrieve, the most relevant first.
with missed as (
    select
        interaction_id,
        query_id,
        unnest(missed_chunk_ids) as chunk_id,
        unnest(missed_chunk_grades) as grade
    from fct_interactions
    where list_contains($interaction_ids::varchar[], interaction_id)
)

select
    missed.interaction_id,
    missed.chunk_id,
    missed.grade,
    coalesce(chunks.title, chunks.document_id) as document,
    {text} as text,
    list_contains(queries.source_chunk_ids, missed.chunk_id) as is_source
from missed
inner join dim_chunks as chunks on missed.chunk_id = chunks.chunk_id
left join dim_queries as queries on missed.query_id = queries.query_id
{joins}
order by missed.interaction_id, missed.grade desc, missed.chunk_id

-- query: list_sentences
select
    evidence.interaction_id,
    evidence.sentence_index,
    evidence.sentence_text,
    evidence.evidence_text,
    evidence.unsupported,
    evidence.contradicted,
    evidence.displaced,
    evidence.computed,
    evidence.fault_kind,
    evidence.evidence_chunk_id,
    evidence.evidence_rank,
    evidence.similarity,
    evidence.entailment_probability as entailment,
    evidence.contradiction_probability as contradiction,
    evidence.support_probability as support,
    coalesce(evidence.support_contributions, '') as signals,
    coalesce(evidence.is_least_grounded, false) as is_least_grounded,
    coalesce(evidence.claims_nothing, false) as claims_nothing,
    coalesce(evidence.is_contradicted, false) as is_contradicted,
    coalesce(evidence.is_flagged, false) as is_unsupported
from fct_sentence_evidence as evidence
where list_contains($interaction_ids::varchar[], evidence.interaction_id) and evidence.sentence_index < $maximum
order by evidence.interaction_id, evidence.sentence_index

-- query: list_ratings
-- Raters are numbered within an interaction: who they are is nothing that the page says.
select
    interaction_id,
    criterion,
    coalesce(rater_kind, 'unknown') as rater_kind,
    dense_rank() over (partition by interaction_id order by rater) as rater,
    coalesce(nullif(rating_pass, 0), 1) as reading,
    coalesce(sampling = 'chosen', false) as is_chosen,
    scale_point
from fct_ratings
where list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, criterion, 4, rating_pass

-- query: list_scales
select
    criterion,
    list(struct_pack(point := scale_point, label := scale_label, text := guideline_text) order by scale_point) as points
from rating_scales
group by criterion
order by criterion

-- query: list_labels
select interaction_id, metric_name, human_label, label_rater_kind
from fct_evaluations
where human_label is not null and list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, metric_name

-- query: list_details
select evaluations.interaction_id, evaluations.metric_name, evaluations.detail
from fct_evaluations as evaluations
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
where
    list_contains($interaction_ids::varchar[], evaluations.interaction_id)
    and metrics.is_primary
    and coalesce(evaluations.detail, '') <> ''
    and metrics.family <> 'groundedness'
order by evaluations.interaction_id, evaluations.metric_name

-- query: list_causes
select interaction_id, metric_name, fault, reason
from fct_failure_causes
where list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, metric_name

-- query: list_flags
select interaction_id, flag_name as flag, subject, evidence
from fct_query_flags
where list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, flag_name, subject

-- query: list_private_values
select interaction_id, entity_type as type, exposure, masked, is_leak
from fct_privacy_findings
where list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, privacy_finding_id

-- query: list_finding_cells
-- columns of these lists are named as in the page
select
    finding_id, strftime(first_seen_at, '%Y-%m-%d') as "firstSeen", strftime(last_seen_at, '%Y-%m-%d') as "lastSeen",
    strftime(confirmed_at, '%Y-%m-%d') as confirmed, strftime(retested_at, '%Y-%m-%d') as retested,
    strftime(closed_at, '%Y-%m-%d') as closed, count_runs_seen as "countRuns", count_new_interactions as "countNew",
    new_difference as "newDifference", retest_difference as "retestDifference", retest_lower as "retestLow",
    retest_upper as "retestHigh", example_interaction_ids
from fct_findings

-- query: list_cells
-- One number: a cell of verdicts has the failure rate that gates and report state, of the candidate in its release
-- population, where the build has that row. Without a version in the cell, the candidate must be the only one.
with candidates as (
    select distinct system, population
    from fct_interactions
    where is_in_release_population
),

rates as (
    select rates.*
    from fct_failure_rates as rates
    inner join candidates on rates.system = candidates.system and rates.population = candidates.population
    where rates.criterion = 'verdict' and rates.failure_rate is not null
),

placed as (
    select rates.*, dimension as first_dimension, segment as first_segment, '' as second_dimension, '' as second_segment
    from rates
    where dimension = 'system' or (select count(*) from candidates) = 1
    union all
    select rates.*, dimension, segment, 'system', system
    from rates
    union all
    select rates.*, 'system', system, dimension, segment
    from rates
),

measured as (
    select
        marginal_weakness_id as cell_id, metric_name, dimension as first_dimension, segment as first_segment,
        null as second_dimension, null as second_segment, count_interactions, count_scored, count_clusters,
        share_failing, share_failing_lower, share_failing_upper, mean_score, mean_score_lower, mean_score_upper,
        difference_lower, difference_upper, measurement, value, is_small, is_weak
    from fct_marginal_weaknesses
    union all
    select
        bivariate_weakness_id, metric_name, first_dimension, first_segment, second_dimension, second_segment,
        count_interactions, count_scored, count_clusters, share_failing, share_failing_lower, share_failing_upper,
        mean_score, mean_score_lower, mean_score_upper, difference_lower, difference_upper, measurement, value,
        is_small, is_weak
    from fct_bivariate_weaknesses
    where second_dimension not like '% x %'
),

cells as (
    select
        measured.* replace (
            if(placed.criterion is null, measured.count_scored, placed.count_judged) as count_scored,
            if(placed.criterion is null, measured.share_failing, placed.failure_rate) as share_failing,
            if(placed.criterion is null, measured.share_failing_lower, placed.failure_rate_lower)
                as share_failing_lower,
            if(placed.criterion is null, measured.share_failing_upper, placed.failure_rate_upper)
                as share_failing_upper,
            coalesce(measured.is_small, false) as is_small,
            coalesce(measured.is_weak, false) as is_weak
        )
    from measured
    left join placed
        on
            measured.metric_name = placed.criterion
            and measured.first_dimension = placed.first_dimension
            and measured.first_segment = placed.first_segment
            and coalesce(measured.second_dimension, '') = placed.second_dimension
            and coalesce(measured.second_segment, '') = placed.second_segment
)

select
    cells.*,
    -- as in the maps of the report: the tested difference decides, else the interval against the whole
    coalesce(
        case
            when cells.measurement = 'share_failing' and cells.difference_lower is not null
                then cells.difference_lower <= 0 and cells.difference_upper >= 0
            when cells.share_failing is not null
                then whole.share_failing between cells.share_failing_lower and cells.share_failing_upper
            else whole.mean_score between cells.mean_score_lower and cells.mean_score_upper
        end,
        true
    ) as is_unsure
from cells
inner join cells as whole on cells.metric_name = whole.metric_name and whole.first_dimension = 'all'
order by
    cells.metric_name, cells.first_dimension, cells.second_dimension nulls first, cells.first_segment,
    cells.second_segment

-- query: list_live
-- The candidates, each with the population that its release is decided on.
select system, max(population) filter (where is_in_release_population) as population
from fct_interactions
where version_role = 'candidate'
group by system
order by system

-- query: list_rates
-- The one rate of each criterion, which every page reads.
select criterion, system, population, dimension, segment, count_judged as count_interactions, failure_rate, failure_rate_lower,
    failure_rate_upper
from fct_failure_rates
where dimension in ('all', 'period') and failure_rate is not null
order by criterion, system, population, dimension, segment

-- query: list_costs
-- What the log says of speed and cost, in words.
select system || ', ' || replace(population, '_', ' ') || ': ' || replace(replace(measure, 'latency', 'seconds'), '_', ' ') || ' '
    || format('{:.4g}', median) || ' (median), ' || format('{:.4g}', p95) || ' (95 %) of '
    || (count_interactions - count_missing) || ' answers' as line
from fct_assistant_costs
where period = 'all' and median is not null and population <> 'variant'
order by system desc, population, measure

-- query: list_weeks
-- interactions without a time belong to no week
select metric_name, dimension, segment, strftime(week_start, '%Y-%m-%d') as week, week_status as status, count_scored,
    mean_score, mean_lower, mean_upper, share_failing, share_failing_lower, share_failing_upper
from fct_metric_weeks
where week_start is not null
order by metric_name, dimension, segment, week_start

-- query: list_alarms
select metric_name as metric, dimension, segment, test, detail, strftime(window_start, '%Y-%m-%d') as start,
    strftime(window_end, '%Y-%m-%d') as "end", window_weeks as weeks,
    strftime(reference_start, '%Y-%m-%d') as "referenceStart", strftime(reference_end, '%Y-%m-%d') as "referenceEnd",
    value_reference as reference, value_window as value, difference, difference_lower as low, difference_upper as high,
    band_lower as "bandLow", band_upper as "bandHigh", q_value as q, alarm_level as level,
    coalesce(is_drifting, false) as "isDrifting"
from fct_metric_drift
where status = 'tested'
order by "isDrifting" desc, q_value nulls last, metric_name, dimension, segment, test, window_weeks

-- query: list_comparisons
select application, baseline_version, candidate_version, metric_name as metric, measurement, verdict,
    count_pairs as "countPairs", count_clusters as "countClusters", baseline_value as before, candidate_value as after,
    difference, difference_lower as low, difference_upper as high, count_regressions as regressions,
    count_improvements as improvements
from fct_version_comparisons
where dimension = 'all' and is_latest
order by application, baseline_version, candidate_version, family <> 'headline', metric_name, measurement

-- query: list_versions
-- The pair that the build is about stands last, because the explorer opens the last one.
select coalesce(application, 'unnamed') as application, application_version as version
from fct_interactions
where application_version is not null
group by 1, 2
order by 1, bool_or(version_role = 'candidate'), bool_or(version_role = 'baseline'),
    min(asked_at) filter (where population <> 'variant'), regexp_extract_all(version, '[0-9]+')::double[], version
