"""Thumbs and scores of users as ratings of the kind `user_feedback`; staging says on which scale they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hcat.landing.aliases import CONTRACT, plain_name
from hcat.landing.containers import is_scalar
from hcat.landing.messages import structured

#: Kind of the rater, and criterion: no metric is calibrated with it.
USER_FEEDBACK: Final = "user_feedback"
#: Names in a call; the last ones are too plain for the scores of a trace, which experts give too.
_NAMES: Final = tuple(CONTRACT["feedback"]["names"].split())
_NAMES_OF_CALLS: Final = (*_NAMES, *CONTRACT["feedback"]["names_of_calls"].split())
_NAMES_OF_MESSAGES: Final = tuple(CONTRACT["feedback"]["names_of_messages"].split())
_VALUES: Final = ("rating", "value", "score", "thumb", "thumbs")


def is_feedback(name: str, source: str, people: frozenset[str]) -> bool:
    """Return whether a score of a trace is what a user said: by its name, and given by a person or from outside."""
    return plain_name(name) in _NAMES and source.lower() in {*people, "api", "app"}


def read_feedback(record: Mapping[str, Any], is_message: bool = False) -> Iterator[dict[str, Any]]:
    """Yield what users said of a call or a message, by name: a plain value, an object with one, or a list of scores."""
    for name in (*_NAMES, *_NAMES_OF_MESSAGES) if is_message else _NAMES_OF_CALLS:
        held = structured(record.get(name))
        for each in held if isinstance(held, list) else [held]:
            own = each if isinstance(each, Mapping) else {"value": each}
            value = next((own[key] for key in _VALUES if is_scalar(own.get(key))), None)
            if value is not None and value != "":
                key = own.get("key", own.get("name"))
                said = {"rater": str(key) if is_scalar(key) else name, "scale_point": value}
                comment = own.get("comment", own.get("content"))
                yield said | ({"comment": comment} if is_scalar(comment) else {})


def find_criterion(
    name: str, value: str, annotations: Sequence[Mapping[str, str | None]]
) -> Mapping[str, str | None] | None:
    """Return what an annotation rates: that of its value before that of its name alone; 1 and 1.0 are one number."""
    named = [each for each in annotations if each["name"] == name]
    of_value = (each for each in named if each["value"] is not None and _are_equal(each["value"], value))
    return next(of_value, next((each for each in named if each["value"] is None), None))


def _are_equal(first: str, second: str) -> bool:
    try:
        return first == second or float(first) == float(second)
    except ValueError:
        return False
