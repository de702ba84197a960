"""Texts of interactions for people who rate them: as the marts show them, or as they were logged."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Final

from hcat.engine.warehouse import Warehouse


def _is_blank(text: str) -> str:
    """Return in SQL whether a text is blank, as the macro is_blank has it."""
    return rf"coalesce(regexp_matches({text}, '\A[\s\p{{Z}}\p{{Cf}}]*\z'), true)"


#: Where the texts as logged are; only the working database has them.
LOGGED_TABLES: Final = ("base_interactions", "base_queries", "base_retrievals", "base_chunks")
#: One row per interaction, as a table of SQL.
LOGGED_INTERACTIONS: Final = """(
    select
        interactions.interaction_id,
        coalesce(queries.query_text, interactions.query_text) as query_text,
        interactions.answer,
        queries.reference_answer
    from base_interactions as interactions
    left join base_queries as queries on interactions.query_id = queries.query_id and queries.record_status = 'staged'
    where interactions.record_status = 'staged'
)"""
#: One row per (interaction, rank), as a table of SQL. The corpus only fills in a missing text.
LOGGED_CONTEXTS: Final = f"""(
    select
        retrievals.interaction_id,
        retrievals.rank,
        chunks.document_id,
        case when {_is_blank("retrievals.text")} then chunks.chunk_text else retrievals.text end
            as context_text
    from base_retrievals as retrievals
    left join base_chunks as chunks on retrievals.chunk_id = chunks.chunk_id and chunks.record_status = 'staged'
    where retrievals.record_status = 'staged'
)"""


@dataclass(frozen=True, slots=True)
class Texts:
    """What a rater reads of an interaction; an empty text is one that the logs do not hold."""

    query: str
    contexts: tuple[tuple[str, str], ...]  # (title of the document, text), best first
    answer: str
    further: tuple[tuple[str, str], ...] = ()  # beyond the number that all systems are shown with


def read_texts(
    opened: Warehouse, interaction_ids: Sequence[str], *, is_masked: bool
) -> tuple[dict[str, Texts], int | None]:
    """Return the texts of those interactions that the logs still hold, and how many passages are shown (None = all)."""
    titles = "dim_documents" if is_masked else "base_documents where record_status = 'staged'"
    # a build of selected models may lack the titles
    if opened.lacks(titles.split()[0]):
        titles = "(select null as document_id, null as title)"
    texts = f"""
        select
            texts.interaction_id,
            systems.system,
            case when not {_is_blank("texts.query_text")} then texts.query_text else '' end as query,
            case when not {_is_blank("texts.answer")} then texts.answer else '' end as answer
        from {"fct_interactions" if is_masked else LOGGED_INTERACTIONS} as texts
        left join fct_interactions as systems on texts.interaction_id = systems.interaction_id
        where list_contains($interaction_ids::varchar[], texts.interaction_id)
    """
    contexts = f"""
        select
            interaction_id,
            list(coalesce(title, '') order by rank) as titles,
            list(context_text order by rank) as contexts
        from {"fct_retrieved_contexts" if is_masked else LOGGED_CONTEXTS} as contexts
        left join (select document_id, title from {titles}) as documents on contexts.document_id = documents.document_id
        where list_contains($interaction_ids::varchar[], interaction_id) and not {_is_blank("context_text")}
        group by interaction_id
    """
    reads = ("fct_interactions", "fct_retrieved_contexts") if is_masked else LOGGED_TABLES
    ids = {"interaction_ids": list(interaction_ids)}
    retrieved = {
        row["interaction_id"]: tuple(zip(row["titles"], row["contexts"], strict=True))
        for row in opened.rows(contexts, reads, **ids)
    }
    rows = opened.rows(texts, reads, **ids)
    counts: dict[str, list[int]] = {}
    for row in rows:
        if row["interaction_id"] in retrieved:
            counts.setdefault(row["system"], []).append(len(retrieved[row["interaction_id"]]))
    # by a number of passages that is usual for a system, raters would know it
    usual = {median_low(each) for each in counts.values()}
    count_shown = min(usual) if len(usual) > 1 else None
    return {
        row["interaction_id"]: Texts(row["query"], own[:count_shown], row["answer"], own[count_shown or len(own) :])
        for row in rows
        for own in [retrieved.get(row["interaction_id"], ())]
    }, count_shown
