"""What the explorer reads of a build: statements stand in ``queries.sql``, and here what is made of their rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse, WarehouseError, read_queries
from hcat.review.texts import LOGGED_CONTEXTS, LOGGED_INTERACTIONS, LOGGED_TABLES

QUERIES: Final = read_queries(Path(__file__).with_name("queries.sql"))
#: Words that the page writes as numbers: their place in the list is the number.
SCORE_STATUSES: Final = (
    "scored", "truncated", "refused", "not_applicable", "missing_input", "unsupported_language", "failed",
)  # fmt: skip
OUTCOMES: Final = ("answered", "refused", "empty")
VERDICTS: Final = ("acceptable", "failing", "undecided", "not judged")
LABELS: Final = ("accepted", "failed", "not rated")
#: What stands between several flags or tags of an interaction.
SEPARATOR: Final = "\x1f"

ORDER_INTERACTIONS: Final = QUERIES["order_interactions"]

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

#: A mask may have broken the JSON of a record: then it has no tags.
_TAGS: Final = "case when json_valid(interactions.tags) then interactions.tags end"

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

_LOGGED_CONTEXTS: Final = f"""left join {LOGGED_CONTEXTS} as logged
    on contexts.interaction_id = logged.interaction_id and contexts.rank = logged.rank"""
_LOGGED_CHUNKS: Final = """left join base_chunks as logged
    on missed.chunk_id = logged.chunk_id and logged.record_status = 'staged'"""


def list_dimensions(source: Warehouse) -> list[str]:
    """Return the dimensions by which interactions can be filtered: those that the marts of weakness know."""
    every = "select distinct dimension from fct_marginal_weaknesses where dimension <> 'all' order by dimension"
    rows = source.rows(every, ["fct_marginal_weaknesses"])
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
    contexts = QUERIES["list_contexts"].format(
        text="logged.context_text" if is_unmasked else "contexts.context_text",
        joins=_LOGGED_CONTEXTS if is_unmasked else "",
    )
    missed = QUERIES["list_missed"].format(
        text="logged.chunk_text" if is_unmasked else "chunks.chunk_text", joins=_LOGGED_CHUNKS if is_unmasked else ""
    )
    return {
        "interactions": source.rows(
            QUERIES["list_texts"].format(texts=texts), ["fct_interactions", "fct_verdicts"], **ids
        ),
        "turns": source.rows(
            QUERIES["list_earlier_turns"].format(texts=texts), ["fct_interactions"], **ids, maximum=limits["turns"]
        ),
        "contexts": source.rows(contexts, ["fct_retrieved_contexts", "dim_documents", "dim_queries"], **ids),
        "missed": source.rows(missed, ["fct_interactions.missed_chunk_ids", "dim_chunks", "dim_queries"], **ids),
        "sentences": source.rows(
            QUERIES["list_sentences"], ["fct_sentence_evidence"], **ids, maximum=limits["sentences"]
        ),
        "ratings": source.rows(QUERIES["list_ratings"], ["fct_ratings"], **ids),
        "labels": source.rows(QUERIES["list_labels"], ["fct_evaluations"], **ids),
        "details": source.rows(QUERIES["list_details"], ["fct_evaluations", "dim_metrics"], **ids),
        "causes": source.rows(QUERIES["list_causes"], ["fct_failure_causes"], **ids),
        "flags": source.rows(QUERIES["list_flags"], ["fct_query_flags"], **ids),
        "private": source.rows(QUERIES["list_private_values"], ["fct_privacy_findings"], **ids),
    }
