"""Find names, acronyms, identifiers, e-mail addresses and URLs in a sentence by rule, without a model."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from hcat.language.amounts import MEASURES
from hcat.language.mentions import DIGIT, Mention, claim
from hcat.language.text import STOP_WORDS, WORD_LISTS
from hcat.language.words import fold_accents, fold_word, stem_part

_CONNECTORS = frozenset({"of", "de", "del", "der", "van", "von", "la", "le", "du", "da", "di", "bin", "al"})
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "sir"})
_COURTESIES = frozenset({"mr", "mrs", "ms"})
_CORPORATE_SUFFIXES = frozenset(WORD_LISTS["corporate_suffixes"].split())
_ACRONYM_CONNECTORS = _CONNECTORS | {"for", "and", "the", "on", "to", "des"}
_STATES = {"united states": "us", "united kingdom": "uk", "european union": "eu", "united nations": "un"}
_STATE_ACRONYMS = {
    acronym + ending: name
    for acronym, name in [*((acronym, name) for name, acronym in _STATES.items()), ("usa", "united states")]
    for ending in ("", "'s")
}
STATE_CUES: Final = _STATE_ACRONYMS.keys() | {"united", "european"}
"""A text without one of these words, case-folded, names none of the states that have a short form."""
_STATE_NAME = re.compile(r"\b(?:united states(?: of america)?|usa|united kingdom|european union|united nations)\b")
_REGIONS: Final[dict[str, str]] = WORD_LISTS["regions"]
_REGION_ALIASES = {**_REGIONS, **{code: name for name, code in _REGIONS.items()}}
_OPENERS = STOP_WORDS | frozenset(WORD_LISTS["openers"].split())
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"')\]]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_IDENTIFIER = re.compile(
    r"(?<![\w$\u00a3\u20ac.])401\(?[kK]\)?(?!\w)"
    r"|(?<![\w$\u00a3\u20ac.,/-])(?=[A-Za-z]*[-/]?\d|\d+[-/]?[A-Za-z])"
    r"[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)*(?![\w])"
)
_IDENTIFIER_BREAK = re.compile("[-/]")
# Without a letter beside a digit there is no identifier; that is found faster.
_LETTER_BESIDE_DIGIT = re.compile(r"[0-9](?:[-/(]?[A-Za-z]|(?<=[A-Za-z][0-9])|(?<=[A-Za-z][-/][0-9]))")
_NUMBER_WITH_SUFFIX = re.compile(
    r"\d+(?:k|m|mn|bn|b|tn|st|nd|rd|th|s|x|am|pm|pp?|ct|bps?|" + "|".join(MEASURES) + r")|fy\d+"
)
_YEAR_PREFIXES = frozenset({"mid", "pre", "post", "early", "late", "since", "circa", "fy"})
_SENTENCE_BREAK = re.compile(r"[.!?:\n\r\"\u201c\u2022]")
_SMALL_WORDS_WITHIN_NAME = 2
_SEGMENTS_OF_A_NAME = 9  # with the small words between them
_INITIALS_OF_A_NAME = 8


def find_addresses(text: str, lower: str, claimed: bytearray) -> Iterator[Mention]:
    """Yield e-mail addresses and URLs in order."""
    if "@" in text or "://" in text or "www." in lower:
        for match in _ADDRESS.finditer(lower):
            key = match.group().rstrip(".,;:!?/")
            end = match.start() + len(key)
            if claim(match.start(), end, claimed):
                yield Mention(match.start(), end, text[match.start() : end], (key,))


def find_identifiers(text: str, claimed: bytearray) -> Iterator[Mention]:
    """Yield identifiers of letters and digits in order; their keys leave out hyphens, slashes and case."""
    if not _LETTER_BESIDE_DIGIT.search(text):
        return
    for match in _IDENTIFIER.finditer(text):
        surface = match.group()
        segments = _IDENTIFIER_BREAK.split(surface.lower())
        if _NUMBER_WITH_SUFFIX.fullmatch(segments[0]) or segments[0] in _YEAR_PREFIXES:
            continue
        if len(segments) > 1 and all(
            segment.isdigit() or _NUMBER_WITH_SUFFIX.fullmatch(segment) for segment in segments
        ):
            continue  # 5-10m
        is_mixed = any(not segment.isdigit() and DIGIT.search(segment) for segment in segments)
        has_capital = surface != surface.lower() and DIGIT.search(surface) is not None
        if (is_mixed or has_capital) and claim(match.start(), match.end(), claimed):
            yield Mention(match.start(), match.end(), surface, ("".join(segments).strip("()").replace("(", ""),))


def find_states(text: str, tokens: list[tuple[int, int, str]], folded: list[str]) -> set[str]:
    """Return the full names of the United States, the UK, the EU and the UN, if the text has them in any form."""
    is_upper = text.isupper()
    states = set()
    for position, word in enumerate(folded):
        if word in _STATE_ACRONYMS:
            surface = tokens[position][2]
            # "us" is no state, and "US" among capitals need not be one
            if _is_acronym(surface) and (not is_upper or "." in surface or len(tokens) == 1):
                states.add(_STATE_ACRONYMS[word])
        elif word in STATE_CUES and position + 1 < len(folded):
            name = f"{word} {_without_possessive(folded[position + 1])}"
            if name in _STATES:
                states.add(name)
    return states


def find_aliases(entities: Iterable[str], states: Iterable[str]) -> list[str]:
    """Return what else the names of a text support: the acronyms of its states, Texas for TX and TX for Texas."""
    return [
        *[_STATES[state] for state in states],
        *[_REGION_ALIASES[name] for name in _REGION_ALIASES.keys() & entities],
    ]


def find_names(
    text: str,
    tokens: list[tuple[int, int, str]],
    folded: list[str],
    claimed: bytearray,
    capitals: list[int],
    has_state: bool,
) -> Iterator[Mention]:
    """Yield capitalised spans and acronyms."""
    count = len(tokens)
    position = 0
    for first in capitals:
        if first < position or claimed[tokens[first][0]]:
            continue
        members = [first]
        following = first + 1
        while following < count:
            gap = text[tokens[following - 1][1] : tokens[following][0]]
            if claimed[tokens[following][0]] or not (
                _joins(gap, tokens[following - 1][2]) or (gap == ", " and folded[following] in _CORPORATE_SUFFIXES)
            ):
                break
            if tokens[following][2][0].isupper():
                members.append(following)
            elif not (
                folded[following] in _CONNECTORS or (folded[following] == "the" and following - 1 != members[-1])
            ):
                break
            following += 1
        position = members[-1] + 1
        yield from _name_mention(text, tokens, folded, members, has_state)


def find_acronyms(text: str, tokens: list[tuple[int, int, str]], folded: list[str], capitals: list[int]) -> set[str]:
    """Return the acronyms of at least three letters for the capitalised words that follow each other, case-folded."""
    acronyms: set[str] = set()
    segments: list[str] = []  # initials, in turn with the small words between them
    previous = -2
    for position in [*capitals, len(tokens) + 2]:
        link = None
        if segments:
            link = _acronym_link(text, tokens, folded, previous, position)
            if link is None:
                _add_acronyms(segments, acronyms)
                segments = []
        if position >= len(tokens):
            break
        surface = tokens[position][2]
        if _is_acronym(surface) or (not segments and folded[position] in STOP_WORDS):
            _add_acronyms(segments, acronyms)
            segments = []
            continue
        initial = folded[position][0]
        if link is None:
            segments = [initial]
        elif link == "" and folded[position] not in _CORPORATE_SUFFIXES:
            if len(segments[-1]) <= _INITIALS_OF_A_NAME:  # a longer row is no name, and need not grow
                segments[-1] += initial
        else:
            segments += [link, initial]
        previous = position
    return acronyms


def _name_mention(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], members: list[int], has_state: bool
) -> Iterator[Mention]:
    """Yield the name that the capitalised tokens form, if they form one."""
    opens_sentence = members[0] == 0 or (
        _SENTENCE_BREAK.search(text, tokens[members[0] - 1][1], tokens[members[0]][0]) is not None
    )
    first, last = 0, len(members)
    while (
        first < last
        and folded[members[first]] in (_OPENERS if opens_sentence else STOP_WORDS)
        and not _is_acronym(tokens[members[first]][2])
    ):
        first += 1
        opens_sentence = False
    # "Staff of the Day Surgery" names the Day Surgery: the first word has its capital from the sentence
    if opens_sentence and first + 1 < last and members[first + 1] - members[first] > _SMALL_WORDS_WITHIN_NAME:
        first += 1
        opens_sentence = False
    while first < last and folded[members[last - 1]] in STOP_WORDS and not _is_acronym(tokens[members[last - 1]][2]):
        last -= 1
    if first == last:
        return
    members = members[first:last]
    start, end = tokens[members[0]][0], tokens[members[-1]][1]
    surface = text[start:end]
    if len(members) == 1 and not _is_acronym(surface) and (opens_sentence or len(surface) == 1):
        return
    if surface.endswith(("'s", "\u2019s")):
        surface, end = surface[:-2], end - 2
    named = surface
    if len(members) == 1:
        if surface[-1] == "s" and _is_acronym(surface) and not surface.isupper():
            named = surface[:-1]  # ATMs
    elif folded[members[-1]] in _CORPORATE_SUFFIXES:
        while len(members) > 1 and folded[members[-1]] in _CORPORATE_SUFFIXES:
            members.pop()
        named = text[start : tokens[members[-1]][1]]
    key = " ".join(fold_accents(fold_word(named)).replace(".", "").replace(" & ", "&").split())
    parts: tuple[str, ...]
    if has_state:
        parts = _parts_with_states(tokens, folded, members)
        # or the USA, or with "of America"
        key = _STATE_NAME.sub(lambda match: _STATES.get(match.group()) or _STATES["united states"], key)
    else:
        parts = tuple(
            stem_part(folded[member])
            for member in members
            if folded[member] not in STOP_WORDS and (folded[member] not in _COURTESIES or len(members) == 1)
        )
    yield Mention(start, end, surface, (key,), parts)


def _parts_with_states(tokens: list[tuple[int, int, str]], folded: list[str], members: list[int]) -> tuple[str, ...]:
    """Return the parts of a name; all forms of one state (United States, US, USA) are the same part."""
    parts: list[str] = []
    position = 0
    while position < len(members):
        member = members[position]
        word = folded[member]
        position += 1
        name = ""
        if position < len(members) and members[position] == member + 1:
            name = f"{word} {_without_possessive(folded[member + 1])}"
        if name in _STATES:
            parts.append(name)
            position += 1
            if (
                position < len(members)
                and folded[members[position] - 1] == "of"
                and _without_possessive(folded[members[position]]) == "america"
            ):
                position += 1
        elif word in _STATE_ACRONYMS and _is_acronym(tokens[member][2]):
            parts.append(_STATE_ACRONYMS[word])
        elif word not in STOP_WORDS:
            parts.append(stem_part(word))
    return tuple(parts)


def _without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "\u2019s")) else word


def _acronym_link(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], previous: int, position: int
) -> str | None:
    """Return the initials of the small words between two capitalised words of one name, "&" for "and"."""
    if position - previous > _SMALL_WORDS_WITHIN_NAME + 1 or position >= len(tokens):
        return None
    gap = text[tokens[previous][1] : tokens[position][0]]
    if position - previous == 1:
        return "" if gap in (" ", "-", "\u00a0") else "&" if gap == " & " else None
    between = folded[previous + 1 : position]
    if gap.lower().split() != between or not _ACRONYM_CONNECTORS.issuperset(between):
        return None
    if "and" in between:
        return "&" if len(between) == 1 else None  # behind "and the" another name starts
    return "".join([word[0] for word in between])


def _add_acronyms(segments: list[str], acronyms: set[str]) -> None:
    """Add the acronyms of every stretch of the segments, with and without small words."""
    if len(segments) > _SEGMENTS_OF_A_NAME or max(map(len, segments), default=0) > _INITIALS_OF_A_NAME:
        return
    for first in range(0, len(segments), 2):
        for last in range(first + 1, len(segments) + 1, 2):
            stretch = segments[first:last]
            written = "".join(stretch)
            for acronym in ("".join(stretch[::2]), written, written.replace("&", "a")):
                if len(acronym) > 2:
                    acronyms.add(acronym)


def _is_acronym(surface: str) -> bool:
    """Return whether a word has two or more letters, all of them capitals; a plural s may follow (ATMs)."""
    letters = (surface[:-2] if surface.endswith(("'s", "\u2019s")) else surface).replace(".", "")
    return len(letters) > 1 and (
        letters.isupper() or (len(letters) > 2 and letters[-1] == "s" and letters[:-1].isupper())
    )


def _joins(gap: str, word_before: str) -> bool:
    """Return whether a name may continue after the gap between two words."""
    if word_before.endswith(("'s", "\u2019s")):
        return False
    if gap in (" ", "-", "&", " & ", "\u00a0", "/"):
        return True
    return gap in (".", ". ") and (len(word_before) == 1 or word_before.lower() in _TITLES)
