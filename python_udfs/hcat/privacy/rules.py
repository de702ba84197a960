"""All rules together: the personal data that is found without a model."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from hcat.privacy.addresses import find_addresses
from hcat.privacy.identifiers import (
    find_accounts,
    find_cards,
    find_emails,
    find_ibans,
    find_patterns,
    find_phones,
    find_references,
    find_ssns,
    find_transactions,
)
from hcat.privacy.names import find_cued_places, find_persons
from hcat.privacy.spans import Span, fold_text, read_tokens

_DIGIT_RUN = re.compile(r"[0-9]")
_SIX_CLOSE_DIGITS = re.compile(r"[0-9](?:[ ./()-]{0,3}[0-9]){5}")
_TWELVE_CLOSE_DIGITS = re.compile(r"[0-9](?:[^A-Za-z0-9\n]{0,3}[0-9]){11}")
_FOUR_CLOSE_DIGITS = re.compile(r"[0-9](?:[ -]?[0-9]){3}")
#: Recognisers of numbers. Each is skipped unless its short expression matches, because most texts have few digits.
_NUMBER_RECOGNISERS: Final[tuple[tuple[Callable[[str], Iterator[Span]], re.Pattern[str]], ...]] = (
    (find_cards, _TWELVE_CLOSE_DIGITS),
    (find_ibans, _DIGIT_RUN),
    (find_ssns, _SIX_CLOSE_DIGITS),
    (find_phones, _SIX_CLOSE_DIGITS),
    (find_accounts, _FOUR_CLOSE_DIGITS),
    (find_references, re.compile(r"[0-9](?:[A-Z/-]{0,110}[0-9]){3}", re.IGNORECASE)),
    (find_transactions, _DIGIT_RUN),
)


def find_by_rules(text: str) -> list[Span]:
    """Return the spans that all rules find in a text; spans may overlap."""
    folded = fold_text(text)
    tokens = read_tokens(folded)
    found: list[Span] = []
    for recognise, necessary in _NUMBER_RECOGNISERS:
        if necessary.search(folded):
            found += recognise(folded)
    found += find_emails(folded)
    found += find_patterns(folded)
    found += find_addresses(folded, tokens)
    found += find_persons(folded, tokens)
    found += find_cued_places(folded, tokens)
    return found
