"""Blank out what stands in a text and says nothing: HTML, Markdown, citation markers and invisible characters.

Every position stays where it is, so that a sentence still knows the characters that it was made of. A blanked character
is :data:`BLANK`, which :func:`remove_blanks` takes out again.
"""

import html
import re
import unicodedata
from pathlib import Path
from typing import Final

from hcat.language.expressions import fold_case, read_expressions

BLANK: Final = "\u2060"
"""WORD JOINER: invisible, no white space, and neither the end nor the start of a sentence."""

_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))
_SIGNS, _CUE, _MENTIONED = (re.compile(_WRITTEN[name]) for name in ("signs", "cue", "mentioned"))
_POINTING, _BESIDE, _INSIDE, _BRACKETED, _PAGE, _NAMED, _CITING_TAG, _TAGGED = (
    re.compile(_WRITTEN[name], re.IGNORECASE)
    for name in ("pointing", "beside", "inside", "bracketed", "page", "named", "citing_tag", "tagged")
)
_BLOCK_TAG, _ROW, _CELL_TAG = (
    re.compile(_WRITTEN[name], re.IGNORECASE | re.DOTALL) for name in ("block_tag", "row", "cell_tag")
)
_LEAD, _NOTES, _HEADING = (
    re.compile(_WRITTEN[name], re.IGNORECASE | re.MULTILINE) for name in ("lead", "notes", "heading")
)
_TAG = re.compile(r"</?co: ?[\d,]+>|</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>]{0,300})?/?>|<!--.{0,500}?-->")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8}\d{0,2});")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\](\((?:https?:|www\.|mailto:|[/#])[^()\s]{1,300}\))")
_EMPHASIS = re.compile(r"\*\u2060+\*|\*{2,3}|(?<!\w)__|__(?!\w)|(?<!`)`(?!`)")
_BROKEN_WORD = re.compile(r"(?<=[a-z]{2})-[ \t]*\n[ \t]*(?=[a-z]{2})")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060]")
_RAISED = re.compile(r"(?:(?<=[a-z]{4})|(?<=[.,;:!?)\"\u201d]))[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
# What a citation is made of: numbers, "S2", "doc_3", a file, and words that point.
_SMALL_NUMBER = re.compile(r"\^?\d{1,3}(?:[-\u2013]\d{1,3})?\^?|\^[\w-]{1,20}|[A-Za-z]{1,4}[-_]?\d{1,3}(?:-\d{1,3})?")
_PART_BREAK = re.compile(r"[\s,;:#&]+")
# Markers as find_citations reads them: a page is no rank, and in "4:2" the passage stands before the colon.
_CITES = re.compile(r"[\[(\u27e6\u3010\u2070-\u2079\u00b9\u00b2\u00b3]|<(?:sup|cit|ref|co|source)|\w \d", re.IGNORECASE)
_FILE = re.compile(r"[\w-]{1,60}\.(?:pdf|docx?|html?|txt|md|xlsx?|pptx?|csv|json)\b", re.IGNORECASE)
_RANKS = re.compile(r"(?<!\d)(\d{1,3})(?:\s?(?:[-\u2013]|\bto\b)\s?(\d{1,3}))?(?!\d)")
_LONGEST_RANGE: Final = 20
_INSIDE_A_ROW = dict.fromkeys(map(ord, "\t\n\r"), " ")
_LIGATURES = {
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st",
    ord(BLANK): None,
}  # fmt: skip


def blank_markup(text: str) -> str:
    """Return the text with each character of markup blanked; it has the same length."""
    if not _SIGNS.search(text) and not _CUE.search(fold_case(text)):
        return text
    text = _NOTES.sub(_blank, text)
    text = _HEADING.sub(lambda match: f"{match[1]}:".rjust(len(match.group()), BLANK), text)
    if "<" in text:
        text = _CITING_TAG.sub(_blank, text)
        text = _ROW.sub(
            lambda row: _CELL_TAG.sub(lambda tag: "\t".ljust(len(tag[0]), BLANK), row[0].translate(_INSIDE_A_ROW)), text
        )
        text = _BLOCK_TAG.sub(lambda match: "\n".rjust(len(match.group())), text)
        text = _TAG.sub(_blank, text)
    if "&" in text:
        text = _ENTITY.sub(_decode, text)
    if not {"[", "(", "\u27e6", "\u3010"}.isdisjoint(text):
        text = _BRACKETED.sub(_blank_citation, text)
        text = _LINK.sub(lambda match: f"{BLANK}{match[1]}{BLANK}{BLANK * len(match[2])}", text)
    text = _LEAD.sub(_blank_lead, text)
    for pattern in (_INSIDE, _BROKEN_WORD, _INVISIBLE, _EMPHASIS, _RAISED):
        text = pattern.sub(_blank, text)
    return text


def find_citations(text: str) -> list[str]:
    """Return what the citation markers of a text point to: ranks as digits, and names of files in lower case."""
    if not _CITES.search(text):
        return []
    markers = [match.group() for match in _MENTIONED.finditer(fold_case(text))]
    marks = (_CITING_TAG,) if text.isascii() else (_CITING_TAG, _RAISED)
    markers += [match.group() for pattern in marks for match in pattern.finditer(text)]
    brackets = [match for match in _BRACKETED.finditer(text) if _blank_citation(match) != match.group()]
    markers += [match["inside"] or match.group()[1:-1] for match in brackets]
    found = {match[1] for match in _TAGGED.finditer(text)}
    for marker in markers:
        named = _NAMED.fullmatch(marker)
        if named and named["file"]:
            found.add(named["file"].lower())
            continue
        plain = _TAG.sub("", unicodedata.normalize("NFKC", _PAGE.sub("", marker)))
        found.update(name.lower() for name in _FILE.findall(plain))
        for first, last in _RANKS.findall(_FILE.sub("", plain)):
            found.update(map(str, range(int(first), min(int(last or first), int(first) + _LONGEST_RANGE) + 1)))
    return sorted(found)


def remove_blanks(text: str) -> str:
    """Return the text without blanked characters and without ligatures."""
    return text if text.isascii() else text.translate(_LIGATURES)


def _blank(match: re.Match[str]) -> str:
    return BLANK * len(match.group())


def _blank_lead(match: re.Match[str]) -> str:
    """Return blanks, and the first letter behind a citation as a sentence begins."""
    letter = match["letter"] or ""
    capital = letter.upper() if len(letter.upper()) == 1 else letter
    return BLANK * (len(match.group()) - len(letter)) + capital


def _decode(match: re.Match[str]) -> str:
    """Return the character of an entity, and blanks for the rest of it."""
    character = html.unescape(match.group())
    return character.ljust(len(match.group()), BLANK) if len(character) == 1 else match.group()


def _blank_citation(match: re.Match[str]) -> str:
    """Return blanks if all of a bracket points to a source, else the bracket."""
    bracket = match.group()
    parts = _PART_BREAK.split((match["inside"] or bracket[1:-1]).strip())
    is_numbered = bracket[0] in "[\u27e6" and all(
        part in ("and", "") or _SMALL_NUMBER.fullmatch(part) for part in parts
    )
    is_pointing = any(_POINTING.fullmatch(part) for part in parts) and all(
        not part or _POINTING.fullmatch(part) or _BESIDE.fullmatch(part)
        for part in (parts if "al." not in parts else parts[1:])
    )
    if "0" in parts or match.end() - match.start() == len(match.string.strip()):
        return bracket  # an interval, or a list that is the whole text
    is_named = bracket[0] == "\u3010" or _NAMED.fullmatch(match["inside"] or bracket[1:-1]) is not None
    return _blank(match) if is_numbered or is_pointing or is_named else bracket
