"""Sentences of a chunk that can be trusted to be whole: the raw material of the generator without a model."""

import functools
import re
from typing import Final, NamedTuple

from hcat.language.given_names import word_set
from hcat.language.text import clean_text, split_sentences

MINIMUM_WORDS: Final = 5
MAXIMUM_WORDS: Final = 60
"""A longer sentence says too much for one question."""

WRAPPED_SHARE: Final = 0.6
WRAPPED_CHARACTERS: Final = 50
"""A line this long (and this share of the longest line) without closing punctuation goes on in the next one."""

_LINE_END = re.compile(r"[.!?:;][\"'\u201d\u2019)]*\Z")
_SENTENCE_END = re.compile(r"[.!?][\"'\u201d\u2019)]*\Z")
_OPENERS = word_set("""
a after all an any as at because before both by during each every following for from he her his how if in it its no on
our over she since the their these they this those through to under until we what when where while with you your
""")
_DISCOURSE = re.compile(
    r"(?:In addition|Additionally|Furthermore|Moreover|However|Further|Also|Finally|Therefore|Accordingly|"
    r"As a result|Consequently|Similarly|Generally|Historically|Currently|For example|In general), (?=\w)"
)
_DEBRIS = re.compile(
    r"[|\t\u2022\u25cf\u25aa\u2026\ufffd_<>{}\[\]\\=*#~^]|\.\s?\.\s?\.|Table of Contents|\bItem \d|\bForm \d|"
    r"\bExhibit\b|"
    r"\bNotes? \d|\bPage \d|https?:|www\.|\bsee\b|\bSee\b|\brefer to\b|\bRefer to\b|\$\s*\$|--|"
    r"\b(?:above|below|herein|hereof|hereby|hereto|thereof|thereto|thereunder|hereunder|aforementioned|foregoing|"
    r"undersigned|set forth|following|follows)\b"
)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_TITLE_CASE_RUN = re.compile(
    r"^(?:[A-Z][\w'\u2019-]*,? (?:(?:and|of|the|for|in|to|on|or|with) )*){2,}(?:The|Our|We|In|As|During|For|This|"
    r"These|On) "
)
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u00a0": " "})
_SPACES = re.compile(r"\s+")
_GAP = re.compile(r"\s+(?=[,.;:)])|(?<=[($])\s+")


class Statement(NamedTuple):
    """One whole sentence."""

    text: str
    position: int


def find_paragraphs(text: str) -> list[tuple[str, bool]]:
    """Return the paragraphs of a chunk, lines that a PDF broke joined, and whether each surely begins a sentence."""
    lines = [line.strip() for line in clean_text(text).splitlines()]
    longest = max(map(len, lines), default=0)
    wrapped = max(WRAPPED_CHARACTERS, WRAPPED_SHARE * longest)
    paragraphs: list[tuple[str, bool]] = []
    current: list[str] = []
    begins, goes_on = False, False
    for line in lines:
        if not line:
            if current:
                paragraphs.append((" ".join(current), begins))
                begins, current = bool(_SENTENCE_END.search(current[-1])), []
            else:
                begins = begins or bool(paragraphs)
            goes_on = False
            continue
        if current and (not goes_on or not _WORD.search(line)):  # a page number goes on with nothing
            paragraphs.append((" ".join(current), begins))
            # behind a closed sentence or a heading a new one begins
            begins = bool(_LINE_END.search(current[-1])) or len(current[-1]) < wrapped
            current = []
        current.append(line)
        goes_on = len(line) >= wrapped and _WORD.search(line) is not None
    if current:
        paragraphs.append((" ".join(current), begins))
    return paragraphs


@functools.lru_cache(maxsize=256)
def find_statements(text: str) -> tuple[Statement, ...]:
    """Return the sentences of a chunk that are whole, plain and not too long, in their order."""
    found: list[Statement] = []
    position = 0
    is_clean = "\n" not in text.strip() and bool(_SENTENCE_END.search(text.strip()))
    for paragraph, begins in find_paragraphs(text):
        before_ended = begins or is_clean
        for start, end in split_sentences(paragraph):
            raw = paragraph[start:end]
            sentence = _GAP.sub("", _SPACES.sub(" ", raw.translate(_QUOTES))).strip()
            is_trusted = before_ended or sentence.split(" ", 1)[0].strip(",'\"").lower() in _OPENERS
            before_ended = bool(_SENTENCE_END.search(sentence))
            if is_trusted and is_whole(sentence):
                found.append(Statement(_strip_discourse(sentence), position))
            position += 1
    return tuple(found)


def is_whole(sentence: str) -> bool:
    """Return whether a text looks like one whole plain sentence."""
    words = sentence.split()
    if not MINIMUM_WORDS <= len(words) <= MAXIMUM_WORDS or not sentence.endswith("."):
        return False
    if not (sentence[0].isupper() and sentence[:2].strip().isalnum()) or _DEBRIS.search(sentence):
        return False
    if sentence.count("(") != sentence.count(")") or sentence.count('"') % 2 or _TITLE_CASE_RUN.match(sentence):
        return False
    if re.search(r"[a-z]{4,}\. [A-Z0-9]", sentence):  # two sentences that were not told apart
        return False
    letters = len(_WORD.findall(sentence))
    if letters < 0.6 * len(words):  # rows of a table
        return False
    capitals = sum(word.isupper() and len(word) > 1 for word in words)
    return capitals <= max(2, 0.2 * len(words))


def _strip_discourse(sentence: str) -> str:
    match = _DISCOURSE.match(sentence)
    if match is None:
        return sentence
    rest = sentence[match.end() :]
    return rest[0].upper() + rest[1:]
