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
    contexts: tuple[str, ...]
    answer: str


def read_texts(opened: Warehouse, interaction_ids: Sequence[str], *, is_masked: bool) -> dict[str, Texts]:
    """Return the texts of those interactions that the logs still hold."""
    texts = f"""
        select
            interaction_id,
            case when not {_is_blank("query_text")} then query_text else '' end as query,
            case when not {_is_blank("answer")} then answer else '' end as answer
        from {"fct_interactions" if is_masked else LOGGED_INTERACTIONS}
        where list_contains($interaction_ids::varchar[], interaction_id)
    """
    contexts = f"""
        select interaction_id, list(context_text order by rank) as contexts
        from {"fct_retrieved_contexts" if is_masked else LOGGED_CONTEXTS}
        where list_contains($interaction_ids::varchar[], interaction_id) and not {_is_blank("context_text")}
        group by interaction_id
    """
    reads = ("fct_interactions", "fct_retrieved_contexts") if is_masked else LOGGED_TABLES
    ids = {"interaction_ids": list(interaction_ids)}
    retrieved = {row["interaction_id"]: tuple(row["contexts"]) for row in opened.rows(contexts, reads, **ids)}
    return {
        row["interaction_id"]: Texts(row["query"], retrieved.get(row["interaction_id"], ()), row["answer"])
        for row in opened.rows(texts, reads, **ids)
    }
