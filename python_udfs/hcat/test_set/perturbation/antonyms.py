"""Faults by antonyms: one word or phrase becomes its opposite."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from hcat.test_set.perturbation.forms import OBJECT, article_for, find_article, in_case_of, is_opening, third_person
from hcat.test_set.perturbation.sentences import CHARACTERS_BEFORE, Edit

_PLAIN_ANTONYMS = """
above below, active inactive, add remove, added removed, adding removing, adds removes, advantage disadvantage, after
before, allow forbid, allowed forbidden, allowing forbidding, allows forbids, always never, at_least at_most, attached
detached, authorised unauthorised, authorized unauthorized, available unavailable, best worst, better worse, borrower
lender, bought sold, buy sell, buyer seller, buying selling, buys sells, cheap expensive, complete incomplete, correct
incorrect, credit debit, daily weekly, difficult easy, direct indirect, domestic foreign, earlier later, earliest
latest, early late, eligible ineligible, employee employer, end start, ended started, ending starting, ends starts,
everybody nobody, everything nothing, excluding including, external internal, fall rise, fallen risen, falling rising,
falls rises, faster slower, fell rose, first last, fixed variable, for_a_fee free_of_charge, free chargeable, full
partial, full-time part-time, good bad, high low, higher lower, highest lowest, inside outside, insured uninsured,
landlord tenant, large small, larger smaller, largest smallest, legal illegal, less more, limited unlimited, long short,
longer shorter, longest shortest, long-term short-term, majority minority, mandatory voluntary, maximum minimum, minus
plus, monthly yearly, necessary unnecessary, new old, older younger, oldest youngest, next previous, no_less_than
no_more_than, offline online, often rarely, or_over or_under, over under, permanent temporary, positive negative,
possible impossible, private public, profit loss, profits losses, protected unprotected, receive send, received sent,
receives sends, receiving sending, recipient sender, required optional, safe unsafe, secured unsecured, simple complex,
strength weakness, strengths weaknesses, strong weak, stronger weaker, usually seldom, valid invalid, with without
"""
_REGULAR_VERBS = """
accept reject, activate deactivate, appear disappear, approve decline, block unblock, connect disconnect, download
upload, enable disable, encourage discourage, export import, improve worsen, include exclude, increase decrease, lock
unlock, open close, strengthen weaken
"""


def _inflect(verb: str) -> tuple[str, str, str, str]:
    """Return the base form, the third person, the past and the present participle of a regular verb."""
    stem = verb.removesuffix("e")
    return verb, third_person(verb), f"{stem}ed", f"{verb if verb.endswith('ee') else stem}ing"


def _read_pairs(listed: str) -> list[list[str]]:
    return [[side.replace("_", " ") for side in pair.split()] for pair in listed.split(",")]


def _collect_antonyms() -> dict[str, str]:
    pairs = _read_pairs(_PLAIN_ANTONYMS)
    for left, right in _read_pairs(_REGULAR_VERBS):
        pairs += [[*pair] for pair in zip(_inflect(left), _inflect(right), strict=True)]
    return {word: opposite for left, right in pairs for word, opposite in ((left, right), (right, left))}


ANTONYMS: Final[Mapping[str, str]] = _collect_antonyms()
"""Opposite of each word or phrase, in lower case and in the same form. Every pair stands in both directions."""


_ANTONYM = re.compile(
    r"(?<![\w'\u2019-])(?:"
    + "|".join(sorted((re.escape(word) for word in ANTONYMS), key=len, reverse=True))
    + r")(?![\w'\u2019-])",
    re.IGNORECASE,
)
_VERB_OBJECT = r"\s+(?:the|an?|your|our|this|these|it|them)\b"
_NO_END = r"(?=\s*(?:[.,;:!?)]|\Z))"
_BEHIND_BE = r"(?<!\bis\s)(?<!\bare\s)(?<!\bwas\s)(?<!\bwere\s)(?<!\bbe\s)(?<!\bbeen\s)(?<!\bnot\s)\Z"
# Where a word has another meaning, or its opposite another grammar: patterns for the text before and behind it.
_UNSUITABLE = {
    word: (re.compile(f"(?:{before})\\Z", re.IGNORECASE) if before else None, re.compile(behind) if behind else None)
    for word, before, behind in (
        ("above", r"\bthe\s", ""),
        ("added", "", r"\s+to\b"),
        ("after", r"\b(?:look(?:s|ed|ing)?|soon|shortly|named|day)\s", rf"\s+all\b|{_NO_END}"),
        ("allowed", _BEHIND_BE, ""),
        ("before", r"\b(?:as|than|ever|never|once|like)\s", _NO_END),
        ("authorised", r"\b(?:i|you|we|they|he|she|it|never|has|have|had)\s", _VERB_OBJECT),
        ("authorized", r"\b(?:i|you|we|they|he|she|it|never|has|have|had)\s", _VERB_OBJECT),
        ("close", r"\bto a\s", r"\s+to\b"),
        ("complete", "", _VERB_OBJECT),
        ("correct", "", _VERB_OBJECT),
        ("credit", r"\bfor\s", r"\s+(?:checks?|history|limits?|lines?|rating|risk|scores?)\b"),
        ("direct", "", rf"\s+debits?\b|{_VERB_OBJECT}"),
        ("end", r"\b(?:in the|week)\s", r"\s+(?:up|to end)\b"),
        ("fall", "", r"\s+(?:on|within|under|into|for|out|behind|back|due|short)\b"),
        ("falls", "", r"\s+(?:on|within|under|into|for|out|behind|back|due|short)\b"),
        ("fell", "", r"\s+(?:on|within|under|into|for|out|behind|back|due|short)\b"),
        ("free", r"\b(?:feel|set|toll|tax|interest)\s", r"\s+(?:of|from|up)\b"),
        ("good", r"\b(?:as|for)\s", r"\s+(?:faith|as)\b"),
        ("high", "", r"\s+(?:street|school)\b"),
        ("large", r"\b(?:at|and)\s", ""),
        ("last", r"(?<!\bthe\s)(?<!\byour\s)(?<!\bour\s)(?<!\btheir\s)(?<!\bits\s)(?<!\bwas\s)(?<!\bwere\s)\Z", ""),
        ("less", r"\b(?:much|the)\s", ""),
        ("limited", "", r"\s+(?:to|by)\b"),
        ("long", r"\b(?:as|so|how|before)\s", r"\s+as\b"),
        ("longer", r"\bno\s", ""),
        ("loss", r"\b(?:any|further|the|your)\s", ""),
        ("lower", "", _VERB_OBJECT),
        ("more", r"\b(?:once|any|one|no|further|and|much|many|few|some|the)\s", ""),
        ("next", "", r"\s+to\b"),
        ("old", r"\b(?:years?|months?|weeks?|days?|how)\s", ""),
        ("over", "", r"(?!\s+[$\u00a3\u20ac\u00a5]?[0-9])"),
        ("receive", "", r"(?:\s+\w+){0,3}\s+from\b"),
        ("received", "", r"(?:\s+\w+){0,3}\s+from\b"),
        ("receives", "", r"(?:\s+\w+){0,3}\s+from\b"),
        ("required", "", r"\s+(?:to|by)\b"),
        ("rise", r"\bgiv(?:e|es|en|ing)\s", ""),
        ("send", "", r"\s+(?:us|you|me|them|him|her)\b|(?:\s+\w+){0,3}\s+to\b"),
        ("sends", "", r"\s+(?:us|you|me|them|him|her)\b|(?:\s+\w+){0,3}\s+to\b"),
        ("sent", "", r"\s+(?:us|you|me|them|him|her)\b|(?:\s+\w+){0,3}\s+to\b"),
        ("short", r"\b(?:in|falls?|runs?)\s", r"\s+of\b"),
        ("under", "", r"(?!\s+[$\u00a3\u20ac\u00a5]?[0-9])"),
        ("with", r"\b(?:together|along|deals?|agrees?|comply|starts?|ends?|begins?)\s", r"\s+(?:effect|no|respect)\b"),
        ("without", "", r"\s+(?:\w+ing|any)\b"),
    )
}  # fmt: skip
_BEHIND_STATE = re.compile(r"\b(?:is|are|stays?|remains?|keeps?)\s+(?:(?:now|also|only|still|always)\s+)?\Z", re.I)
_BEHIND_LETTER = re.compile(r"[^\W\d_]\s+\Z")
_BEHIND_PASSIVE = re.compile(r"\b(?:was|were|be|been|being|has|have|had)\s+\Z", re.IGNORECASE)
_BEFORE_TIME = re.compile(r"\s+(?:on|from|until|at|day|all|every|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b", re.I)


def find_antonyms(sentence: str) -> Iterator[Edit]:
    """Yield every replacement of a word by its opposite."""
    for match in _ANTONYM.finditer(sentence):
        start, end = match.span()
        before, behind = _UNSUITABLE.get(match.group().lower(), (None, None))
        if (before is not None and before.search(sentence, max(0, start - CHARACTERS_BEFORE), start)) or (
            behind and behind.match(sentence, end)
        ):
            continue
        # a capital inside the sentence, or one more behind the first word, makes a name
        if match.group()[0].isupper() and (
            not is_opening(sentence, start)
            or (sentence[end : end + 1] == " " and sentence[end + 1 : end + 2].isupper())
        ):
            continue
        opposite = _opposite(sentence, match)
        if opposite is None:
            continue
        after = in_case_of(opposite, match.group())
        article = find_article(sentence, start)
        if article is not None and article[1].lower() == article_for(match.group()) != article_for(after):
            start = article.start()
            after = in_case_of(article_for(after), article[1]) + sentence[article.end(1) : match.start()] + after
        yield Edit(start, end, after)


def _opposite(sentence: str, match: re.Match[str]) -> str | None:
    """Return the opposite of the word where it stands, or None where it cannot be told."""
    word = match.group().lower()
    earliest = max(0, match.start() - CHARACTERS_BEFORE)
    if word == "open":  # a state or an action
        if _BEHIND_STATE.search(sentence, earliest, match.start()):
            return "closed"
        if OBJECT.match(sentence, match.end()):
            return "close"
        if _BEFORE_TIME.match(sentence, match.end()):  # "branches open on Monday", "the line, open on Monday"
            return "close" if _BEHIND_LETTER.search(sentence, earliest, match.start()) else "closed"
        return None
    if word == "closed":
        return "opened" if _BEHIND_PASSIVE.search(sentence, earliest, match.start()) else "open"
    return ANTONYMS.get(word)  # a long s matches too, in any case
