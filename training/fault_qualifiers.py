"""Faults by a dropped qualifier: "up to 5 %" becomes "5 %", and a condition at the end of a sentence goes."""

import re
from collections.abc import Iterator

from hcat.test_set.perturbation.forms import Edit

# A word or phrase before what it limits.
_LIMITS_LIST = (
    "up to",
    "at least",
    "at most",
    "no more than",
    "no less than",
    "not more than",
    "more than",
    "less than",
    "fewer than",
    "only",
    "usually",
    "generally",
    "sometimes",
    "partly",
    "some",
    "most",
    "several",
    "a few",
    "nearly all",
    "almost all",
)
_LIMIT = re.compile(rf"\b(?:{'|'.join(_LIMITS_LIST)}) (?=(?P<next>[^\W_][\w'\u2019-]*))", re.IGNORECASE)
# "most of the money" and "only if" say something else without the word.
_NO_LIMIT_BEFORE = frozenset({"of", "if", "when", "to", "than", "time", "not", "one"})
_CONDITION = re.compile(
    r",? (?:unless|except(?: for)?|provided that|as long as|if|when|only if|but not|excluding)\b "
    r"[^,.;:!?]{5,100}(?=[.!]?\Z)"
)
_FEWEST_WORDS_LEFT = 4


def find_qualifiers(sentence: str) -> Iterator[Edit]:
    """Yield an edit for each qualifier that may be dropped."""
    for match in _LIMIT.finditer(sentence):
        following = match["next"]
        if following.casefold() not in _NO_LIMIT_BEFORE:
            is_opening = match.group()[0].isupper()
            after = following[0].upper() + following[1:] if is_opening else following
            yield Edit(match.start(), match.end("next"), after)
    condition = _CONDITION.search(sentence)
    if condition is not None and len(sentence[: condition.start()].split()) >= _FEWEST_WORDS_LEFT:
        # The last word before stays inside the edit, which must leave something.
        start = sentence.rfind(" ", 0, condition.start()) + 1
        yield Edit(start, condition.end(), sentence[start : condition.start()])
