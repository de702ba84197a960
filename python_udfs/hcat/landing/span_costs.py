"""What a trace says of the speed and the cost of its answer; spans are those of :mod:`hcat.landing.folding`."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

#: Column of an interaction -> field of a dialect. What the calls of models say is added up.
_SUMMED: Final = {"count_input_tokens": "input_tokens", "count_output_tokens": "output_tokens", "cost": "cost"}
COST_COLUMNS: Final = ("latency_seconds", *_SUMMED, "language_model", "prompt_version")


def read_costs(root: Any, spans: Sequence[Any], find: Callable[[str], str | None]) -> dict[str, str | None]:
    """Return the costs of an answer as texts: the time of the root, the tokens of all calls of models."""
    is_timed = root.started is not None and root.ended is not None and root.ended >= root.started
    seconds = str((root.ended - root.started).total_seconds()) if is_timed else None
    sums = {column: _add_up(field, root, spans) for column, field in _SUMMED.items()}
    named = {"language_model": find("model"), "prompt_version": find("prompt_version")}
    return {"latency_seconds": seconds, **sums, **named}


def _add_up(field: str, root: Any, spans: Sequence[Any]) -> str | None:
    """Return the sum over the calls of models, or else what the root says. A call inside of a call is counted there."""
    said = {span.row["span_id"]: text for span in spans if (text := _say(span, field)) is not None}
    calls = {span.row["span_id"]: span.row["parent_span_id"] for span in spans if span.role == "model"}
    texts = [said[call] for call, parent in calls.items() if call in said and not (parent in calls and parent in said)]
    if not texts:
        return said.get(root.row["span_id"])
    # staging says what cannot be read
    unread = next((text for text in texts if not _is_number(text)), None)
    return str(math.fsum(map(float, texts))) if unread is None else unread


def _say(span: Any, field: str) -> str | None:
    found = [value for value in span.values if value.field == field]
    return str(min(found, key=lambda value: value.priority).text) if found else None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
