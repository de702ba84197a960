"""Find numbers with check sums by recognisers of Presidio, without a network."""

import re
from functools import cache
from typing import Any, Final

from hcat.privacy.spans import Span, fold_text

#: Recogniser that verifies a check sum -> type of what it finds, and a short expression that must match before it is
#: asked: Presidio is slow even where it finds nothing.
_RECOGNISERS: Final = {
    "CreditCardRecognizer": ("card", re.compile(r"\d{4}[- ]?\d{3}")),
    "IbanRecognizer": ("iban", re.compile(r"[a-z]{2}\d{2}[ -]?[a-z0-9]{4}", re.IGNORECASE)),
    "CryptoRecognizer": ("account", re.compile(r"[a-z0-9]{26}", re.IGNORECASE)),
}

#: Presidio gives 1.0 to a confirmed check sum and less to a bare pattern.
_MINIMUM_SCORE: Final = 0.5


@cache
def _load(name: str) -> Any:
    from presidio_analyzer import predefined_recognizers

    return getattr(predefined_recognizers, name)()


def ask_presidio(text: str, *, is_necessary_only: bool = True) -> list[Span]:
    """Return the spans that recognisers of Presidio find in a text; none for a text without a digit."""
    if not any(character.isdigit() for character in text):
        return []
    folded = fold_text(text)
    return [
        Span(result.start, result.end, entity_type, "presidio")
        for name, (entity_type, necessary) in _RECOGNISERS.items()
        if not is_necessary_only or necessary.search(folded)
        for recogniser in [_load(name)]
        for result in recogniser.analyze(folded, recogniser.supported_entities, None) or []
        if result.score >= _MINIMUM_SCORE
    ]
