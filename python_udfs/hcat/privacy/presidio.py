"""Find numbers with check sums by recognisers of Presidio, without a network."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any, Final

from hcat.engine.devices import ModelError
from hcat.privacy.spans import Span, fold_text

DEFAULT_PRESIDIO_RECOGNISERS: Final = ("CreditCardRecognizer", "IbanRecognizer", "CryptoRecognizer")
"""Recognisers of Presidio that verify a check sum. More can be named (`AuTfnRecognizer`, ...)."""

PRESIDIO_TYPES: Final = {
    "CREDIT_CARD": "card",
    "IBAN_CODE": "iban",
    "CRYPTO": "account",
    "US_SSN": "ssn",
    "US_ITIN": "ssn",
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "US_BANK_NUMBER": "account",
    "ABA_ROUTING_NUMBER": "account",
    "UK_NINO": "national_insurance",
    "UK_NHS": "reference",
    "US_PASSPORT": "reference",
    "US_DRIVER_LICENSE": "reference",
    "AU_TFN": "reference",
    "AU_ABN": "reference",
    "AU_MEDICARE": "reference",
    "IN_AADHAAR": "reference",
    "IN_PAN": "reference",
    "SG_NRIC_FIN": "reference",
    "ES_NIF": "reference",
    "IT_FISCAL_CODE": "reference",
    "PL_PESEL": "reference",
    "FI_PERSONAL_IDENTITY_CODE": "reference",
}
"""Type of Presidio -> type of :data:`hcat.privacy.spans.ENTITY_TYPES`."""

MINIMUM_PRESIDIO_SCORE: Final = 0.5
"""Findings below this score are dropped. Presidio gives 1.0 to a confirmed check sum and less to a bare pattern."""

#: A recogniser is asked only where its short pattern matches, because Presidio is slow even where it finds nothing.
_NECESSARY: Final = {
    "CreditCardRecognizer": re.compile(r"\d{4}[- ]?\d{3}"),
    "IbanRecognizer": re.compile(r"[a-z]{2}\d{2}[ -]?[a-z0-9]{4}", re.IGNORECASE),
    "CryptoRecognizer": re.compile(r"[a-z0-9]{26}", re.IGNORECASE),
}

_LOCK = threading.Lock()
_PRESIDIO: dict[tuple[str, ...], list[Any]] = {}


def load_presidio(names: Sequence[str]) -> list[Any]:
    """Return the recognisers of Presidio with the given names, loaded once per process and kept off the network."""
    key = tuple(names)
    if not key:
        return []  # and import nothing: Presidio brings torch and transformers along
    with _LOCK:
        if key not in _PRESIDIO:
            try:
                import tldextract
                from presidio_analyzer import predefined_recognizers
            except ImportError as error:
                raise ModelError(f"privacy needs Presidio, which comes with hcat, got: {error}") from None

            # the e-mail recogniser asks this library for top-level domains; the packaged list is used
            offline = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
            vars(tldextract)["extract"] = offline
            tldextract.tldextract.TLD_EXTRACTOR = offline
            loaded = []
            for name in key:
                recogniser = getattr(predefined_recognizers, name, None)
                if recogniser is None:
                    raise ValueError(f"presidio recognisers must be classes of presidio_analyzer, got {name!r}")
                made = recogniser()
                unknown = sorted(set(made.supported_entities) - set(PRESIDIO_TYPES))
                if unknown:
                    raise ValueError(f"types of {name} must be among {sorted(PRESIDIO_TYPES)}, got {unknown}")
                loaded.append(made)
            _PRESIDIO[key] = loaded
        return _PRESIDIO[key]


def ask_presidio(text: str, recognisers: Sequence[Any]) -> list[Span]:
    """Return the spans that recognisers of Presidio find in a text; none for a text without a digit."""
    if not recognisers or not any(character.isdigit() for character in text):
        return []
    folded = fold_text(text)
    return [
        Span(result.start, result.end, PRESIDIO_TYPES[result.entity_type], "presidio")
        for recogniser in recognisers
        if _can_match(type(recogniser).__name__, folded)
        for result in recogniser.analyze(folded, recogniser.supported_entities, None) or []
        if result.score >= MINIMUM_PRESIDIO_SCORE
    ]


def _can_match(recogniser: str, folded: str) -> bool:
    necessary = _NECESSARY.get(recogniser)
    return necessary is None or necessary.search(folded) is not None
