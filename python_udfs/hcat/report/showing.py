"""Texts and numbers as the report shows them."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from hcat.engine.keys import hash_text
from hcat.engine.warehouse import Row
from hcat.language.display import LABEL_CHARACTERS, clean_label

#: Characters shown of a text from the logs; longer texts are cut with an ellipsis, which the report explains.
QUERY_CHARACTERS = 400
ANSWER_CHARACTERS = 900
SENTENCE_CHARACTERS = 400
EXCERPT_CHARACTERS = 240
#: Rows that a table shows; the number left out is shown below it. These limits bound the size of the file only.
MAXIMUM_SYSTEMS = 12
#: Shares below it are rounding errors of 0.
NEGLIGIBLE_SHARE = 1e-12


def format_number(value: float | None, unit: str | None = None) -> str:
    """Return ``value`` with three significant digits; whole numbers with separators; an en dash for None."""
    if value is None or not math.isfinite(value):
        return "–"
    if unit == "share":
        return format_percent(value)
    if isinstance(value, int) or (abs(value) >= 1000):
        return f"{value:,.0f}".replace("-", "−")
    if value == 0:
        return "0"
    return f"{value:#.3g}".rstrip(".").replace("-", "−")


def format_percent(share: float | None) -> str:
    """Return ``share`` (1 is all) in percent with three significant digits; never 100 % for less than all."""
    if share is None or not math.isfinite(share):
        return "–"
    if abs(share) < NEGLIGIBLE_SHARE:
        return "0 %"
    if share == 1:
        return "100 %"
    text = f"{share * 100:#.3g}".rstrip(".")
    return "> 99.9 %" if text == "100" and share < 1 else f"{text} %".replace("-", "−")


def format_level(share: float) -> str:
    """Return a chosen level in percent, as it was chosen: 90 % and not 90.0 %."""
    return f"{100 * share:.6g} %"


def format_points(difference: float | None) -> str:
    """Return a difference of shares in percentage points with its sign; an en dash for None."""
    if difference is None or not math.isfinite(difference):
        return "–"
    points = format_number(abs(difference) * 100)
    return points if points == "0" else f"{'−' if difference < 0 else '+'}{points}"


def to_anchor(kind: str, name: str) -> str:
    """Return the id of an element of the page, from a word of the report and a name that may hold anything."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:48]
    # names that look alike once they are cut stay apart
    return f"{kind}-{plain}" if plain == name else f"{kind}-{plain}-{hash_text(name)[:8]}"


def describe_segment(row: Row) -> str:
    """Return the segment of a marginal or bivariate row on one line, cleaned."""
    if row.get("dimension") == "all":
        return "all interactions"
    if row.get("first_dimension") is None:
        return f"{row['dimension']} = {clean_label(row['segment'])}"
    first = f"{row['first_dimension']} = {clean_label(row['first_segment'])}"
    if row.get("second_dimension") is None:
        return first
    return f"{first}, {row['second_dimension']} = {clean_label(row['second_segment'])}"


def format_interval(lower: float | None, upper: float | None, unit: str | None = None) -> str:
    """Return ``[lower, upper]`` as :func:`format_number`; the empty string when a bound is missing."""
    if lower is None or upper is None or not (math.isfinite(lower) and math.isfinite(upper)):
        return ""
    if unit == "share":
        low, high = (format_percent(bound).removesuffix(" %") for bound in (lower, upper))
        return f"[{low}, {high}] %"
    return f"[{format_number(lower)}, {format_number(upper)}]"


def format_value(value: float | None, measurement: str) -> str:
    """Return a mean score as a number, and a share in percent."""
    return format_number(value) if measurement == "mean_score" else format_percent(value)


def format_difference(difference: float | None, measurement: str | None) -> str:
    """Return a difference of mean scores as a number, and a difference of shares in percentage points."""
    return format_number(difference) if measurement == "mean_score" else format_points(difference)


def format_difference_interval(lower: float | None, upper: float | None, measurement: str) -> str:
    """Return the interval of a difference as :func:`format_difference`; the empty string when a bound is missing."""
    if lower is None or upper is None:
        return ""
    return f"[{format_difference(lower, measurement)}, {format_difference(upper, measurement)}]"


def distinct_labels(names: Sequence[str]) -> dict[str, str]:
    """Return a short label for every name; names that are equal after cutting get numbers."""
    labels: dict[str, str] = {}
    for name in names:
        label = clean_label(name)
        number = 2
        while label in labels.values():
            label = f"{clean_label(name, LABEL_CHARACTERS - 6)} ({number})"
            number += 1
        labels[name] = label
    return labels


def as_markup(svg: str) -> Any:
    """Return ``svg`` marked as safe for the template, after a check that it holds no script and no reference."""
    # the drawing library escapes text, so that any of these would be an element or attribute and no text of a log
    forbidden = re.search(
        r"<\s*(?:script|foreignObject|image|iframe|a)\b|<[^>]*\s(?:on\w+|href|xlink:href|src)\s*=", svg, re.I
    )
    if forbidden:
        raise ValueError(f"a chart must hold no script and no reference, got {forbidden[0][:40]!r}")
    return Markup(svg)


def group_by(rows: Sequence[Row], key: str) -> dict[str, list[Row]]:
    """Return the rows by their value of ``key``; values and rows keep their order."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def ratio(part: int, whole: int) -> float | None:
    """Return ``part / whole``; None where ``whole`` is 0."""
    return part / whole if whole else None


def format_time(value: Any) -> str:
    """Return a time in UTC as text; ``unknown`` for None."""
    return "unknown" if value is None else f"{value:%Y-%m-%d %H:%M:%S} UTC"


def format_day(value: Any, otherwise: str = "–") -> str:
    """Return the day of a date, of a time or of a text."""
    return otherwise if value is None else f"{value:%Y-%m-%d}" if hasattr(value, "year") else clean_label(value)


def format_period(counts: Row) -> str:
    """Return the first and last day of the logged queries."""
    first, last = counts["first_asked_at"], counts["last_asked_at"]
    return "time not logged" if first is None or last is None else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def read_json(text: str | None) -> dict[str, Any]:
    """Return a JSON object; an empty one where ``text`` is none, as in a ledger of an older version."""
    try:
        value = json.loads(text or "{}")
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
