"""Reading the reply of a language model: the JSON object that was asked for, or the reason why there is none."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import best_match  # type: ignore[import-untyped]

from hcat.language.text import clean_text

MAXIMUM_TEXT_CHARACTERS: Final = 12_000
"""Of one text in a reply."""

_FENCE = re.compile(r"\A```(?:json)?\s*\n?(?P<inside>.*?)\n?```\Z", re.DOTALL)
_SHOWN_CHARACTERS = 120


class ReplyError(ValueError):
    """An unusable reply; the message says in one line what was expected and what was found."""


def read_reply(answer: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object that a reply is, inside a fence or not, if it fits the schema; its texts are cleaned."""
    fenced = _FENCE.match(answer.strip())
    try:
        value = _clean(json.loads(fenced["inside"] if fenced else answer, parse_constant=_refuse))
    except (ValueError, RecursionError):
        raise ReplyError(f"a reply must be JSON, got {shown(answer)}") from None
    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        raise ReplyError(shown(f"{error.json_path}: {error.message}"))
    return dict(value)


def shown(text: str) -> str:
    """Return the beginning of a text in one line, for a message."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}..."


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        text = " ".join(clean_text(value).split())
        # what is no text fits no schema
        return text if 0 < len(text) <= MAXIMUM_TEXT_CHARACTERS else [f"a text of {len(text)} characters"]
    if isinstance(value, list):
        return [_clean(each) for each in value]
    return {name: _clean(each) for name, each in value.items()} if isinstance(value, dict) else value
