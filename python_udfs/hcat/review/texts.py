"""Texts of interactions for people who rate them: as the marts show them, or as they were logged.

No mart holds a text with private data. People who may read the logs get the staged records (``base_*``), from which
all tables are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hcat.engine.warehouse import Warehouse


def _is_blank(text: str) -> str:
    """Return in SQL whether a text is blank, as the macro is_blank has it."""
    return rf"coalesce(regexp_matches({text}, '\A[\s\p{{Z}}\p{{Cf}}]*\z'), true)"


#: Where the texts as logged are; only the working database has them.
LOGGED_TABLES: Final = ("base_interactions", "base_queries", "base_retrievals", "base_chunks", "base_documents")
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
_LOGGED_TITLES: Final = "(select document_id, title from base_documents where record_status = 'staged')"


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
    """Return the texts of those interactions that the logs still hold, and the number of passages to show.

    Where systems usually retrieve different numbers of passages, raters would know them by it. The least of the usual
    numbers (lower median of a system) is shown then; else the number is None, and all passages are shown.
    """
    texts = f"""
        select
            interaction_id,
            case when not {_is_blank("query_text")} then query_text else '' end as query,
            case when not {_is_blank("answer")} then answer else '' end as answer
        from {"fct_interactions" if is_masked else LOGGED_INTERACTIONS}
        where list_contains($interaction_ids::varchar[], interaction_id)
    """
    # a build of selected models may lack the titles
    titles = "dim_documents" if opened.has("dim_documents") else "(select '' as document_id, '' as title)"
    contexts = f"""
        with passages as (
            select contexts.interaction_id, contexts.rank, contexts.context_text, coalesce(documents.title, '') as title
            from {"fct_retrieved_contexts" if is_masked else LOGGED_CONTEXTS} as contexts
            left join {titles if is_masked else _LOGGED_TITLES} as documents
                on contexts.document_id = documents.document_id
            where list_contains($interaction_ids::varchar[], interaction_id) and not {_is_blank("context_text")}
        ),
        counted as (
            select systems.system, interaction_id, count(*) as count_passages
            from passages
            inner join fct_interactions as systems using (interaction_id)
            group by all
        ),
        usual as (select quantile_disc(count_passages, 0.5) as usual from counted group by system)
        select
            interaction_id,
            list(title order by rank) as titles,
            list(context_text order by rank) as contexts,
            (select case when min(usual) < max(usual) then min(usual) end from usual) as count_shown
        from passages
        group by interaction_id
    """
    reads = ("fct_interactions", "fct_retrieved_contexts") if is_masked else LOGGED_TABLES
    ids = {"interaction_ids": list(interaction_ids)}
    retrieved, count_shown = {}, None
    for row in opened.rows(contexts, reads, **ids):
        retrieved[row["interaction_id"]] = tuple(zip(row["titles"], row["contexts"], strict=True))
        count_shown = row["count_shown"]
    return {
        row["interaction_id"]: Texts(
            row["query"], own[:count_shown], row["answer"], own[count_shown:] if count_shown else ()
        )
        for row in opened.rows(texts, reads, **ids)
        for own in [retrieved.get(row["interaction_id"], ())]
    }, count_shown
