"""Tell whether a number bounds from below or from above: "at least 5 days", "up to 5", "not before 5 May"."""

import re
from pathlib import Path
from typing import Final

from hcat.language.expressions import read_expressions
from hcat.language.words import analyse_word

LEAST: Final = "\u2265"
MOST: Final = "\u2264"
OPPOSITE: Final = {LEAST: MOST, MOST: LEAST}

_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))
_BOUND, _BEHIND, _DENIAL, _AHEAD, _POINT, _SPAN, _DURING = (
    re.compile(_WRITTEN[name]) for name in ("bound", "behind", "denial", "ahead", "point", "span", "during")
)
#: Stems of the words of bounds, which a sentence with the other bound lacks.
BOUND_STEMS: Final = frozenset(
    key for word in re.findall(r"[^\W\d_]{3,}", _WRITTEN["bound"] + _WRITTEN["behind"]) for key in analyse_word(word)[1]
)
_REACH = 40


def read_bound(lower: str, start: int, end: int, form: str) -> str:
    """Return :data:`LEAST` or :data:`MOST` for a number with a bound, in lower case, else an empty string."""
    found = _BOUND.search(lower, max(0, start - _REACH), start)
    if found:
        is_apart = bool(found["since"] or found["until"]) and not _POINT.match(form)
        is_range = found["range"] and re.search(r"\d", lower[max(0, found.start() - _REACH) : found.start()])
        if is_apart or is_range or (_DURING.match(found["least"] or "") and _SPAN.match(form)):
            found = None
    found = found or _BEHIND.match(lower, end)
    beside = lower[: found.start()] + lower[max(end, found.end()) :] if found else ""
    if not found or _DENIAL.search(beside) or (_SPAN.match(form) and _AHEAD.match(lower, end)):
        return ""
    said = found.groupdict()
    bound = LEAST if said["least"] or said.get("since") else MOST
    return OPPOSITE[bound] if said.get("denied") else bound
