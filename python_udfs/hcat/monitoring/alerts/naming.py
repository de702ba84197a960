"""Names and numbers as an alert shows them, which leaves the warehouse (docs/operations.md, private data).

Names of segments come from logs: what looks like an address or a number of a person is masked.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from hcat.language.display import clean_label

#: Characters of a name from logs or seeds.
NAME_CHARACTERS: Final = 60

# What may name or reach a person, in names that come from logs: mail addresses, IBANs, long numbers (phones, cards,
# accounts; a date has eight digits).
_PERSONAL: Final = re.compile(
    r"[^\s@<>]+@[^\s@<>]+\.\w+"
    r"|\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?\b"
    r"|(?<![\d.,])\+?\(?\d(?:[ ()/-]{0,2}\d){8,}"
)


def mask(text: object) -> str:
    """Return ``text`` with what may name or reach a person replaced."""
    return _PERSONAL.sub("[masked]", str(text))


def name_segments(cell: Iterable[tuple[object, object]], is_hiding: bool) -> str:
    """Return the dimensions of a cell and their segments, escaped; dimensions that are null are left out."""
    named = ((dimension, segment) for dimension, segment in cell if dimension is not None)
    if is_hiding:
        named = ((name, hide_segment(one)) for name, one in named)
    return " and ".join(f"{as_code(dimension)} is {as_code(segment)}" for dimension, segment in named)


def hide_segment(segment: object) -> str:
    """Return a hash in the place of a segment."""
    return f"segment {hashlib.sha256(str(segment).encode()).hexdigest()[:8]}"


def escape(text: object, length: int = NAME_CHARACTERS) -> str:
    """Return a name or sentence masked, cleaned, cut to ``length`` characters and escaped for Slack."""
    # no backtick: it would open or close code
    shown = clean_label(mask(text), length).replace("`", "\N{RIGHT SINGLE QUOTATION MARK}")
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_id(text: object) -> str:
    """Return an id that hcat made, of letters, digits, `-` and `_` alone: it names nobody."""
    return re.sub(r"[^A-Za-z0-9_-]", "", str(text))


def as_code(text: object) -> str:
    """Return a name as code: nothing in it is markup."""
    return f"`{escape(text)}`"


def format_number(value: float | None) -> str:
    """Return a number in at most four digits, a count in full with separators, and ``nothing`` for null or NaN."""
    if value is None or value != value:
        return "nothing"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
