"""Thumbs, stars and scores as ratings: those of users have the kind `user_feedback`, and staging says the scale."""

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
SHOWN: Final = 80
#: Stems of files of scores beside the traces that they are about.
SCORES: Final = ("scores", "feedback", "annotations")


def read_feedback(record: Mapping[str, Any], is_message: bool = False) -> Iterator[dict[str, Any]]:
    """Yield what users said of a call or a message, by name: a plain value, an object with one, or a list of scores."""
    for name in (*_NAMES, *_NAMES_OF_MESSAGES) if is_message else _NAMES_OF_CALLS:
        held = structured(record.get(name))
        for each in held if isinstance(held, list) else [held]:
            own = each if isinstance(each, Mapping) else {"value": each}
            value = next((own[key] for key in _VALUES if is_scalar(own.get(key))), None)
            # a list may hold scores of programs: a key says whose a score is
            is_of_user = plain_name(str(own.get("key", name))) in (*_NAMES_OF_CALLS, *_NAMES_OF_MESSAGES)
            if value is not None and value != "" and is_of_user:
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
    if found["name"] is None or found["value"] is None:
        raise RecordError(f"a score needs a name and a value, got {', '.join(record)}")
    rated = rate(found, read_annotations(), _PEOPLE)
    if reason := rated.pop("read_error", None):
        raise RecordError(reason)
    if rated:
        yield {"interaction_id": found["trace"], "rated_at": found["time"], "comment": found["comment"], **rated}


@cache
def read_annotations() -> Sequence[Mapping[str, str | None]]:
    """Return the criteria that the project of this process maps the names of scores to."""
    return read_dialects(Path(DIALECTS_FILE)).annotations


def rate(
    score: Mapping[str, str | None], annotations: Sequence[Mapping[str, str | None]], people: frozenset[str]
) -> dict[str, str | None]:
    """Return a score as columns of a rating, with the reason where it is none; nothing for that of a program."""
    name, value, source = (score.get(part) or "" for part in ("name", "value", "source"))
    named = [each for each in annotations if each["name"] == name]
    # what a value means goes before what its name means
    of_value = (each for each in named if each["value"] is not None and _are_equal(each["value"], value))
    meant = next(of_value, next((each for each in named if each["value"] is None), None))
    # a user presses in the application, or is a person to the tool
    if meant is None and plain_name(name) in _NAMES and source.lower() in {*people, "api", "app"}:
        return {"rater": name, "rater_kind": USER_FEEDBACK, "criterion": USER_FEEDBACK, "scale_point": value}
    if source.lower() not in people:
        return {}
    own = {"rater": score.get("rater") or "unnamed", "rater_kind": "person"}
    if meant is None:
        reason = f"annotation without a criterion in {DIALECTS_FILE}: " + f"{name} = {value}"[:SHOWN]
        return {**own, "criterion": None, "scale_point": value, "read_error": reason}
    return {**own, "criterion": meant["criterion"], "scale_point": meant["scale_point"] or value}


def _are_equal(first: str, second: str) -> bool:
    """Return whether two values are one: 1 and 1.0 are one number."""
    try:
        return first == second or float(first) == float(second)
    except ValueError:
        return False
