"""Mask personal data in texts: a mask shows the type of a value, and of long numbers the last characters."""

from collections.abc import Sequence
from typing import Final

from hcat.privacy.recognition import find_spans
from hcat.privacy.spans import ENTITY_TYPES, Span

NUMBER_TYPES: Final = frozenset(
    ("iban", "card", "ssn", "national_insurance", "sort_code", "account", "reference", "phone")
)
"""Types whose mask shows the last characters of long values; all others show the type alone."""


def mask_value(value: str, entity_type: str) -> str:
    """Return the masked form of a value: `****1234` for long numbers, `****34` for shorter ones, else the type."""
    if entity_type not in ENTITY_TYPES:
        raise ValueError(f"entity_type must be among {ENTITY_TYPES}, got {entity_type!r}")
    if entity_type not in NUMBER_TYPES:
        return f"[{entity_type}]"
    characters = [character for character in value if character.isalnum()]
    if not all(character.isascii() for character in characters) or not any(map(str.isdigit, characters)):
        return "****"  # spelled numbers: the last letters would tell a digit
    shown = 4 if len(characters) >= 12 else 2 if len(characters) >= 8 else 0
    return "****" + "".join(characters[len(characters) - shown :])


def mask_text(text: str, *, is_tagged: bool = True) -> str:
    """Return a text in which all personal data that is found is masked; data that is not found stays readable."""
    return apply_masks(text, find_spans([text], is_tagged=is_tagged)[0])


def apply_masks(text: str, spans: Sequence[Span]) -> str:
    """Return a text in which each span is replaced by its masked form."""
    parts = []
    position = 0
    for span in spans:
        parts += [text[position : span.start], mask_value(text[span.start : span.end], span.entity_type)]
        position = span.end
    return "".join([*parts, text[position:]])
