"""Find all personal data of a text, without overlap: by rules, by the tagger of spaCy and by Presidio."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

from hcat.language.expressions import fold_case
from hcat.language.given_names import ORGANISATION_WORDS, is_ordinary_word, surnames
from hcat.privacy.addresses import find_addresses
from hcat.privacy.identifiers import (
    PATTERNS,
    find_accounts,
    find_cards,
    find_emails,
    find_ibans,
    find_phones,
    find_references,
    find_ssns,
    find_transactions,
)
from hcat.privacy.names import find_cued_places, find_persons
from hcat.privacy.numbers import identifies_nobody
from hcat.privacy.spans import ENTITY_TYPES, Span, fold_text, read_tokens
from hcat.privacy.tagger import tag_texts

CANARY: Final = re.compile(r"\bHCAT-[0-9A-Fa-f]{6,}\b|\bHCAT-CANARY-\w+\b")
"""A word that hcat planted. Its digits are nobody's telephone number, and a mask would hide that the word leaked."""


_UNCUED_PERSON_RULES = frozenset(("tagger", "tagger_and_name", "given_name", "given_name_alone"))
_ORDER: Final = {entity_type: position for position, entity_type in enumerate(ENTITY_TYPES)}

_LIST = re.compile(
    r"[^\W\d_][\w'\u2019-]{1,24}(?:, ?[^\W\d_][\w'\u2019-]{1,24}){1,30}(?:,? (?:and|or|&) [^\W\d_][\w'\u2019-]{1,24})?"
)


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
    lower = fold_case(folded)
    for expression, group, entity_type, rule, necessary in PATTERNS:
        if necessary.search(lower):
            found += [Span(*match.span(group), entity_type, rule) for match in expression.finditer(folded)]
    found += find_addresses(folded, tokens)
    found += find_persons(folded, tokens)
    found += find_cued_places(folded, tokens)
    return found


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


def find_spans(texts: Sequence[str], *, is_tagged: bool = True) -> list[list[Span]]:
    """Return the personal data of each text in order of place, without overlap; without the tagger by rules alone."""
    distinct = list(dict.fromkeys(texts))
    found: dict[str, list[Span]] = {}
    tags = tag_texts(distinct) if is_tagged else iter([[] for _ in distinct])
    for text, tagged in zip(distinct, tags, strict=True):
        folded = fold_text(text)
        spans = find_by_rules(text) + tagged + (ask_presidio(text) if is_tagged else [])
        spans = [span for span in spans if not identifies_nobody(folded, span)]
        spans = _prefer_cued_places(spans)
        spans += _find_again(text, spans) + _find_in_lists(text, spans)
        found[text] = resolve_overlaps(text, spans)
    return [found[text] for text in texts]


def resolve_overlaps(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return spans without overlap, in order of place."""
    distinct = dict.fromkeys(spans)  # keeps the order found, which decides between equal spans
    if not distinct:
        return []
    waiting = sorted(distinct, key=lambda span: (_ORDER[span.entity_type], span.start - span.end, span.start))
    owner = [-1] * len(text)
    for canary in CANARY.finditer(text):
        owner[canary.start() : canary.end()] = [0] * len(canary.group())
    taken: list[Span] = []
    for span in waiting:
        # the longest stretch without an owner, the first of equals
        taken_places = (position for position in range(span.start, span.end) if owner[position] >= 0)
        borders = pairwise([span.start - 1, *taken_places, span.end])
        left, end = max(borders, key=lambda pair: pair[1] - pair[0])
        start = left + 1
        if (start, end) != (span.start, span.end):
            kept = [place for place in range(start, end) if text[place].isalnum()]
            if len(kept) < 3:
                continue
            start, end = kept[0], kept[-1] + 1
        if start < end:
            owner[start:end] = [len(taken)] * (end - start)
            taken.append(span._replace(start=start, end=end))
    return sorted(taken)


def _prefer_cued_places(spans: Sequence[Span]) -> list[Span]:
    """Return the spans without persons found in a place that a cue announces: "originally from Dolores"."""
    places = [span for span in spans if span.entity_type == "place" and span.rule == "cue_before"]
    return [
        span
        for span in spans
        if span.entity_type != "person"
        or span.rule not in _UNCUED_PERSON_RULES
        or not any(span.start < place.end and place.start < span.end for place in places)
    ]


def _find_again(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return further mentions of single words of a full name in the same text: "Ana Dias ... Dias"."""
    parts = {
        word.text
        for span in spans
        if span.entity_type == "person"
        for words in [[token for token in read_tokens(text[span.start : span.end]) if token.kind == "word"]]
        if len(words) >= 2
        for word in words
        if len(word.text) >= 3 and word.text[0].isupper() and word.lower not in ORGANISATION_WORDS
        if not is_ordinary_word(word.lower) or word.lower in surnames()
    }
    if not parts:
        return []
    return [
        Span(token.start, token.end, "person", "named_before")
        for token in read_tokens(text)
        if token.text in parts or token.text.removesuffix("'s") in parts
    ]


def _find_in_lists(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return all members of a list of capitalised words of which at least two, and at least half, are persons."""
    persons = {(span.start, span.end) for span in spans if span.entity_type == "person"}
    if len(persons) < 2:
        return []
    found = []
    for match in _LIST.finditer(text):
        words = [
            (match.start() + token.start, match.start() + token.end, token)
            for token in read_tokens(match.group())
            if token.kind == "word" and token.lower not in ("and", "or")
        ]
        capitals = [word for word in words if word[2].text[0].isupper() or text.islower()]
        known = [word for word in capitals if word[:2] in persons]
        if len(capitals) == len(words) and len(known) >= 2 and 2 * len(known) >= len(words):
            found += [
                Span(start, end, "person", "list")
                for start, end, token in capitals
                if token.lower not in ORGANISATION_WORDS
            ]
    return found
