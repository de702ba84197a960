"""Find refusals: answers that decline, or say that the information is not available.

A closed list of patterns knows three kinds of sentence. The answer *declines* ("I cannot ..."), it calls the
information *unavailable* ("the context does not contain ..."), or it *deflects* ("please consult an adviser", "you
would need the figures"). The rules consider where such sentences stand and how much the answer says besides. A caveat
in a long answer is no refusal, and neither is a short answer that claims something beside: a partial refusal.
"""

import functools
import re
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from hcat.encoders.wordings import read_wording
from hcat.language.claims import claims_nothing
from hcat.language.expressions import fold_case, read_expressions
from hcat.language.text import count_content_words, split_sentences

#: Kind of the opening sentence -> largest share of content words in answering sentences of a refusal.
MAXIMUM_ANSWER_SHARE: Final = {"declines": 0.7, "unavailable": 0.5}
MAXIMUM_OPENING_WORDS: Final = 5
"""Largest number of content words ("Thank you for your question.") before a sentence that counts as the opening."""

#: Largest share of content words in answering sentences with which a closing sentence that declines makes a refusal.
MAXIMUM_SHARE_BEFORE_CLOSING: Final = 0.4
#: Characters of the longest answer that counts as a refusal because it only names somebody else to ask.
MAXIMUM_REFERRAL_CHARACTERS: Final = 300
#: In an answer up to this length every claim beside a refusal makes it a partial one; a longer one explains itself.
MAXIMUM_PARTIAL_CHARACTERS: Final = 300
#: Largest share of content words in answering sentences with which a declining sentence anywhere makes a refusal.
MAXIMUM_SHARE_BESIDE: Final = 0.35
#: Probability of the head of wordings (training/wordings.py) from which a sentence declines, or refers elsewhere.
LEAST_REFUSAL: Final = 0.6
#: The same for a sentence with a number, which may be a claim beside the refusal.
LEAST_WITH_NUMBER: Final = 0.95
#: The same for a sentence beside others that claim something.
LEAST_BESIDE: Final = 0.8
#: Probability from which a clause of a declining sentence claims something.
LEAST_CLAIM: Final = 0.9
READ_BY_HEAD: Final = "read_by_head"
"""Stands for the name of a rule where the head knows a refusal that no rule knows."""


class RefusalPattern(NamedTuple):
    """A pattern: its name, its kind (declines, unavailable, deflects), and its expression on text in lower case."""

    name: str
    kind: str
    expression: re.Pattern[str]


_WRITTEN = read_expressions(Path(__file__).with_name("refusal_patterns.yml"))
REFUSAL_PATTERNS: Final = tuple(
    RefusalPattern(row["name"], row["kind"], re.compile(row["expression"])) for row in _WRITTEN["patterns"]
)
"""The closed list of patterns, in the order in which a sentence is compared with them."""
_CUE, _ANNOUNCES, _ELSEWHERE = (re.compile(_WRITTEN[name]) for name in ("cue", "announces", "elsewhere"))
_JOINED, _GRANTED, _TELLS, _BESIDE, _ANSWERS_ALONE = (
    re.compile(_WRITTEN[name], re.IGNORECASE) for name in ("joined", "granted", "tells", "beside", "answers_alone")
)
_NAMES = re.compile(r"[a-z,] [A-Z][A-Za-z]")

_LONGEST_APOLOGY = 2


def explain_refusal(answer: str) -> str | None:
    """Return the name of the pattern by which an answer is a refusal, or None if it is not one."""
    answer = answer.replace("\u2019", "'")
    folded = fold_case(answer)
    may_refer = len(answer) <= MAXIMUM_REFERRAL_CHARACTERS and _ELSEWHERE.search(folded) is not None
    if not may_refer and not _CUE.search(folded):
        return None
    sentences = _read_clauses(answer)
    # Most answers with a cue do not decline. The slow patterns of deflection run only if a sentence declines.
    if not may_refer and not any(_declines(sentence) for sentence in sentences):
        return None
    marks = [_mark_sentence(sentence) for sentence in sentences]
    weights = [count_content_words(sentence) for sentence in sentences]
    total = sum(weights)
    if total == 0:
        return None
    is_announced = any(
        (mark is None or mark.kind == "deflects") and _ANNOUNCES.search(fold_case(sentence)) is not None
        for mark, sentence in zip(marks[:2], sentences[:2], strict=True)  # "Sure! Here is how ..."
    )
    answering = [
        weight if mark is None or (is_announced and mark.kind == "deflects") else 0
        for mark, weight in zip(marks, weights, strict=True)
    ]
    refusing = {position: mark for position, mark in enumerate(marks) if mark is not None and mark.kind != "deflects"}
    if not refusing:
        only_refers = all(mark is not None and mark.name == "refer_elsewhere" for mark in marks)
        return marks[0].name if may_refer and only_refers and marks[0] is not None else None
    first, opening = next(iter(refusing.items()))
    if len(answer) <= MAXIMUM_PARTIAL_CHARACTERS and any(
        weight and mark is None and not claims_nothing(sentence)
        for sentence, mark, weight in zip(sentences, marks, weights, strict=True)
    ):
        return None  # a partial refusal: what it says beside is judged
    is_short = sum(answering) <= MAXIMUM_ANSWER_SHARE[opening.kind] * total
    if is_short and sum(answering[:first]) <= MAXIMUM_OPENING_WORDS:
        return opening.name
    declining = [position for position, mark in refusing.items() if mark.kind == "declines"]
    if declining and sum(answering[declining[-1] :]) == 0 and sum(answering) <= MAXIMUM_SHARE_BEFORE_CLOSING * total:
        return refusing[declining[-1]].name
    return opening.name if sum(answering) <= MAXIMUM_SHARE_BESIDE * total else None


def declines_by_wording(answer: str) -> bool:
    """Return whether each sentence of an answer declines by rule or by its wording, is talk or refers elsewhere."""
    if len(answer) > MAXIMUM_PARTIAL_CHARACTERS:
        return False
    declines = False
    answer = answer.replace("\u2019", "'")
    sentences = (answer[start:end] for start, end in split_sentences(answer))
    clauses = ([each] if _declines_in_words(each) else _read_clauses(each) for each in sentences)
    for sentence in chain.from_iterable(clauses):  # the first claim ends it: the head reads no sentence behind it
        wording = read_wording(sentence)
        if _declines(sentence) or _declines_in_words(sentence):
            declines = True
        elif wording.referral < LEAST_REFUSAL and not claims_nothing(sentence, talk=wording.talk):
            return False
    return declines


def _read_clauses(answer: str) -> list[str]:
    """Return the sentences of an answer; one that joins a claim and a refusal is two."""
    clauses = []
    for start, end in split_sentences(answer):
        sentence = answer[start:end]
        # what has no cue has no clause that declines
        parts = _split_clauses(sentence) if _CUE.search(fold_case(sentence)) else [sentence]
        declining = [_declines(part) for part in parts]
        is_mixed = any(declining) and not all(
            each or claims_nothing(part) for each, part in zip(declining, parts, strict=True)
        )
        clauses += parts if is_mixed else [sentence]
    return clauses


def _split_clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence."""
    granted = _GRANTED.match(sentence)
    return [part for part in (granted.groups() if granted else _JOINED.split(sentence)) if part.strip()]


@functools.lru_cache(maxsize=1 << 14)
def only_declines(sentence: str) -> bool:
    """Return whether one sentence of an answer declines and says nothing beside that, by the rules or by its wording.

    Where others claim something, the head needs a cue: of 85 public sentences that it alone took, 80 were no refusals.
    """
    rule = None if _BESIDE.search(sentence) else explain_refusal(sentence)
    if rule is not None and (rule != "refer_elsewhere" or _NAMES.search(sentence) is None):
        return True
    return _CUE.search(fold_case(sentence)) is not None and _declines_in_words(sentence, LEAST_BESIDE)


def _declines_in_words(sentence: str, least: float = LEAST_REFUSAL) -> bool:
    """Return whether the head knows a refusal, and none of its clauses claims something."""
    least = LEAST_WITH_NUMBER if re.search(r"\d", sentence) else least
    is_answer = _ANSWERS_ALONE.fullmatch(sentence) is not None
    return not is_answer and read_wording(sentence).refusal >= least and not _claims_in_part(sentence)


def _claims_in_part(sentence: str) -> bool:
    """Return whether the head reads a claim in a sentence or in one of its clauses."""
    clauses = [clause for clause in _split_clauses(sentence) if len(clause.split()) > _LONGEST_APOLOGY]
    return any(_TELLS.match(part) or read_wording(part).claim >= LEAST_CLAIM for part in (sentence, *clauses))


@functools.lru_cache(maxsize=1 << 14)
def _declines(sentence: str) -> bool:
    """Return whether a sentence declines or calls the information unavailable."""
    folded = fold_case(sentence)
    return _CUE.search(folded) is not None and any(
        _finds(pattern, sentence, folded) for pattern in REFUSAL_PATTERNS if pattern.kind != "deflects"
    )


def _mark_sentence(sentence: str) -> RefusalPattern | None:
    """Return the first pattern found in a sentence."""
    folded = fold_case(sentence)
    has_cue = _CUE.search(folded) is not None
    for pattern in REFUSAL_PATTERNS:
        if (has_cue or pattern.kind == "deflects") and _finds(pattern, sentence, folded):
            return pattern
    return None


def _finds(pattern: RefusalPattern, sentence: str, folded: str) -> bool:
    """Return whether a sentence has a pattern; the wide one of other languages needs that the head knows no claim."""
    is_wide = pattern.name == "in_another_language"
    return pattern.expression.search(folded) is not None and not (is_wide and _claims_in_part(sentence))
