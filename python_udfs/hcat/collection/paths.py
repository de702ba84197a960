"""Paths into a JSON document: ``$.answer``, ``$.choices[0].message.content``, ``$.contexts[*].text``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from hcat.landing.raw_contract import json_kind

EVERY: Final = "*"
"""The step of ``[*]``; a member with this name is a :class:`Name`."""

# without filters, slices and descent (..), which can silently find nothing
_STEP = re.compile(r"\.(?P<name>[^\W\d][\w-]*)|\['(?P<quoted>[^']+)'\]|\[(?P<index>-?\d+)\]|\[(?P<every>\*)\]")


class PathError(ValueError):
    """A document has nothing at a path; the message names the place and quotes no text of the document."""


@dataclass(frozen=True, slots=True)
class Name:
    """The step to a member of an object."""

    text: str


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path into a JSON document."""

    text: str
    steps: tuple[Name | int | str, ...]

    @property
    def is_list(self) -> bool:
        """Whether the path names every element of a list."""
        return EVERY in self.steps

    def read(self, document: Any) -> Any:
        """Return the value at the path."""
        return _walk(document, self.steps, "$")

    def read_each(self, document: Any) -> list[Any]:
        """Return the values at a path with one ``[*]``, one per element, in the order of the list."""
        border = self.steps.index(EVERY)
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
    steps: list[Name | int | str] = []
    position = 1
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise ValueError(f"nothing can be read from character {position + 1} on")
        if match["every"]:
            steps.append(EVERY)
        elif match["index"]:
            steps.append(int(match["index"]))
        else:
            steps.append(Name(match["name"] or match["quoted"]))
        position = match.end()
    if steps.count(EVERY) > 1:
        raise ValueError("at most one [*] is possible")
    return JsonPath(text, tuple(steps))


def describe_type(value: Any) -> str:
    """Return the JSON type of a value in words."""
    kind = json_kind(value)
    articles = {"text": "a", "number": "a", "list": "a", "object": "an"}
    return f"{articles[kind]} {kind}" if kind in articles else kind


def _walk(value: Any, steps: tuple[Name | int | str, ...], place: str) -> Any:
    for step in steps:
        if isinstance(step, Name):
            if not isinstance(value, dict):
                raise PathError(f"{place} must be an object, got {describe_type(value)}")
            if step.text not in value:
                raise PathError(f"{place}{_show((step,))} is missing")
            value = value[step.text]
        else:
            if not isinstance(value, list):
                raise PathError(f"{place} must be a list, got {describe_type(value)}")
            index = int(step)
            if not -len(value) <= index < len(value):
                raise PathError(f"{place}{_show((step,))} is missing: the list has {len(value)} elements")
            value = value[index]
        place += _show((step,))
    return value


def _show(steps: tuple[Name | int | str, ...]) -> str:
    return "".join(f".{step.text}" if isinstance(step, Name) else f"[{step}]" for step in steps)
