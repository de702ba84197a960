"""Paths into a JSON document: ``$.answer``, ``$.choices[0].message.content``, ``$.contexts[*].text``."""

import re
from dataclasses import dataclass
from typing import Any

from hcat.landing.raw_contract import json_kind

# without filters, slices and descent (..), which can silently find nothing
_STEP = re.compile(r"\.(?P<name>[^\W\d][\w-]*)|\['(?P<quoted>[^']+)'\]|\[(?P<index>-?\d+)\]|\[(?P<every>\*)\]")


#: The name of a member, the place in a list, or None for ``[*]``.
Step = str | int | None


class ReplyError(ValueError):
    """A reply is not as described, or reports an error itself (``malformed_reply``, ``service_error``)."""

    def __init__(self, reason: str, failure: str = "malformed_reply") -> None:
        super().__init__(reason)
        self.failure = failure


class PathError(ReplyError):
    """A document has nothing at a path; the message names the place and quotes no text of the document."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path into a JSON document."""

    text: str
    steps: tuple[Step, ...]

    @property
    def is_list(self) -> bool:
        """Whether the path names every element of a list."""
        return None in self.steps

    def read(self, document: Any) -> Any:
        """Return the value at the path."""
        return _walk(document, self.steps, "$")

    def read_each(self, document: Any) -> list[Any]:
        """Return the values at a path with one ``[*]``, one per element, in the order of the list."""
        border = self.steps.index(None)
        elements = _walk(document, self.steps[:border], "$")
        place = "$" + _show(self.steps[:border])
        if not isinstance(elements, list):
            raise PathError(f"{place} must be a list, got {describe_type(elements)}")
        return [
            _walk(element, self.steps[border + 1 :], f"{place}[{number}]") for number, element in enumerate(elements)
        ]


def parse_path(text: str) -> JsonPath:
    """Return the path that ``text`` spells."""
    if not text.startswith("$"):
        raise ValueError("a JSON path begins with $")
    steps: list[Step] = []
    position = 1
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise ValueError(f"nothing can be read from character {position + 1} on")
        steps.append(int(match["index"]) if match["index"] else match["name"] or match["quoted"])
        position = match.end()
    if steps.count(None) > 1:
        raise ValueError("at most one [*] is possible")
    return JsonPath(text, tuple(steps))


def describe_type(value: Any) -> str:
    """Return the JSON type of a value in words."""
    kind = json_kind(value)
    articles = {"text": "a", "number": "a", "list": "a", "object": "an"}
    return f"{articles[kind]} {kind}" if kind in articles else kind


def _walk(value: Any, steps: tuple[Step, ...], place: str) -> Any:
    for step in steps:
        if isinstance(step, str):
            if not isinstance(value, dict):
                raise PathError(f"{place} must be an object, got {describe_type(value)}")
            if step not in value:
                raise PathError(f"{place}{_show((step,))} is missing")
            value = value[step]
        else:
            if not isinstance(value, list):
                raise PathError(f"{place} must be a list, got {describe_type(value)}")
            # `read_each` takes the step of every element itself
            assert step is not None
            if not -len(value) <= step < len(value):
                raise PathError(f"{place}{_show((step,))} is missing: the list has {len(value)} elements")
            value = value[step]
        place += _show((step,))
    return value


def _show(steps: tuple[Step, ...]) -> str:
    return "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in steps)
