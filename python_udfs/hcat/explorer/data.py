"""What the explorer reads of a build: every statement, and the names of tables and columns, stand in this module alone.

Two kinds of data leave it. Columns of NumPy hold one value per interaction, worst interaction first: scores, statuses,
segments. Rows of dictionaries hold what is read when somebody opens an interaction: texts, sentences, chunks, ratings.
Texts are the masked ones, unless the caller asks for the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse, WarehouseError
from hcat.report.data import SCORE_STATUSES
from hcat.review.texts import LOGGED_CONTEXTS, LOGGED_INTERACTIONS, LOGGED_TABLES

#: Words that the page writes as numbers, as those of SCORE_STATUSES: their place in the list is the number.
OUTCOMES: Final = ("answered", "refused", "empty")
VERDICTS: Final = ("acceptable", "failing", "undecided", "not judged")
LABELS: Final = ("accepted", "failed", "not rated")
#: What stands between several flags or tags of an interaction.
SEPARATOR: Final = "\x1f"

# Worst first: failing by verdict, then undecided, then the lower score. The id makes the order whole.
ORDER_INTERACTIONS: Final = """
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
"""

#: {dimensions}: one expression per dimension, of :func:`_express_dimension`; the names come from marts of the build.
LIST_INTERACTIONS: Final = (
    ORDER_INTERACTIONS
    + """,

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
            'text_' || md5(lower(regexp_replace(trim(interactions.query_text), '\\s+', ' ', 'g')))
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
"""
)

LIST_DIMENSIONS: Final = """
select distinct dimension from fct_marginal_weaknesses where dimension <> 'all' order by dimension
"""

#: A mask may have broken the JSON of a record: then it has no tags.
_TAGS: Final = "case when json_valid(interactions.tags) then interactions.tags end"

#: Tags with more values than this are no facet.
COUNT_TAG_VALUES: Final = """
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
"""

LIST_SCORES: Final = (
    ORDER_INTERACTIONS
    + """,

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
"""
)

# Grades along the ranks, and how many relevant chunks were not retrieved. A chunk counts at its first rank.
LIST_RANKINGS: Final = """
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
"""
RANKING_TABLES: Final = ("fct_interactions.missed_chunk_ids", "fct_retrieved_contexts")

LIST_TEXTS: Final = """
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
"""

LIST_EARLIER_TURNS: Final = """
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
"""

#: {text}: the masked text, or the one that the application saw.
LIST_CONTEXTS: Final = """
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
"""
_LOGGED_CONTEXTS: Final = f"""left join {LOGGED_CONTEXTS} as logged
    on contexts.interaction_id = logged.interaction_id and contexts.rank = logged.rank"""
_LOGGED_CHUNKS: Final = """left join base_chunks as logged
    on missed.chunk_id = logged.chunk_id and logged.record_status = 'staged'"""
# Relevant chunks that the application did not retrieve, the most relevant first.
LIST_MISSED: Final = """
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
"""

LIST_SENTENCES: Final = """
select
    evidence.interaction_id,
    evidence.sentence_index,
    evidence.sentence_text,
    evidence.evidence_text,
    case when evidence.is_contradicted then evidence.contradicting_text end as contradicting_text,
    evidence.unsupported,
    evidence.contradicted,
    evidence.displaced,
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
"""
# Raters are numbered within an interaction: who they are is nothing that the page says.
LIST_RATINGS: Final = """
select
    interaction_id,
    criterion,
    coalesce(rater_kind, 'unknown') as rater_kind,
    dense_rank() over (partition by interaction_id order by rater) as rater,
    coalesce(nullif(rating_pass, 0), 1) as reading,
    scale_point
from fct_ratings
where list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, criterion, 4, rating_pass
"""

LIST_SCALES: Final = """
select criterion, scale_point as point, scale_label as label, guideline_text as text
from rating_scales
order by criterion, scale_point
"""

LIST_LABELS: Final = """
select interaction_id, metric_name, human_label, label_rater_kind
from fct_evaluations
where human_label is not null and list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, metric_name
"""

LIST_DETAILS: Final = """
select evaluations.interaction_id, evaluations.metric_name, evaluations.detail
from fct_evaluations as evaluations
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
where
    list_contains($interaction_ids::varchar[], evaluations.interaction_id)
    and metrics.is_primary
    and coalesce(evaluations.detail, '') <> ''
    and metrics.family <> 'groundedness'
order by evaluations.interaction_id, evaluations.metric_name
"""

LIST_CAUSES: Final = """
select interaction_id, metric_name, fault, reason
from fct_failure_causes
where list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, metric_name
"""

LIST_FLAGS: Final = """
select interaction_id, flag_name as flag, subject, evidence
from fct_query_flags
where list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, flag_name, subject
"""

LIST_PRIVATE_VALUES: Final = """
select interaction_id, entity_type as type, exposure, masked, is_leak
from fct_privacy_findings
where list_contains($interaction_ids::varchar[], interaction_id)
order by interaction_id, privacy_finding_id
"""

_CELL_COLUMNS: Final = """
    cells.count_interactions,
    cells.count_scored,
    cells.count_clusters,
    cells.share_failing,
    cells.share_failing_lower,
    cells.share_failing_upper,
    cells.mean_score,
    cells.mean_score_lower,
    cells.mean_score_upper,
    cells.measurement,
    cells.value,
    coalesce(cells.is_small, false) as is_small,
    coalesce(cells.is_weak, false) as is_weak,
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
"""

LIST_CELLS: Final = f"""
with whole as (select * from fct_marginal_weaknesses where dimension = 'all')

select
    cells.marginal_weakness_id as cell_id,
    cells.metric_name,
    cells.dimension as first_dimension,
    cells.segment as first_segment,
    null as second_dimension,
    null as second_segment,
    {_CELL_COLUMNS}
from fct_marginal_weaknesses as cells
inner join whole on cells.metric_name = whole.metric_name
union all
select
    cells.bivariate_weakness_id as cell_id,
    cells.metric_name,
    cells.first_dimension,
    cells.first_segment,
    cells.second_dimension,
    cells.second_segment,
    {_CELL_COLUMNS}
from fct_bivariate_weaknesses as cells
inner join whole on cells.metric_name = whole.metric_name
where cells.second_dimension not like '% x %'
order by metric_name, first_dimension, second_dimension nulls first, first_segment, second_segment
"""

# columns of these lists are named as in the page
LIST_FINDING_CELLS: Final = """
select
    finding_id, strftime(first_seen_at, '%Y-%m-%d') as "firstSeen", strftime(last_seen_at, '%Y-%m-%d') as "lastSeen",
    strftime(confirmed_at, '%Y-%m-%d') as confirmed, strftime(retested_at, '%Y-%m-%d') as retested,
    strftime(closed_at, '%Y-%m-%d') as closed, count_runs_seen as "countRuns", count_new_interactions as "countNew",
    new_difference as "newDifference", retest_difference as "retestDifference", retest_lower as "retestLow",
    retest_upper as "retestHigh"
from fct_findings
"""

LIST_FINDING_EXAMPLES: Final = """
select finding_id, unnest(example_interaction_ids) as interaction_id
from fct_findings
where list_contains($finding_ids::varchar[], finding_id)
"""

# interactions without a time belong to no week
# The one rate of each criterion, which every page reads.
LIST_RATES: Final = """
select criterion, system, population, dimension, segment, count_interactions, failure_rate, failure_rate_lower,
    failure_rate_upper
from fct_failure_rates
where dimension in ('all', 'period') and failure_rate is not null
order by criterion, system, population, dimension, segment
"""

LIST_WEEKS: Final = """
select metric_name, dimension, segment, strftime(week_start, '%Y-%m-%d') as week, week_status as status, count_scored,
    mean_score, mean_lower, mean_upper, share_failing, share_failing_lower, share_failing_upper
from fct_metric_weeks
where week_start is not null
order by metric_name, dimension, segment, week_start
"""

LIST_ALARMS: Final = """
select metric_name as metric, dimension, segment, test, detail, strftime(window_start, '%Y-%m-%d') as start,
    strftime(window_end, '%Y-%m-%d') as "end", window_weeks as weeks,
    strftime(reference_start, '%Y-%m-%d') as "referenceStart", strftime(reference_end, '%Y-%m-%d') as "referenceEnd",
    value_reference as reference, value_window as value, difference, difference_lower as low, difference_upper as high,
    band_lower as "bandLow", band_upper as "bandHigh", q_value as q, alarm_level as level,
    coalesce(is_drifting, false) as "isDrifting"
from fct_metric_drift
where status = 'tested'
order by "isDrifting" desc, q_value nulls last, metric_name, dimension, segment, test, window_weeks
"""

LIST_COMPARISONS: Final = """
select application, baseline_version, candidate_version, metric_name as metric, measurement, verdict,
    count_pairs as "countPairs", count_clusters as "countClusters", baseline_value as before, candidate_value as after,
    difference, difference_lower as low, difference_upper as high, count_regressions as regressions,
    count_improvements as improvements
from fct_version_comparisons
where dimension = 'all' and is_latest
order by application, baseline_version, candidate_version, family <> 'headline', metric_name, measurement
"""

LIST_LIVE: Final = "select distinct system from fct_interactions where version_role = 'candidate' order by system"

LIST_VERSIONS: Final = """
select distinct coalesce(application, 'unnamed') as application, application_version as version, min(asked_at) as first
from fct_interactions
where application_version is not null
group by 1, 2
order by application, first nulls last, version
"""


def list_dimensions(source: Warehouse) -> list[str]:
    """Return the dimensions by which interactions can be filtered: those that the marts of weakness know."""
    rows = source.rows(LIST_DIMENSIONS, ["fct_marginal_weaknesses"])
    return [row["dimension"] for row in rows if _express_dimension(source, row["dimension"])]


def _express_dimension(source: Warehouse, dimension: str) -> str:
    """Return the value of a dimension as SQL: a column, a value that the build derived, else a tag."""
    name, text = dimension.replace('"', '""'), dimension.replace("'", "''")
    if source.has(f"fct_interactions.{dimension}"):
        return f'interactions."{name}"::varchar'
    if source.has("int_interaction_segments"):
        return (
            "(select any_value(segment) from int_interaction_segments as segments where segments.dimension ="
            f" '{text}' and segments.interaction_id = interactions.interaction_id)"
        )
    return "" if '"' in dimension else f"json_extract_string({_TAGS}, '$.\"{text}\"')"


def read_interactions(
    source: Warehouse, dimensions: Sequence[str], tags: Sequence[str], score_metric: str, random_seed: int
) -> dict[str, Any]:
    """Return one array per column of :data:`LIST_INTERACTIONS`, worst interaction first, and one per dimension."""
    pairs = ", ".join(
        f"'{tag}=' || json_extract_string({_TAGS}, '$.\"{tag}\"')" for tag in (tag.replace("'", "''") for tag in tags)
    )
    statement = LIST_INTERACTIONS.format(
        flags="fct_query_flags"
        if source.has("fct_query_flags")
        else "(select null::varchar as interaction_id, null::varchar as flag_name where false)",
        causes="fct_failure_causes"
        if source.has("fct_failure_causes")
        else "(select null as interaction_id, null as metric_name, null::varchar as fault where false)",
        tags=f"array_to_string(list_filter([{pairs}], lambda each: each is not null), chr(31))" if pairs else "''",
        dimensions="".join(
            f",\n    {_express_dimension(source, name)} as dimension_{number}" for number, name in enumerate(dimensions)
        ),
    )
    reads = [
        "fct_interactions",
        "fct_evaluations",
        "dim_metrics",
        "fct_verdicts",
        "fct_retrieved_contexts",
        "dim_documents",
    ]
    return source.columns_of(statement, reads, score_metric=score_metric, random_seed=str(random_seed))


def read_tags(source: Warehouse, maximum: int) -> list[str]:
    """Return the tags of the logs that are no dimension and have at most ``maximum`` values."""
    reads = ["fct_interactions", "fct_marginal_weaknesses"]
    return [row["tag"] for row in source.rows(COUNT_TAG_VALUES, reads, maximum=maximum)]


def read_scores(source: Warehouse, metric_names: Sequence[str], score_metric: str) -> dict[str, Any]:
    """Return one array per column of :data:`LIST_SCORES`: the evaluations, in no order."""
    return source.columns_of(
        LIST_SCORES,
        ["fct_interactions", "fct_evaluations", "dim_metrics", "fct_verdicts"],
        metric_names=list(metric_names),
        statuses=list(SCORE_STATUSES),
        score_metric=score_metric,
    )


def read_texts(
    source: Warehouse, interaction_ids: Sequence[str], *, is_unmasked: bool, limits: Mapping[str, int]
) -> dict[str, list[Row]]:
    """Return what belongs to the chosen interactions, by name of the list."""
    if is_unmasked and (missing := source.lacks(*LOGGED_TABLES)):
        raise WarehouseError(
            f"this copy holds no unmasked texts (it lacks {missing[0]}): read the working database, or leave out"
            " --unmasked"
        )
    ids = {"interaction_ids": list(interaction_ids)}
    texts = LOGGED_INTERACTIONS if is_unmasked else "fct_interactions"
    contexts = LIST_CONTEXTS.format(
        text="logged.context_text" if is_unmasked else "contexts.context_text",
        joins=_LOGGED_CONTEXTS if is_unmasked else "",
    )
    missed = LIST_MISSED.format(
        text="logged.chunk_text" if is_unmasked else "chunks.chunk_text", joins=_LOGGED_CHUNKS if is_unmasked else ""
    )
    return {
        "interactions": source.rows(LIST_TEXTS.format(texts=texts), ["fct_interactions", "fct_verdicts"], **ids),
        "turns": source.rows(
            LIST_EARLIER_TURNS.format(texts=texts), ["fct_interactions"], **ids, maximum=limits["turns"]
        ),
        "contexts": source.rows(contexts, ["fct_retrieved_contexts", "dim_documents", "dim_queries"], **ids),
        "missed": source.rows(missed, ["fct_interactions.missed_chunk_ids", "dim_chunks", "dim_queries"], **ids),
        "sentences": source.rows(LIST_SENTENCES, ["fct_sentence_evidence"], **ids, maximum=limits["sentences"]),
        "ratings": source.rows(LIST_RATINGS, ["fct_ratings"], **ids),
        "labels": source.rows(LIST_LABELS, ["fct_evaluations"], **ids),
        "details": source.rows(LIST_DETAILS, ["fct_evaluations", "dim_metrics"], **ids),
        "causes": source.rows(LIST_CAUSES, ["fct_failure_causes"], **ids),
        "flags": source.rows(LIST_FLAGS, ["fct_query_flags"], **ids),
        "private": source.rows(LIST_PRIVATE_VALUES, ["fct_privacy_findings"], **ids),
    }
