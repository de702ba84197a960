"""Thumbs, stars and scores as ratings: those of users have the kind `user_feedback`, and staging says the scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from hcat.landing.aliases import CONTRACT, plain_name
from hcat.landing.containers import is_scalar
from hcat.landing.contexts import plain_record
from hcat.landing.dialects import DIALECTS_FILE, read_dialects
from hcat.landing.messages import structured
from hcat.landing.raw_contract import RecordError, to_text

#: Kind of the rater, and criterion: no metric is calibrated with it.
USER_FEEDBACK: Final = "user_feedback"
#: Names in a call; the last ones are too plain for the scores of a trace, which experts give too.
_NAMES: Final = tuple(CONTRACT["feedback"]["names"].split())
_NAMES_OF_CALLS: Final = (*_NAMES, *CONTRACT["feedback"]["names_of_calls"].split())
_NAMES_OF_MESSAGES: Final = tuple(CONTRACT["feedback"]["names_of_messages"].split())
_VALUES: Final = ("rating", "value", "score", "thumb", "thumbs")
_PEOPLE: Final = frozenset(CONTRACT["people_of_scores"].split())
#: Characters of a value in a reason, as in the other reasons of staging.
_SHOWN: Final = 80
#: Stems of files of scores beside the traces that they are about.
SCORES: Final = ("scores", "feedback", "annotations")


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


def scores_of(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the scores that a record holds: itself, or those of a page."""
    page = record.get("data")
    return page if isinstance(page, list) and all(isinstance(each, Mapping) for each in page) else [record]


def expand_score(record: Mapping[str, Any], _: str) -> Iterator[dict[str, Any]]:
    """Yield a score of a trace as a rating; one of a model or a program is none."""
    flat = plain_record(record)
    for name, held in [(name, structured(value)) for name, value in flat.items()]:
        flat |= {f"{name}_{key}": value for key, value in held.items()} if isinstance(held, Mapping) else {}
    found = {
        part: next((to_text(flat[name]) for name in names.split() if is_scalar(flat.get(name))), None)
        for part, names in CONTRACT["scores"].items()
    }
    said, value = found["name"], found["value"]
    if said is None or value is None:
        raise RecordError(f"a score needs a name and a value, got {', '.join(record)}")
    rated = rate(said, value, found["source"] or "", found["rater"], _read_annotations(), _PEOPLE)
    if reason := (rated or {}).get("read_error"):
        raise RecordError(reason)
    if rated is not None:
        yield {"interaction_id": found["trace"], "rated_at": found["time"], "comment": found["comment"], **rated}


@cache
def _read_annotations() -> Sequence[Mapping[str, str | None]]:
    """Return the criteria that the project of this process maps the names of scores to."""
    return read_dialects(Path(DIALECTS_FILE)).annotations


def rate(
    name: str,
    value: str,
    source: str,
    rater: str | None,
    annotations: Sequence[Mapping[str, str | None]],
    people: frozenset[str],
) -> dict[str, str | None] | None:
    """Return a score as columns of a rating, or with the reason why it is none; None for that of a program."""
    meant = find_criterion(name, value, annotations)
    if meant is None and is_feedback(name, source, people):
        return {"rater": name, "rater_kind": USER_FEEDBACK, "criterion": USER_FEEDBACK, "scale_point": value}
    if source.lower() not in people:
        return None
    own = {"rater": rater or "unnamed", "rater_kind": "person"}
    if meant is None:
        reason = f"annotation without a criterion in {DIALECTS_FILE}: " + f"{name} = {value}"[:_SHOWN]
        return {**own, "criterion": None, "scale_point": value, "read_error": reason}
    return {**own, "criterion": meant["criterion"], "scale_point": meant["scale_point"] or value}


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
