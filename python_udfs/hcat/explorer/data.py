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

#: How statements on all interactions begin.
_ORDER: Final = QUERIES["order_interactions"].rstrip() + ",\n\n"
#: A mask may have broken the JSON of a record: then it has no tags.
_TAGS: Final = "case when json_valid(interactions.tags) then interactions.tags end"

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
    """Return one array per column of `list_interactions`, worst interaction first, and one per dimension."""
    pairs = ", ".join(
        f"'{tag}=' || json_extract_string({_TAGS}, '$.\"{tag}\"')" for tag in (tag.replace("'", "''") for tag in tags)
    )
    statement = (_ORDER + QUERIES["list_interactions"]).format(
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
    """Return one array per column of `list_scores`: the evaluations, in no order."""
    return source.columns_of(
        _ORDER + QUERIES["list_scores"],
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
