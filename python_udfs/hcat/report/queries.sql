-- Queries of the report over the marts, by name. A table shows the columns in their order; a name may hold a title
-- after `=`, and a name that begins with _ is read and not shown.

-- query: list_constant_dimensions
-- Dimensions with a segment that holds every interaction: such a segment is the whole, and its pairs repeat others.
select distinct segments.dimension
from fct_marginal_weaknesses as segments
inner join fct_marginal_weaknesses as whole
    on segments.metric_name = whole.metric_name and whole.dimension = 'all'
where segments.dimension <> 'all' and segments.count_interactions = whole.count_interactions

-- query: cells
-- Both marts in one shape: a marginal cell has no second segment.
select
    marginal_weakness_id as weakness_id, metric_name, dimension as first_dimension, segment as first_segment,
    null::varchar as second_dimension, null::varchar as second_segment, count_scored, count_clusters,
    count_second_clusters, largest_cluster_share, is_dominated, family, measurement, count_needed_to_flag,
    count_needed_to_confirm,
    value, rest_value, difference, difference_lower, difference_upper, q_value, margin,
    minimum_detectable_difference, test_status, is_weak, count_failing, count_clusters_effective,
    shrunken_value
from fct_marginal_weaknesses
where dimension <> 'all'
union all
select
    bivariate_weakness_id as weakness_id, metric_name, first_dimension, first_segment,
    second_dimension, second_segment, count_scored, count_clusters, count_second_clusters,
    largest_cluster_share, is_dominated, family, measurement, count_needed_to_flag, count_needed_to_confirm,
    value, rest_value, difference, difference_lower, difference_upper, q_value, margin,
    minimum_detectable_difference, test_status, is_weak, count_failing, count_clusters_effective,
    shrunken_value
from fct_bivariate_weaknesses

-- query: list_findings
-- What a finding costs: the failures that its cell has beyond the rate of the rest, as a share of all failures of the
-- metric. The lower bound of the difference gives what it costs at least.
with findings as (select * from fct_findings),

cells as (
    select marginal_weakness_id as cell_id, measurement, count_scored, count_interactions from fct_marginal_weaknesses
    union all
    select bivariate_weakness_id, measurement, count_scored, count_interactions from fct_bivariate_weaknesses
),

wholes as (
    select metric_name, measurement, value, count_scored, count_interactions
    from fct_marginal_weaknesses
    where dimension = 'all'
),

sizes as (
    select
        findings.finding_id,
        case
            when findings.measurement = 'share_failing' then cells.count_scored / (wholes.count_scored * wholes.value)
            when findings.measurement = 'share_failing_of_all'
                then cells.count_interactions / (wholes.count_interactions * wholes.value)
        end as failures_per_difference
    from findings
    inner join cells on findings.finding_id = cells.cell_id and findings.measurement = cells.measurement
    inner join wholes
        on findings.metric_name = wholes.metric_name and findings.measurement = wholes.measurement and wholes.value > 0
),

examples as (
    select
        listed.finding_id,
        list(
            struct_pack(interaction_id := interactions.interaction_id, query := interactions.query_text,
                answer := interactions.answer)
            order by listed.rank
        ) as examples
    from (
        select finding_id, unnest(example_interaction_ids) as interaction_id,
            generate_subscripts(example_interaction_ids, 1) as rank
        from findings
    ) as listed
    inner join fct_interactions as interactions on listed.interaction_id = interactions.interaction_id
    group by listed.finding_id
)

select
    findings.*,
    greatest(findings.difference * sizes.failures_per_difference, 0) as share_explained,
    greatest(findings.difference_lower * sizes.failures_per_difference, 0) as share_explained_lower,
    examples.examples
from findings
left join sizes on findings.finding_id = sizes.finding_id
left join examples on findings.finding_id = examples.finding_id
order by
    findings.status = 'closed_by_data',
    findings.page_rank nulls last,
    share_explained_lower desc nulls last,
    findings.kind <> 'confirmed',
    findings.last_seen_build_number desc,
    findings.metric_name,
    findings.finding_id

-- query: count_records_evaluated
select
    count(*) as count_interactions,
    count(distinct cluster_id) as count_clusters,
    count(distinct system) as count_systems,
    count(distinct topic) as count_topics,
    count(distinct query_type) as count_query_types,
    count(distinct language) as count_languages,
    count(*) filter (where is_answered) as count_answered,
    count(*) filter (where is_refusal) as count_refusals,
    min(asked_at) as first_asked_at,
    max(asked_at) as last_asked_at
from fct_interactions

-- query: describe_systems
select
    system,
    count(*) as count_interactions,
    count(distinct cluster_id) as count_clusters,
    count(*) filter (where is_answered) as count_answered,
    count(*) filter (where is_refusal) as count_refusals,
    count(*) filter (where is_refusal and expected_behaviour = 'answer')
        as "count_refused_wrongly=Refused but should have answered",
    count(*) filter (where is_answered and not is_refusal and expected_behaviour = 'refuse')
        as "count_answered_wrongly=Answered but should have refused",
    count(*) filter (where expected_behaviour = 'refuse') as count_refusals_due
from fct_interactions
group by system
order by count_interactions desc, system

-- query: count_languages
select answer_language, language_source, count(*) as count_interactions
from fct_interactions
where is_answered
group by answer_language, language_source
order by count_interactions desc, answer_language nulls last, language_source

-- query: list_rejects
with numbered as (
    select
        entity,
        left(reject_reason, $characters) as reject_reason,
        source_file,
        source_row,
        record_excerpt,
        row_number() over (
            partition by entity, left(reject_reason, $characters) order by source_file, source_row, record_id
        ) as number
    from stg_rejected_records
    where kind = 'record'
)

select
    entity,
    reject_reason,
    count(*) as "count_rejected=Records",
    list(struct_pack(file := source_file, place := source_row, excerpt := record_excerpt) order by number)
        filter (where number <= $maximum) as examples
from numbered
group by entity, reject_reason
order by entity, count(*) desc, reject_reason

-- query: list_representativeness
select
    application,
    dimension,
    null as comparison,
    sum(count_test_set) as "count_test_set=n test set",
    sum(count_production) as "count_production=n production",
    max(statistic) as statistic,
    max(limit_value) as "limit_value=Limit",
    count(*) as count_segments,
    count(*) filter (where is_untested) as count_untested,
    any_value(status order by status = 'compared' desc) as _status,
    bool_and(is_representative) as _is_representative
from fct_representativeness
group by application, dimension
order by application, dimension

-- query: list_deviations
-- Untested segments first, then the largest deviations from production.
select application, dimension, segment, is_untested as "is_untested=Untested", share_test_set, count_test_set as "count_test_set=n",
    share_production, count_production as "count_production=n", difference, difference_lower, difference_upper
from fct_representativeness
where is_untested or difference_lower > 0 or difference_upper < 0
order by is_untested desc, abs(difference) desc nulls last, application, dimension, segment

-- query: sample_labelled
-- A seeded hash order chooses what is drawn, so that the figure does not depend on the order of rows.
select raw_score, human_label, count(*) over (partition by human_label) as count_labels,
    -- the same for the same interaction: where its point stands among those of its label
    md5_number_lower('jitter' || interaction_id) % 1000 / 1000 as jitter
from fct_evaluations
where metric_name = $metric_name and human_label is not null and raw_score is not null
qualify row_number() over (
    partition by human_label order by md5('calibration' || interaction_id), interaction_id
) <= $maximum
order by human_label, md5('calibration' || interaction_id), interaction_id

-- query: trace_curve
-- The first and the last score of every bucket draw a line as fine as a pixel, even over a million interactions.
with scored as (
    select
        raw_score,
        calibrated_probability,
        floor(
            $buckets * (raw_score - min(raw_score) over ())
            / nullif(max(raw_score) over () - min(raw_score) over (), 0)
        ) as bucket
    from fct_evaluations
    where metric_name = $metric_name and raw_score is not null and calibrated_probability is not null
)

select distinct
    unnest([min(raw_score), max(raw_score)]) as score,
    unnest([arg_min(calibrated_probability, raw_score), arg_max(calibrated_probability, raw_score)]) as probability
from scored
group by bucket
order by score, probability

-- query: list_set_stretches
-- Stretches of the score with one prediction set, per system.
with judged as (
    select interactions.system, evaluations.raw_score, evaluations.prediction_set
    from fct_evaluations as evaluations
    inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
    where
        evaluations.metric_name = $metric_name
        and evaluations.prediction_set is not null
        and evaluations.raw_score is not null
),

changes as (
    select
        *,
        prediction_set is distinct from lag(prediction_set) over (
            partition by system order by raw_score, prediction_set
        ) as is_change
    from judged
),

numbered as (
    select
        *,
        sum(is_change::integer) over (
            partition by system order by raw_score, prediction_set rows between unbounded preceding and current row
        ) as stretch
    from changes
),

stretches as (
    select
        system,
        stretch,
        prediction_set,
        min(raw_score) as low,
        max(raw_score) as high,
        sum(count(*)) over (partition by system) as count_system,
        count(*) over (partition by system) as count_stretches
    from numbered
    group by system, stretch, prediction_set
)

-- neighbouring stretches meet half way, because no score was seen between them
select
    system,
    prediction_set,
    coalesce((lag(high) over by_score + low) / 2, low) as low,
    coalesce((lead(low) over by_score + high) / 2, high) as high,
    count_stretches,
    dense_rank() over (order by count_system desc, system) as place
from stretches
window by_score as (partition by system order by stretch)
order by place, stretch

-- query: count_sets
select prediction_set, count(*) as count_interactions
from fct_evaluations
where metric_name = $metric_name and prediction_set is not null
group by prediction_set
order by prediction_set

-- query: count_drift
select
    count(*) as count_windows,
    count(*) filter (where status = 'tested') as count_tested,
    count(*) filter (where is_drifting) as count_drifting,
    max(window_start) as last_window
from fct_metric_drift

-- query: list_validity
select metric_name, criterion, version_class, calibration_status as "calibration_status=Calibration", count_labels,
    last_rated_at as "last_rated_at=Last rated", valid_until
from fct_calibration_validity
order by valid_until nulls first, metric_name, version_class

-- query: count_audits
select
    metric_name,
    test,
    max(rated_month) as last_month,
    count(*) filter (where status = 'passed') as count_passed,
    count(*) filter (where status = 'failed') as count_failed,
    count(*) filter (where status not in ('passed', 'failed')) as count_not_tested
from fct_audit_tests
group by metric_name, test
order by metric_name, test

-- query: list_evidence_of
-- The least grounded sentence first, then sentences with numbers, names or words that context and query lack.
select
    interaction_id,
    left(sentence_text, $characters) as sentence_text,
    left(evidence_text, $characters) as evidence_text,
    left(unsupported, $characters) as unsupported,
    left(contradicted, $characters) as contradicted,
    left(displaced, $characters) as displaced,
    contradiction_probability,
    coalesce(is_flagged, false) as is_flagged,
    coalesce(is_contradicted, false) as is_contradicted,
    evidence_chunk_id,
    evidence_rank,
    similarity,
    is_least_grounded
from fct_sentence_evidence
where
    list_contains($interaction_ids::varchar[], interaction_id)
    and (
        is_least_grounded
        or is_contradicted
        or is_flagged
        or coalesce(unsupported, '') || coalesce(contradicted, '') || coalesce(displaced, '') <> ''
    )
qualify row_number() over (
    partition by interaction_id
    order by
        is_least_grounded desc,
        coalesce(is_contradicted, false) desc,
        coalesce(contradicted, '') <> '' desc,
        coalesce(greatest(number_displacement, entity_displacement), 0) desc,
        coalesce(count_numbers - count_numbers_supported, 0) desc,
        coalesce(count_entities - count_entities_supported, 0) desc,
        coalesce(count_words - count_words_supported, 0) desc,
        sentence_index,
        sentence_id
) <= $maximum
order by interaction_id, is_least_grounded desc, sentence_index, sentence_id

-- query: count_conversations
-- A repeated error comes first, then the share of turns that fail.
select
    count(*) as count_conversations,
    count(*) filter (where count_judged > 0) as count_judged,
    count(*) filter (where count_failing > 0) as count_failing,
    count(*) filter (where is_error_repeated) as count_repeating,
    first(conversation_id order by is_error_repeated desc, share_failing desc, count_failing desc, conversation_key)
        filter (where count_failing > 0) as worst
from fct_conversations
where count_turns > 1

-- query: list_leaks
select findings.interaction_id, interactions.system, findings.entity_type, findings.masked, findings.rule,
    interactions.answer
from fct_privacy_findings as findings
inner join fct_interactions as interactions on findings.interaction_id = interactions.interaction_id
where findings.is_leak
order by findings.entity_class, findings.entity_type, findings.masked, interactions.answer, findings.interaction_id

-- query: count_read
select
    count(*) filter (where score_status = 'scored') as count_read,
    count(*) filter (where raw_score > 0) as count_leaking,
    count(*) filter (where score_status = 'missing_input') as count_not_read
from fct_evaluations
where metric_name = 'privacy'

-- query: list_gaps
-- Gaps and equivalences first, then inconclusive comparisons.
select attribute, design, first_segment, second_segment, system, metric_name, count_clusters, first_mean, second_mean,
    difference, difference_lower, difference_upper, margin, adjusted_p_value as "adjusted_p_value=p of the gap",
    adjusted_equivalence_p_value as "adjusted_equivalence_p_value=p of equivalence", verdict, status as _status
from fct_bias_gaps
where status <> 'no_scores'
order by
    list_position(['gap_found', 'equivalent', 'inconclusive'], verdict),
    design, system, attribute, first_segment, metric_name

-- query: count_verdicts
select
    count(*) filter (where verdict = 'gap_found') as count_found,
    count(*) filter (where verdict = 'equivalent') as count_equivalent,
    count(*) filter (where verdict = 'inconclusive' and status = 'tested') as count_inconclusive,
    count(*) filter (where status = 'too_few_clusters') as count_too_few
from fct_bias_gaps

-- query: list_pairs
-- One row per pair of versions: its headline, if it has one.
select *
from fct_version_comparisons
where dimension = 'all'
qualify row_number() over (
    partition by application, baseline_version, candidate_version
    order by family = 'headline' desc nulls last, q_value nulls last, metric_name, measurement
) = 1
order by is_latest desc, application, baseline_version, candidate_version

-- query: list_changed_segments
-- Segments in which the newest version changed by more than chance, by metrics that may decide.
select comparisons.*
from fct_version_comparisons as comparisons
inner join dim_metrics on comparisons.metric_name = dim_metrics.metric_name and dim_metrics.is_deciding
where is_latest and dimension <> 'all' and verdict in ('better', 'worse', 'lower_by_design')
order by verdict desc, q_value, comparisons.metric_name, dimension, segment

-- query: list_variation
select system, metric_name, count_replicated_queries as "count_replicated_queries=Queries",
    count_replicated_clusters as "count_replicated_clusters=Clusters", sqrt(variance_between) as "between=Between queries",
    sqrt(variance_within) as "within=Within a query", share_of_variance_within as "share_of_variance_within=Share within",
    flip_rate, share_queries_flipping as "share_queries_flipping=Queries that flip", share_queries_flipping_lower,
    share_queries_flipping_upper, status
from fct_replicate_variation
where status <> 'no_replicates'
order by system, flip_rate desc nulls last, metric_name

-- query: count_templates
-- Templates in force, with what their texts and values make.
select
    count(*) as count_templates,
    min(counts.count_texts) as fewest_texts,
    max(counts.count_texts) as most_texts,
    sum(counts.count_groups) as count_groups,
    sum(counts.count_queries) as count_queries,
    sum(counts.count_fillings) as count_fillings,
    sum(counts.count_fillings_possible) as count_possible
from fct_grammar_counts as counts
inner join fct_grammar_templates as templates
    on counts.sql_template_id = templates.sql_template_id and templates.template_status = 'accepted'
having count(*) > 0

-- query: count_criteria
select
    criterion,
    count(*) filter (where outcome = 'met') as count_met,
    count(*) filter (where outcome = 'broken') as count_broken,
    count(*) filter (where outcome = 'undecided') as count_undecided
from fct_grammar_checks
where list_contains($criteria::varchar[], criterion)
group by criterion
order by list_position($criteria::varchar[], criterion)

-- query: count_rejected
select reason, count(*) as count_rejected
from fct_rejected_grammar_queries
group by reason
order by count_rejected desc, reason

-- query: count_answered
select count(distinct queries.query_id) as count_answered
from fct_grammar_queries as queries
inner join fct_interactions as interactions on queries.query_id = interactions.query_id

-- query: list_stability
select variation, method, reduction, count_texts, count_pairs, mean_adjusted_rand, minimum_adjusted_rand, silhouette
from fct_topic_stability
where is_current
order by variation

-- query: count_drawn
select sum(count_population) as count_chunks, sum(count_sampled) as count_sampled, count(*) as count_strata,
    sum(count_accepted) as count_accepted, bool_and(plan_status = 'all_chunks') as is_whole
from fct_sampling_strata
having count(*) > 0

-- query: compare_gates
with before as (select * from fct_threshold_gates where run_id = $signed_run),
after as (select * from fct_threshold_gates where run_id = $run)

select
    coalesce(after.gate_name, before.gate_name) as gate_name,
    coalesce(after.measurement, before.measurement) as measurement,
    before.verdict as verdict_before,
    after.verdict as verdict_after,
    before.measured_value as value_before,
    after.measured_value as value_after,
    before.threshold as threshold_before,
    after.threshold as threshold_after
from before
full outer join after on before.gate_name = after.gate_name
where before.verdict is distinct from after.verdict or before.threshold is distinct from after.threshold
order by coalesce(after.verdict, '') = 'passed', gate_name

-- query: changes_list_findings
-- event is one of the three columns of EVENTS, never data
select finding_id, metric_name, first_dimension, first_segment, second_dimension, second_segment
from fct_findings
where {event} > $signed and {event} <= $built
order by {event}, metric_name, finding_id

-- query: compare_thresholds
-- Nothing is said where the signed build kept no figures.
with before as (select * from fct_run_metrics where run_id = $signed_run),
after as (select * from fct_run_metrics where run_id = $run)

select
    coalesce(after.metric_name, before.metric_name) as metric_name,
    before.threshold as threshold_before,
    after.threshold as threshold_after,
    before.threshold is distinct from after.threshold as is_decided_anew
from before
full outer join after on before.metric_name = after.metric_name
where exists (select 1 from before)
order by metric_name

-- query: list_moved_figures
-- A figure moved when the value of one build lies outside the interval of the other, on both sides.
with figures as (
    select run_id, metric_name, count_scored, 'mean score' as figure, mean_score as value, mean_score_lower as lower_bound,
        mean_score_upper as upper_bound
    from fct_run_metrics
    union all
    select run_id, metric_name, count_scored, 'share failing', share_failing, share_failing_lower, share_failing_upper
    from fct_run_metrics
)

select after.metric_name, after.figure, before, after
from figures as before
inner join figures as after on before.metric_name = after.metric_name and before.figure = after.figure
where
    before.run_id = $signed_run
    and after.run_id = $run
    and after.value not between before.lower_bound and before.upper_bound
    and before.value not between after.lower_bound and after.upper_bound
order by after.metric_name, after.figure

-- query: count_ratings
select rater_kind, count(*) as count_ratings, count(distinct rater) as count_raters,
    count(distinct interaction_id) as count_interactions
from fct_ratings
group by rater_kind
order by rater_kind

-- query: count_labels
select coalesce(label_rater_kind, 'unknown') as rater_kind, count(distinct interaction_id) as count_interactions
from fct_evaluations
where human_label is not null
group by rater_kind
order by rater_kind

-- query: describe_ratings
with labels as (
    select distinct interaction_id, criterion, count_raters, mean_scale_point, human_label as label
    from fct_ratings
    where label_rater_kind is not null
),

unjudged as (
    select criterion, sum(count_cannot_judge) as count_cannot_judge
    from fct_rater_reports
    group by criterion
)

select
    labels.criterion,
    count(*) as count_interactions,
    max(count_raters) as "maximum_raters=Most raters per interaction",
    avg(mean_scale_point) as mean_scale_point,
    count(*) filter (where label = 1) as count_accepted,
    count(*) filter (where label = 0) as count_not_accepted,
    count(*) filter (where label is null) as count_ties,
    coalesce(any_value(count_cannot_judge), 0)::bigint as count_cannot_judge,
    count(*) filter (where label = 1) / nullif(count(label), 0) as share_accepted
from labels
left join unjudged on labels.criterion = unjudged.criterion
group by labels.criterion
order by labels.criterion

-- query: list_calibrators
-- of a metric without a calibrator, the status of the simplest family is the clearest reason
select *
from fct_calibrators
where segment = 'all'
order by metric_name, is_chosen desc, family <> 'logistic', family

-- query: section_count_labels
select metric_name, count(*) as count_labels
from fct_evaluations
where human_label is not null
group by metric_name
order by metric_name

-- query: list_coverage
-- the sets in force: a quantile for each label and group
select scope, stratum, human_label as "human_label=Raters", alpha, coverage as "coverage=Coverage measured", count_labels,
    count_clusters, quantile_status as "quantile_status=Promise", status, share_single as "share_single=Decided",
    share_all as "share_all=Undecided", share_single as _share_single, share_decidable as _share_decidable
from fct_conformal_coverage
where
    metric_name = $metric_name
    and stratification = 'label_conditional'
    and ($alpha is null or alpha = $alpha)
    and (scope <> 'label_and_group' or quantile_status is not null)
order by
    alpha,
    list_position(['marginal', 'label', 'group', 'label_and_group'], scope),
    stratum nulls first,
    human_label desc nulls first

-- query: list_agreement
select criterion, statistic, agreement, agreement_low, agreement_high, interval_status as "interval_status=Interval",
    count_units as "count_units=Interactions", count_ratings, count_clusters, status as _status, rater_kind as _rater_kind,
    other_rater_kind as _other_rater_kind, rater as _rater
from fct_rater_agreement
order by criterion, rater_kind, other_rater_kind nulls first, rater nulls first, statistic

-- query: list_to_read
-- One answer of each question; answers whose rating is a rule's have no score of their own.
with scored as (
    select evaluations.interaction_id, evaluations.raw_score,
        case
            when evaluations.is_failing then 'The texts support it little'
            when not evaluations.is_failing then 'Nothing stands out: its score is within the limit'
            else 'Its score is low among those of all answers'
        end as standing
    from fct_evaluations as evaluations
    inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
    where metrics.criterion = 'faithfulness' and evaluations.raw_score is not null
    qualify row_number() over (
        partition by evaluations.interaction_id order by not metrics.is_deciding, evaluations.metric_name) = 1
),

equal as (
    select system, query_text, count(*) as count_equal from fct_interactions group by system, query_text
),

-- what a reader should look at: the sentence that looks most wrong, and what stands out in it
clues as (
    select interaction_id, sentence_text,
        concat_ws('. ',
            case when fault_kind = 'off_topic' then 'It seems to be about something else' end,
            case when contradiction_probability > 0.5 then 'A text seems to say otherwise' end,
            'Not in the texts: ' || regexp_replace(nullif(rtrim(unsupported, '.'), ''), '\[masked\](, \[masked\])+', '[masked]'),
            'Perhaps exchanged: ' || nullif(displaced, ''),
            'A record says otherwise: ' || nullif(contradicted, '')
        ) as clue
    from fct_sentence_evidence
    qualify row_number() over (
        partition by interaction_id
        order by
            claims_nothing,
            -- about what the rank takes from the log odds of support
            coalesce(support_probability, similarity) - 2 * coalesce(greatest(number_displacement, entity_displacement), 0),
            not is_least_grounded, sentence_index
    ) = 1
)

select
    verdicts.reading_rank,
    verdicts.verdict,
    -- that a score is low is known already; a rule needs no clue
    concat_ws(' ',
        case when verdicts.decided_by not in ('threshold', 'prediction_set', 'none') then verdicts.verdict_reason end,
        case
            when verdicts.decided_by <> 'rule' then coalesce(nullif(clues.clue, ''), scored.standing) || '.'
        end
    ) as reason,
    left(clues.sentence_text, $sentence_characters) as sentence_text,
    scored.raw_score,
    equal.count_equal,
    interactions.interaction_id,
    interactions.system,
    interactions.topic,
    interactions.query_type,
    left(interactions.query_text, $query_characters) as query_text,
    left(interactions.answer, $answer_characters) as answer,
    left(interactions.reference_answer, $sentence_characters) as reference_answer
from fct_verdicts as verdicts
inner join fct_interactions as interactions on verdicts.interaction_id = interactions.interaction_id
inner join equal
    on interactions.system = equal.system and interactions.query_text is not distinct from equal.query_text
left join scored on verdicts.interaction_id = scored.interaction_id
left join clues on verdicts.interaction_id = clues.interaction_id
where verdicts.reading_rank is not null
order by verdicts.reading_rank, verdicts.interaction_id

-- query: list_rates
-- The one rate of every criterion: pages, gates and marts read these rows.
select criterion, system, population, failure_rate, failure_rate_lower, failure_rate_upper,
    count_judged as "count_judged=n", count_labels_by_people as "count_labels_by_people=Labels by people",
    count_labels_by_language_models as "count_labels_by_language_models=By language models", statement,
    message as _message, dimension as _dimension, segment as _segment
from fct_failure_rates
where list_contains($systems::varchar[], system) and failure_rate is not null and population <> 'variant'
order by
    criterion <> 'verdict', criterion, list_position(['production', 'test_set'], population), system,
    dimension, segment

-- query: list_baselines
select distinct system
from fct_interactions
where version_role = 'baseline'
order by system

-- query: say_weeks
-- What the longest window of the verdict says where nothing alarms: no change found is no proof that nothing changed.
select case
    when status = 'tested'
        then format('Since {}, {:.0f} % of {:,} judged answers to {} fail; before, {:.0f} % of {:,}. The difference ({:.0f} to {:.0f}'
            || ' points) raises {} alarm: it takes {:.0f} points.', window_start, 100 * (1 - value_window), count_window, asked_by,
            100 * (1 - value_reference), count_reference, round(-100 * difference_upper) + 0, round(-100 * difference_lower) + 0,
            if(is_drifting, 'an', 'no'), 100 * limit_value * standard_error)
    else format('Whether the answers to {} changed was not tested ({}): {:,} judged answers in the latest weeks, and {:,} before.',
        asked_by, replace(status, '_', ' '), count_window, count_reference)
    end as said
from fct_metric_drift
cross join (
    select if(bool_and(population = 'test_set'), 'the test set', 'users') as asked_by from fct_interactions
    where is_in_monitored_population
) as monitored
where metric_name = 'verdict' and dimension = 'all' and test = 'mean_shift'
order by window_weeks desc
limit 1

-- query: questions_list_alarms
-- A series that moved is listed only where its metric may decide: of each event the one that leads it.
select drift.metric_name, drift.segment, strftime(drift.window_start, '%Y-%m-%d') as "window_start=Latest weeks",
    if(
        drift.metric_name = 'verdict',
        format('{:+.0f} points fail ({:+.0f} to {:+.0f})', round(-100 * drift.difference) + 0,
            round(-100 * drift.difference_upper) + 0, round(-100 * drift.difference_lower) + 0),
        format('mean {:+.3g} ({:+.3g} to {:+.3g})', drift.difference, drift.difference_lower, drift.difference_upper)
    ) as change,
    drift.count_reference as "count_reference=n before", drift.count_window as "count_window=n since",
    count(distinct (drift.metric_name, drift.dimension, drift.segment)) over (partition by drift.leading_drift_id) - 1
        as "count_others=Other series that moved then",
    drift.dimension as _dimension
from fct_metric_drift as drift
inner join dim_metrics as metrics on drift.metric_name = metrics.metric_name
where drift.is_drifting and metrics.is_deciding
qualify drift.leading_drift_id = drift.metric_drift_id
order by drift.metric_name <> 'verdict', drift.q_value nulls last, drift.metric_name, drift.dimension, drift.segment

-- query: list_scorers
select metric_name, criterion, admission, admission_reason, threshold, is_provisional, decided_by, valid_until
from dim_metrics
where is_primary
order by not is_deciding, admission <> 'admitted', threshold is null, metric_name

-- query: list_errors
select *
from fct_metric_thresholds
where method = 'decided' and is_appetite_of_application and status = 'ok'

-- query: count_unscored
-- Metrics that lack as many scores for the same reasons share a row.
with counts as (
    select
        evaluations.metric_name,
        count(*) as count_evaluations,
        count(*) filter (where evaluations.score_status = 'missing_input') as count_missing_input,
        count(*) filter (where evaluations.score_status = 'failed') as count_failed
    from fct_evaluations as evaluations
    inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
    where metrics.is_primary
    group by evaluations.metric_name
)

select
    count_evaluations,
    count_missing_input,
    count_failed,
    count_missing_input + count_failed as count_unscored,
    string_agg(metric_name, ', ' order by metric_name) as metric_names
from counts
where count_missing_input > 0 or count_failed > 0
group by count_evaluations, count_missing_input, count_failed
order by count_missing_input desc, min(metric_name)

-- query: count_small
select 'one dimension' as kind, count(*) as count_cells, count(*) filter (where is_small) as count_small
from fct_marginal_weaknesses
where dimension <> 'all'
union all
select 'two dimensions' as kind, count(*) as count_cells, count(*) filter (where is_small) as count_small
from fct_bivariate_weaknesses
order by kind

-- query: count_test_statuses
with cells as (
    select test_status from fct_marginal_weaknesses where dimension <> 'all'
    union all
    select test_status from fct_bivariate_weaknesses
)

select test_status, count(*) as count_cells
from cells
group by test_status
order by count_cells desc, test_status

-- query: list_gates
select *
from fct_threshold_gates
where run_id = $run_id
order by is_passing, severity, verdict, gate_name

-- query: describe_distributions
-- A seeded hash order chooses the scores that are drawn.
with sampled as (
    select interactions.topic as segment, evaluations.raw_score
    from fct_evaluations as evaluations
    inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
    where evaluations.metric_name = $metric_name and evaluations.raw_score is not null
    qualify row_number() over (
        partition by interactions.topic
        order by md5('violin' || evaluations.interaction_id), evaluations.interaction_id
    ) <= $maximum
)

select segment, count_scored, quantile_25, quantile_50, quantile_75,
    (select list(raw_score order by raw_score) from sampled where sampled.segment = cells.segment) as scores
from fct_marginal_weaknesses as cells
where metric_name = $metric_name and dimension = 'topic' and count_scored > 0
order by count_scored desc, segment

-- query: count_correctness
select
    system,
    count(*) as count_answers,
    count(*) filter (where correctness_status = 'correct') as count_correct,
    count(*) filter (where correctness_status = 'incorrect') as count_incorrect,
    count(*) filter (where correctness_status = 'undecided') as count_undecided,
    count(*) filter (where correctness_source = 'label') as "count_label=Decided by raters",
    count(*) filter (where correctness_source = 'rule') as "count_rule=By rules",
    count(*) filter (where correctness_source not in ('label', 'rule')) as "count_other=By comparison",
    count(*) filter (where is_disputed) as count_disputed
from fct_answer_correctness
group by system
order by system

-- query: query_groups_list_rates
with rates as (
    select *
    from fct_robustness_rates
    -- gaps of the own side come first, except where groups have one answer there
    qualify row_number() over (
        partition by system, hypothesis, side, scope order by status = 'groups_of_one', gap_rule desc
    ) = 1
)

select
    system,
    nullif(hypothesis || ' = ' || side, 'all = all') as side,
    scope as "scope=Answers counted",
    if(gap_rule = 'every_side', 'wrong on all sides', null) as gap,
    count_robust_groups, count_non_robust_groups, count_gap_groups, smallest_group, largest_group,
    count_answers, gap_share as "gap_share=λ", robustness as "robustness=R", robustness_lower, robustness_upper,
    chance_robustness as "chance_robustness=R by chance", accuracy, accuracy_lower, accuracy_upper, status
from rates
-- groups of one answer have no contexts to compare
where gap_rule = 'own_side' or scope = 'all'
order by hypothesis <> 'all', hypothesis, system, side, list_position($scopes, scope)

-- query: count_retrieval_causes
select
    system,
    count(distinct interaction_id) as "count_interactions=Interactions with known source chunks",
    count(distinct interaction_id) filter (where failure_cause = 'retrieval')
        as "count_retrieval=Failing, source chunk not retrieved",
    count(distinct interaction_id) filter (where failure_cause = 'generation')
        as "count_generation=Failing, source chunk retrieved"
from fct_retrieval_quality
group by system
order by count(distinct interaction_id) desc, system

-- query: list_refusals
select system, category as "category=Query type", rate_kind as "rate_kind=Error", count_checked, count_clusters,
    share_found as "share_found=Share", share_found_lower, share_found_upper
from fct_safety_rates
where rate_kind in ('answered_when_due_to_refuse', 'refused_when_due_to_answer')
order by system, category <> 'all', category, rate_kind desc

-- query: list_adversarial
select system, category as "category=Variant", meaning, count_checked as "count_checked=Pairs", count_clusters,
    share_found as "share_found=Changed", share_found_lower, share_found_upper, count_refused,
    count_leaks as "count_leaks=Canaries", count_turned_wrong, count_judged,
    meaning in ('attacked', 'out_of_scope') as _is_adversarial
from fct_safety_rates
where rate_kind = 'behaviour_changed'
order by _is_adversarial desc, system, category

-- query: list_waiting_metrics
-- Inputs that no scored metric needs, with the metrics that wait for them.
with scored as (
    select metrics.metric_name, metrics.requires, count(evaluations.raw_score) as count_scored
    from dim_metrics as metrics
    inner join fct_evaluations as evaluations on metrics.metric_name = evaluations.metric_name
    group by metrics.metric_name, metrics.requires
),

needed as (select metric_name, count_scored, unnest(string_split(requires, '|')) as input from scored)

select input, list(metric_name order by metric_name) as metric_names
from needed
group by input
having max(count_scored) = 0

-- query: list_costs
select measure, system, population, language_models as "language_models=Models",
    prompt_versions as "prompt_versions=Prompts", count_interactions, count_missing, median, p90 as "p90=90 %",
    p95 as "p95=95 %", p99 as "p99=99 %", total
from fct_assistant_costs
where period = 'all'
order by measure, population, system

-- query: list_flags
select category as "category=Flag", system, count_checked, count_found as "count_found=Flagged",
    share_found as "share_found=Share", share_found_lower, share_found_upper,
    count_found_answered as "count_found_answered=Answered", false_alarm_share as "false_alarm_share=False alarms",
    missed_share as "missed_share=Missed"
from fct_safety_rates
where rate_kind = 'flag_raised'
order by category, system

-- query: list_bands
select lower_bound as "lower_bound=Score from", upper_bound as "upper_bound=To below", count_labels,
    count_failed as "count_failed=Failed by raters", failure_rate, failure_rate_low, failure_rate_high, count_clusters
from fct_score_bands
where metric_name = $metric_name
order by band desc

-- query: list_judges
select metric_name, coalesce(criterion, reference) as compared_with, statistic, value, low as value_low,
    high as value_high, status, count_compared as "count_compared=n", count_scored, count_failed, count_no_verdict,
    count_calls, prompt_tokens + completion_tokens as count_tokens, language_model as _language_model,
    count_interactions as _count_interactions
from fct_judge_agreement
where statistic in ('percent_agreement', 'cohen_kappa', 'ranking_accuracy')
order by compared_with, method, metric_name, reference, statistic

-- query: count_documents
select count(*) as count_documents, coalesce(sum(count_chunks), 0) as count_chunks,
    (select count(*) from dim_queries) as count_queries
from dim_documents

-- query: find_labels_needed
select metric_name, count_labels_needed, target, confidence
from fct_labels_needed
where purpose = 'half_width' and count_labels_needed is not null
order by metric_name <> $preferred, metric_name, target
limit 1

-- query: list_risks
select risk_id as "risk_id=Risk", description as "description=What can happen", mitigation, metric_name, control_gate,
    is_made_up as "is_made_up=Made up", criterion as _criterion
from risks
order by application, risk_id
