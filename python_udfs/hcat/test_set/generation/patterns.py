"""Patterns of facts: each asks for a part of one whole sentence, which is then the answer, right by construction.

A pattern (``patterns.yml``) says which verbs it reads, what must follow them, and what is asked. The first that reads a
clause gives the fact. The kinds of answers are those of the raw contract.
"""

import re
from pathlib import Path
from typing import Final, NamedTuple

from hcat.language.expressions import read_expressions
from hcat.language.features import extract_features
from hcat.test_set.generation.clauses import Clause
from hcat.test_set.generation.english import (
    AMOUNT,
    CHANGES,
    COMPANY,
    EVENT_DATE,
    EVENT_END,
    HEDGE,
    MONEY,
    PERCENT,
    PERIOD,
    PLAIN,
    UNIT,
    YEAR,
)


class Fact(NamedTuple):
    """A question (without capital, document and question mark), the sentence that answers it, and its part that does.

    ``names`` are the proper names in the question. ``needs_document`` says that it is clear only beside the name of its
    document. ``event`` is what happened, as a clause in the past tense; empty for other facts.
    """

    question: str
    sentence: str
    answer: str
    pattern: str
    answer_type: str
    difficulty: str
    names: tuple[str, ...]
    needs_document: bool
    position: int
    event: str = ""


class Pattern(NamedTuple):
    """What is read and what is asked, as the head of ``patterns.yml`` explains."""

    name: str
    verbs: str
    predicate: str
    question: str
    answer_type: str
    difficulty: str
    tense: str = ""
    subject: str = ""
    needs: str = ""


_EXPRESSIONS = {
    "AMOUNT": AMOUNT, "HEDGE": HEDGE, "MONEY": MONEY, "PERCENT": PERCENT, "PERIOD": PERIOD, "PLAIN": PLAIN,
    "UNIT": UNIT, "YEAR": YEAR, "WHEN": rf"(?P<when> {PERIOD})?", "CHANGES": " ".join(sorted(CHANGES)),
}  # fmt: skip


_WRITTEN = read_expressions(Path(__file__).with_name("patterns.yml"), _EXPRESSIONS)["patterns"]
#: In the order in which they are tried.
PATTERNS: Final = tuple(Pattern(**each) for each in _WRITTEN)
_COMPILED = [(each, set(each.verbs.split()), re.compile(each.predicate)) for each in PATTERNS]
_FORMS_OF_DO = {"had": "did", "has": "does", "have": "do"}
#: With "also" these would ask for a part of the parts; with a period in front they hold for it alone.
_WHOLE = frozenset(("reason", "parts", "manner"))
_TIMELESS = frozenset(("means", "definition", "parts", "place", "manner"))
_ASKED_BY_OTHERS = frozenset((*CHANGES, "total", "amount", "include", "expect", "believe", "account", "exceed"))


def make_fact(
    sentence: str,
    position: int,
    question: str,
    pattern: str,
    answer_type: str,
    difficulty: str,
    answer: str = "",
    event: str = "",
) -> Fact:
    """Return the fact, with the names in its question and whether the question needs its document."""
    question = " ".join(question.split())
    features = extract_features(question[0].upper() + question[1:])
    names = tuple(dict.fromkeys(features.entities))
    # a title alone says who: "the company" and "net sales" belong to a document
    is_clear = any(len(mention.surface.split()) > 1 for mention in features.entity_mentions)
    needs_document = COMPANY.search(question) is not None or not is_clear
    return Fact(
        question, sentence, answer or sentence, pattern, answer_type, difficulty, names, needs_document, position, event
    )


def find_fact(sentence: str, position: int, clause: Clause) -> Fact | None:
    """Return the fact of the first pattern that reads a clause, None where none does."""
    event = _read_event(sentence, position, clause)
    if event is not None:
        return event
    verb = clause.base or ("have" if clause.verb in ("has", "have", "had") else "be")
    if not clause.base and clause.verb not in ("is", "are", "was", "were", "has", "have", "had"):
        return None
    tense = "past" if clause.is_singular is None or clause.verb in ("was", "were", "had") else "present"
    for pattern, verbs, predicate in _COMPILED:
        reads = verb in verbs or ("*" in verbs and clause.base and clause.base not in _ASKED_BY_OTHERS)
        if not reads or pattern.tense not in ("", tense) or (clause.lead and pattern.name in _TIMELESS):
            continue
        if (pattern.subject and not re.fullmatch(pattern.subject, clause.subject)) or (
            "also" in sentence.split() and pattern.name == "parts"
        ):
            continue
        match = predicate.fullmatch(clause.whole if pattern.name in _WHOLE else clause.predicate)
        if match is None:
            continue
        said = {name: value or "" for name, value in match.groupdict().items()}
        when = said.pop("when", "") or clause.when
        if not when and (pattern.needs == "period" or (pattern.needs and tense == "past")):
            continue
        question = pattern.question.format(
            subject=clause.subject, base="have" if verb == "have" else clause.base, be=clause.be,
            do=_FORMS_OF_DO.get(clause.verb, clause.do), when=when, **said,
        )  # fmt: skip
        kind = (pattern.name, pattern.answer_type, pattern.difficulty)
        return make_fact(sentence, position, question, *kind, said.get("answer", "").strip(" ,;"))
    return None


def _read_event(sentence: str, position: int, clause: Clause) -> Fact | None:
    """In June 2018, X submitted Y: when."""
    if clause.verb in ("was", "were") and clause.has_participle:
        verb, helper = "", clause.verb
    elif clause.base and clause.is_singular is None and clause.base not in _ASKED_BY_OTHERS:
        verb, helper = clause.base, "did"
    else:
        return None
    event, date = clause.predicate, clause.lead
    match = None if date else EVENT_END.fullmatch(event)
    if match is not None:
        event, date = match["event"], match["date"]
    words = event.split()
    if not EVENT_DATE.fullmatch(date) or re.search(rf"\b{YEAR}\b|\bsimilar\b", event) or not 1 <= len(words) <= 18:
        return None
    if re.fullmatch(rf"(?:the|an?|such) [a-z-]+(?: [a-z-]+)?|{AMOUNT}(?: \w+){{0,3}}|based .*|(?:into .*){{0}}", event):
        return None
    is_amount = re.search(rf"{AMOUNT} (?:shares|of)|\b{MONEY}", event) is not None
    if helper == "did" and (len(words) < 2 or (is_amount and verb in ("record", "recognize", "incur", "pay"))):
        return None
    asked = "in which year" if re.fullmatch(rf"in {YEAR}", date) else "when"
    asked = "in which fiscal year" if "fiscal" in date else asked
    question = f"{asked} {helper} {clause.subject} {verb} {event}"
    said = f"{clause.subject} {clause.verb} {event}"
    return make_fact(sentence, position, question, "event", "numeric", "easy", date.split(" ", 1)[1], said)
