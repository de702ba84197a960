"""Messages: the events of one group as one JSON document that Slack and compatible webhooks accept."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from hcat.monitoring.alerts.events import Event
from hcat.monitoring.alerts.naming import escape_id

#: Series that a message about drift lists; the others are counted.
MAXIMUM_SERIES: Final = 12
#: Longest texts. Slack takes 3,000 characters in a section and 150 in a header.
SECTION_CHARACTERS: Final = 2900
HEADER_CHARACTERS: Final = 150


class Message(NamedTuple):
    """One post to the webhook."""

    events: tuple[Event, ...]
    payload: dict[str, Any]


def compose_messages(events: Iterable[Event], run_id: str) -> tuple[Message, ...]:
    """Return one message per group of events, as JSON for Slack and compatible webhooks."""
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.group, []).append(event)
    return tuple(Message(tuple(group), _compose(group, run_id)) for group in groups.values())


def _compose(events: Sequence[Event], run_id: str) -> dict[str, Any]:
    """Return the JSON of one group: a header, the facts as whole lines, and the build."""
    first = events[0]
    shown = events[:MAXIMUM_SERIES]
    title, mart = first.title, "fct_metric_drift"
    if first.kind == "finding":
        mart = "fct_findings"
        title = title if len(events) == 1 else f"{len(events)} severe weaknesses that are not yet confirmed"
    elif len(events) > 1:
        title = f"{title}: {len(events)} series"
    lines = [line for event in shown for line in event.lines]
    if len(events) > len(shown):
        lines.append(f"and {len(events) - len(shown)} more: see {mart}")
    kept: list[str] = []
    for line in lines:
        if sum(len(one) + 1 for one in (*kept, line)) > SECTION_CHARACTERS:
            # whole lines only: half an escaped character would be another one
            kept.append("…")
            break
        kept.append(line)
    source = f"hcat, build {escape_id(run_id)}"
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": _fit(title, HEADER_CHARACTERS), "emoji": False}}
    ]
    if kept:
        # verbatim: Slack makes no links and calls nobody by what looks like a name
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": "\n".join(kept), "verbatim": True}})
    blocks.append({"type": "context", "elements": [{"type": "plain_text", "text": source, "emoji": False}]})
    return {"text": "\n".join([title, *kept, source]), "blocks": blocks}


def _fit(text: str, length: int) -> str:
    """Return escaped text of at most ``length`` characters, cut between escaped characters."""
    while len(text) > length:
        text = re.sub(r"(?:&\w+;|.)…?$", "…", text, flags=re.DOTALL)
    return text
