"""Conversations: how many fail, and the one that fails most, turn by turn."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report.showing import ANSWER_CHARACTERS, QUERY_CHARACTERS, format_number, format_percent

#: Turns of the conversation that are shown.
MAXIMUM_TURNS = 12

COUNT_CONVERSATIONS = """
select
    count(*) as count_conversations,
    count(*) filter (where count_judged > 0) as count_judged,
    count(*) filter (where count_failing > 0) as count_failing,
    count(*) filter (where is_error_repeated) as count_repeating
from fct_conversations
where count_turns > 1
"""

# A repeated error comes first, then the share of turns that fail.
FIND_WORST = """
select *
from fct_conversations
where count_turns > 1 and count_failing > 0
order by
    is_error_repeated desc, share_failing desc, count_failing desc, least_groundedness asc nulls last, conversation_key
limit 1
"""

LIST_TURNS = """
select
    interactions.interaction_id,
    any_value(interactions.turn_index) as turn_index,
    left(any_value(interactions.query_text), $query_characters) as query_text,
    left(any_value(interactions.answer), $answer_characters) as answer,
    max(evaluations.raw_score) filter (where evaluations.metric_name = 'groundedness') as groundedness,
    string_agg(evaluations.metric_name, ', ' order by evaluations.metric_name)
        filter (where evaluations.is_failing) as failing_metrics,
    bool_or(evaluations.is_failing) as is_failing
from fct_interactions as interactions
inner join fct_evaluations as evaluations on interactions.interaction_id = evaluations.interaction_id
where interactions.conversation_key = $conversation_key
group by interactions.interaction_id
order by turn_index, interactions.interaction_id
limit $maximum
"""


def describe_conversations(source: Warehouse) -> dict[str, Any] | None:
    """Return the counts of conversations and the worst one; None without a conversation of at least two turns."""
    needed = ["fct_conversations", "fct_interactions", "fct_evaluations"]
    counts = next(iter(source.rows(COUNT_CONVERSATIONS, needed)), None)
    if counts is None or not counts["count_conversations"]:
        return None
    found = source.rows(FIND_WORST, needed)
    return {**counts, "worst": _describe_worst(source, found[0], needed) if found else None}


def _describe_worst(source: Warehouse, row: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    turns = source.rows(
        LIST_TURNS,
        needed,
        conversation_key=row["conversation_key"],
        maximum=MAXIMUM_TURNS,
        # one character more than is shown, so that a cut text is recognised
        query_characters=QUERY_CHARACTERS + 1,
        answer_characters=ANSWER_CHARACTERS + 1,
    )
    return {
        "conversation_id": clean_label(row["conversation_id"]),
        "system": clean_label(row["system"]),
        "share_failing": format_percent(row["share_failing"]),
        "count_judged": row["count_judged"],
        "count_failing": row["count_failing"],
        "first_failing_turn": row["first_failing_turn"],
        "first_repeating_turn": row["first_repeating_turn"],
        "count_left_out": max(0, row["count_logged_turns"] - len(turns)),
        "turns": [
            {
                "interaction_id": clean_label(turn["interaction_id"]),
                "turn_index": turn["turn_index"],
                "query_text": clean_text(turn["query_text"], QUERY_CHARACTERS),
                "answer": clean_text(turn["answer"], ANSWER_CHARACTERS),
                "groundedness": format_number(turn["groundedness"]),
                "failing_metrics": turn["failing_metrics"] or "",
                "is_failing": turn["is_failing"],
            }
            for turn in turns
        ],
    }
