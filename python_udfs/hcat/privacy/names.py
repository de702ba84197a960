"""Find names of persons and places by cues in the text, and by lists of names and ordinary words."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from hcat.language.expressions import fold_case, read_expressions
from hcat.language.given_names import (
    ORGANISATION_WORDS,
    all_given_names,
    given_names,
    is_ordinary_word,
    is_spelled_like_name,
    surnames,
    word_set,
)
from hcat.privacy.spans import MONTH_WORDS, Span, Token, skip_dot

_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))
COMPANIES_LIKE_PERSONS: Final = frozenset(map(str.strip, _WRITTEN["companies"].split("|")))
"""Well-known firms whose names look like names of people."""

_TITLES: Final = word_set(_WRITTEN["titles"])
_NOT_NAMES: Final = word_set(_WRITTEN["not_names"])
_NEVER_IN_NAMES: Final = ORGANISATION_WORDS | _NOT_NAMES
_NEVER_IN_PLACES: Final = ORGANISATION_WORDS | MONTH_WORDS
_NAME_PARTICLES: Final = word_set("de da dos das del della di du la le van von der den ter ten bin ibn al el af zu")
# What stands before a name is read in lower case.
_STRONG_CUE, _WEAK_CUE, _SPEECH_CUE, _PLACE_CUE = (
    re.compile(_WRITTEN[name]) for name in ("strong_cue", "weak_cue", "speech_cue", "place_cue")
)
_AFTER_CUE = re.compile(_WRITTEN["after_cue"], re.IGNORECASE)
_BELONGS_CUE = re.compile(_WRITTEN["belongs_cue"])
_PRONOUN = re.compile(_WRITTEN["pronoun"])
# Every cue of a place ends like this. It is tried first because it looks back ten characters only.
_PLACE_CUE_END = re.compile(r"(?:in|to|from|of|visit(?:ed|ing)?)[ \t]{1,2}\Z")
MAXIMUM_NAME_WORDS: Final = 4


def is_person_name(words: Sequence[str], *, is_cued: bool = False) -> bool:
    """Return whether capitalised words can be a person's name."""
    lower = [word.lower().removesuffix("'s").removesuffix("\u2019s") for word in words]
    long = [word for word in lower if len(word) > 1]
    if not long or not is_spelled_like_name(words) or not _NEVER_IN_NAMES.isdisjoint(long):
        return False
    if " ".join(lower) in COMPANIES_LIKE_PERSONS:
        return False
    if any(word in given_names() for word in long):
        return True
    rare = [word for word in long if not is_ordinary_word(word) and word not in _NAME_PARTICLES]
    if is_cued:
        return bool(rare) or all(word in surnames() for word in long)
    return len(rare) >= 1 and len(long) >= 2 and all(not is_ordinary_word(word) or word in surnames() for word in long)


def is_part_of_firm(text: str, start: int, end: int) -> bool:
    """Return whether an ampersand stands directly before or after a name ("Johnson & Johnson")."""
    return text[max(0, start - 3) : start].rstrip().endswith("&") or text[end : end + 3].lstrip().startswith("&")


def read_name(tokens: Sequence[Token], index: int, *, is_any_case: bool = False) -> int:
    """Return the index of the token after the name that begins at ``index``; ``index`` itself if there is no name."""
    past = index
    words = 0
    while past < len(tokens) and words < MAXIMUM_NAME_WORDS:
        token = tokens[past]
        if past > index and token.opens_line:
            break
        if token.kind == "word":
            if token.lower in _NOT_NAMES and len(token.text) > 1:
                break
            if past > index and token.lower in _NAME_PARTICLES and token.text.islower():
                past += 1
                continue
            if not (token.text[0].isupper() or is_any_case):
                break
            words += 1
        elif not (token.text == "." and past > index and len(tokens[past - 1].text) == 1):
            break
        past += 1
    while past > index and tokens[past - 1].lower in _NAME_PARTICLES and tokens[past - 1].text.islower():
        past -= 1
    return past


def find_persons(text: str, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield names of persons that a cue announces: a title, "my name is", "'s account", a middle initial."""
    is_lower = text.islower()
    past = 0
    for index, token in enumerate(tokens):
        if index < past or token.kind != "word":
            continue
        if token.lower in _TITLES and (token.text[0].isupper() or is_lower):
            start = skip_dot(tokens, index + 1)
            end = read_name(tokens, start)
            if end > start and tokens[start].lower not in ORGANISATION_WORDS:
                yield _name_span(tokens, start, end, "title")
                past = end
                continue
        if not (token.text[0].isupper() or is_lower) or token.lower in _NOT_NAMES:
            continue
        end = read_name(tokens, index, is_any_case=is_lower)
        if end > index and (rule := _person_rule(text, tokens, index, end, is_lower)) is not None:
            yield _name_span(tokens, index, end, rule)
        past = index if is_lower else end


def _person_rule(text: str, tokens: Sequence[Token], index: int, past: int, is_lower: bool) -> str | None:
    """Return the rule by which the tokens from ``index`` to ``past`` are a person's name, or None."""
    words = [token.text for token in tokens[index:past] if token.kind == "word"]
    if all(is_ordinary_word(word.lower()) for word in words):
        return None  # every rule needs a word that is not ordinary; given names never are
    before = fold_case(text[max(0, tokens[index].start - 50) : tokens[index].start])
    after = text[tokens[past - 1].end : tokens[past - 1].end + 100]
    if is_part_of_firm(text, tokens[index].start, tokens[past - 1].end):
        return None
    # the words are checked first, because expressions that look back are slow
    is_rare = is_person_name(words, is_cued=True)
    if is_rare and not (is_lower and len(words) > 3) and _STRONG_CUE.search(before):
        return "cue_before"
    if is_lower:
        return None
    if _has_middle_initial(words) and is_person_name(words):
        return "middle_initial"
    is_shouted = all(word.isupper() for word in words if len(word) > 1)
    if is_shouted:
        return None
    has_given = words[0].lower() in given_names()
    if has_given and len(words) >= 2 and is_person_name(words):
        return "given_name"
    if is_rare and _AFTER_CUE.match(after):
        return "cue_after"
    if is_rare and len(words) == 1 and _PRONOUN.match(after):
        return "pronoun"
    # a state or a number makes it a place: "Austin, TX", "Florence 12"
    if has_given and len(words) == 1 and not re.match(r"(?:, ?[A-Z]{2}\b| [0-9])", after):
        return "given_name_alone"
    if is_rare and _SPEECH_CUE.search(before):
        return "cue_before"
    if is_rare and _BELONGS_CUE.match(after):
        return "cue_after"
    all_rare = all(not is_ordinary_word(word.lower()) for word in words if len(word) > 1)
    if all_rare and 2 <= len(words) <= 3 and is_person_name(words) and not _PLACE_CUE.search(before):
        return "rare_words"
    if len(words) >= 2 and is_person_name(words) and _WEAK_CUE.search(before):
        return "cue_before"
    return None


def _has_middle_initial(words: Sequence[str]) -> bool:
    return len(words) >= 3 and len(words[0]) > 1 and any(len(word) == 1 for word in words[1:-1]) and len(words[-1]) > 1


_PERSON_ROLES = word_set(
    "customer client user employee manager owner adviser advisor holder cardholder contact payee beneficiary signatory "
    "reviewer clerk teller author person agent officer borrower applicant guarantor spouse caller sender recipient"
)
_NAME_PARTS = word_set("first last full given family middle maiden sur")
_NAMES_OF_PERSONS = word_set("surname username fullname firstname lastname forename nickname maidenname")
_FIELD_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_person_field(field: str, value: str) -> bool:
    """Return whether a field of a record holds a person's name, judged by the name of the field."""
    words = [word.lower() for word in _FIELD_WORD.findall(field)]
    words[-1:] = [word if word in _PERSON_ROLES else word.removesuffix("s") for word in words[-1:]]
    if not words or not any(map(str.isalpha, value)):
        return False
    if words[-1] in _NAMES_OF_PERSONS or (words[-1] == "name" and set(words) & (_PERSON_ROLES | _NAME_PARTS)):
        return True
    if words[-1] not in _PERSON_ROLES:
        return False
    parts = re.findall(r"[^\W\d_]{2,}", value.lower())
    return not ORGANISATION_WORDS.intersection(parts) and any(
        part in all_given_names() or part in surnames() or not is_ordinary_word(part) for part in parts
    )


def find_cued_places(text: str, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield places that a cue announces: capitalised words after "live in", "travelling to", "originally from"."""
    lower = fold_case(text)
    for index, token in enumerate(tokens):
        if token.kind != "word" or not token.text[0].isupper() or (index and tokens[index - 1].text[0].isupper()):
            continue
        if not _PLACE_CUE_END.search(lower, max(0, token.start - 10), token.start):
            continue
        if not _PLACE_CUE.search(lower, max(0, token.start - 50), token.start):
            continue
        past = read_name(tokens, index)
        words = [part.lower for part in tokens[index:past] if part.kind == "word"]
        if any(len(word) > 1 for word in words) and _NEVER_IN_PLACES.isdisjoint(words):
            yield Span(token.start, tokens[past - 1].end, "place", "cue_before")


def _name_span(tokens: Sequence[Token], start: int, past: int, rule: str) -> Span:
    last = tokens[past - 1]
    end = last.end - (len("'s") if last.text.endswith(("'s", "\u2019s")) else 0)
    return Span(tokens[start].start, end, "person", rule)
