"""Reading the reply of a language model: the JSON object that was asked for, or the reason why there is none."""

from __future__ import annotations

import json
import re
from typing import Any

from hcat.language.text import clean_text

_FENCE = re.compile(r"\A```(?:json)?\s*\n?(?P<inside>.*?)\n?```\Z", re.DOTALL)
_SHOWN_CHARACTERS = 60


class ReplyError(ValueError):
    """An unusable reply; the message says what was expected and what was found."""


def parse_object(answer: str) -> dict[str, Any]:
    """Return the JSON object that a reply is, with or without a fence around it."""
    text = answer.strip()
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced["inside"] if fenced else text)
    except (ValueError, RecursionError):
        raise ReplyError(f"a reply must be JSON, got {shown(text)}") from None
    if not isinstance(value, dict):
        raise ReplyError(f"a reply must be a JSON object, got {shown(value)}")
    return value


def list_of(value: dict[str, Any], name: str, maximum: int) -> list[Any]:
    """Return the list that is the only member of an object."""
    if set(value) != {name}:
        raise ReplyError(
            f"a reply must have the member {name} alone, got {', '.join(sorted(map(str, value))) or 'none'}"
        )
    items = value[name]
    if not isinstance(items, list) or not 1 <= len(items) <= maximum:
        found = f"{len(items)}" if isinstance(items, list) else shown(items)
        raise ReplyError(f"{name} must be a list of 1 to {maximum}, got {found}")
    return items


def text_of(value: Any, place: str, maximum: int) -> str:
    """Return a text, cleaned and with runs of white space as one space."""
    if not isinstance(value, str) or not value.strip():
        raise ReplyError(f"{place} must be a text, got {shown(value)}")
    text = " ".join(clean_text(value).split())
    if not 0 < len(text) <= maximum:
        raise ReplyError(f"{place} must have 1 to {maximum} characters, got {len(text)}")
    return text


def shown(value: Any) -> str:
    """Return the beginning of a value in one line, for a message."""
    line = " ".join(json.dumps(value, ensure_ascii=False, default=str).split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}..."
