"""Facts of a chunk as questions: one sentence, one plain pattern, one question with its answer.

A sentence (:mod:`hcat.test_set.generation.sentences`) is read as a clause (:mod:`hcat.test_set.generation.clauses`) and
held against the patterns (:mod:`hcat.test_set.generation.patterns`); what is not plain is left out.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from hcat.test_set.generation.clauses import (
    Clause,
    be_form,
    common_words,
    do_form,
    is_specific,
    periods_only,
    read_clause,
    speak_for,
    when_clause,
)
from hcat.test_set.generation.english import (
    AMOUNTS,
    AUXILIARIES,
    BASES,
    CHANGES,
    COMPANY,
    CONDITIONS,
    COPULAS,
    DANGLING,
    DEFINED_ALONE,
    IRREGULAR_PARTICIPLES,
    MONEY,
    MONTH,
    NEGATION,
    OPEN_ENDS,
    OWN,
    PARENTHESES,
    PART,
    PAST,
    PERIOD,
    PREPOSITION_END,
    RELATIVE_TIME,
    SECOND_CLAUSE,
    THIRD,
    YEAR,
)
from hcat.test_set.generation.patterns import (
    PATTERNS,
    Fact,
    make_fact,
)
from hcat.test_set.generation.sentences import Statement, find_paragraphs, find_statements

MAXIMUM_QUESTION_WORDS: Final = 34


# Reading a sentence
@functools.lru_cache(maxsize=256)
def extract_facts(text: str, speaker: str) -> tuple[Fact, ...]:
    """Return the facts of a chunk in the order of its sentences, one question per (sentence, pattern) at most."""
    common = common_words(text)
    if "=AUDITOR" in common:
        return ()
    facts: list[Fact] = []
    for statement in find_statements(text):
        facts += read_statement(statement, speaker, common)
    facts += _abbreviations(text)
    kept: dict[str, Fact] = {}
    for fact in sorted(facts, key=lambda each: each.position):
        if is_sound(fact):
            kept.setdefault(fact.question.casefold(), fact)
    return tuple(kept.values())


def read_statement(statement: Statement, speaker: str, common: frozenset[str]) -> list[Fact]:
    """Return the facts of one sentence."""
    found = _conditions(statement, speaker, common)
    clause = read_clause(statement.text, speaker, common)
    if clause is None or not is_specific(clause.subject, speaker):
        return found
    for pattern in PATTERNS:
        fact = pattern(statement, clause)
        if fact is not None:
            found.append(fact)
            break
    return found


def is_sound(fact: Fact) -> bool:
    """Return whether a question stands by itself, apart from the name of its document."""
    question = fact.question
    words = question.split()
    if not 4 <= len(words) <= MAXIMUM_QUESTION_WORDS or question.count('"') % 2:
        return False
    lower = [word.lower() for word in PART.findall(question)]
    allowed = {"what", "when", "where", "who", "whom", "how", "why", "which", "if"}
    if any(word in DANGLING - OWN and word not in allowed for word in lower) or lower.count("we"):
        return False
    if any(word in allowed for word in lower[3:]) and fact.pattern != "condition":
        return False
    if RELATIVE_TIME.search(question) or re.search(r"[;:]|\d\)|\s,|,\Z| \.", question):
        return False
    if question.count(",") > 3 or (fact.pattern not in OPEN_ENDS and PREPOSITION_END.search(question)):
        return False
    if re.search(r"\b(\w+) \1\b", question):
        return False
    return DEFINED_ALONE.search(question) is None


def read_yes_no(statement: Statement, speaker: str, common: frozenset[str]) -> tuple[str, bool, Clause] | None:
    """Return a question that the sentence answers with yes or no, whether the answer is yes, and the clause."""
    if "=AUDITOR" in common:
        return None
    clause = read_clause(statement.text, speaker, common)
    if clause is None or not is_specific(clause.subject, speaker) or CONDITIONS.search(statement.text):
        return None
    predicate, is_yes = clause.predicate, True
    if predicate.startswith("not "):
        predicate, is_yes = predicate[4:], False
    if NEGATION.search(predicate) or len(predicate.split()) < MINIMUM_PREDICATE_WORDS:
        return None
    if clause.lead and re.search(rf"\b{YEAR}\b", predicate):
        return None
    if SECOND_CLAUSE.search(predicate):
        return None
    if (
        re.match(MONEY, predicate)
        and periods_only(re.sub(rf"\A{AMOUNTS}", "", predicate)) is not None
        and clause.base != "cost"
        and clause.verb not in COPULAS
    ):
        return None
    if re.search(rf"\band (?:\w+ ){{0,4}}(?:{'|'.join(sorted(AUXILIARIES))})\b", predicate) or re.match(
        r", [^,]{1,60}, (?:the|a|an|any|all|its|our|their) |,? (?:who|which)\b[^,]*, (?:the|a|an|all|any|its|"
        r"our)\b|,? (?:but not|less|plus|divided|net|times|"
        r"multiplied|and|or|if)\b",
        clause.tail,
    ):
        return None
    if clause.is_list_cut or re.match(
        r"(?:offset|driven|attributable|resulting|representing|reflecting)\b", clause.tail
    ):
        return None
    if re.search(
        r"\b(?:found|described|discussed|disclosed|defined|contained) (?:in|on|elsewhere|under)\b|\bglossary\b",
        predicate,
    ):
        return None
    if re.search(r" as (?:higher|lower|increased|decreased)\b|\b(?:and|or) (?:be|are|is)\b", predicate):
        return None
    if clause.verb in COPULAS and re.search(rf"\band (?:\w+ly )?(?:{'|'.join(sorted(BASES))})\b", predicate):
        return None
    if re.search(r"\bthat\b|\b(?:believe|expect|estimate|assume)\b", f"{clause.base} {predicate}"):
        return None
    if clause.verb in AUXILIARIES:
        if clause.verb not in (
            "is",
            "are",
            "was",
            "were",
            "has",
            "have",
            "can",
            "must",
            "will",
            "could",
            "may",
            "shall",
        ):
            return None
        first = predicate.split()[0]
        is_participle = first in PAST or first in IRREGULAR_PARTICIPLES or first.endswith("ed")
        if first.startswith("un") and first.endswith("ed"):
            return None
        if clause.verb in ("has", "have") and not is_participle:
            helper, verb = ("does" if clause.verb == "has" else "do"), "have "
        else:
            # "may the price fall?" would ask for permission
            helper, verb = {"may": "could", "shall": "must"}.get(clause.verb, be_form(clause)), ""
    else:
        helper, verb = do_form(clause), f"{clause.base} "
    if not is_yes and verb:
        return None
    if re.search(rf"\band {PERIOD}\Z", predicate) and clause.tail:  # "..., and through March 2021, loans were forgiven"
        return None
    question = f"{helper} {clause.subject} {verb}{predicate}{when_clause(clause)}"
    # what was once so was so at some time, or of something with a name
    if helper in ("did", "was", "were") and not re.search(rf"\b{YEAR}\b|\b[A-Z][\w'-]+ [A-Z]", question):
        return None
    if (clause.base in CHANGES or predicate.startswith("due to")) and not re.search(rf"\b{YEAR}\b", question):
        return None
    return question, is_yes, clause


MINIMUM_PREDICATE_WORDS: Final = 4
_CONDITION = re.compile(r"(?:If|When) (?P<condition>[^,;:]{15,160}), (?:then )?(?P<main>[^;:]{20,300})\.")


def _conditions(statement: Statement, speaker: str, common: frozenset[str]) -> list[Fact]:
    """If X, Y: what happens if X."""
    text = PARENTHESES.sub("", statement.text)
    match = _CONDITION.fullmatch(text)
    if match is None or '"' in text:
        return []
    condition, main = match["condition"], match["main"]
    words = [word.lower() for word in PART.findall(condition)]
    if (
        any(word in DANGLING - {"other"} for word in words)
        or not 7 <= len(words) <= 22
        or PREPOSITION_END.search(condition)
    ):
        return []
    if re.match(r"(?:neither|either|both|one|some|any) |\w+(?:ed|ing) ", condition):
        return []
    if (re.match(r"(?:the|a|an) [a-z]", condition) and not COMPANY.match(condition)) or re.search(
        rf"{MONTH} \d+\Z", condition
    ):
        return []
    if not re.search(rf"\b(?:{'|'.join(sorted(AUXILIARIES | set(THIRD) | set(PAST) | BASES))})\b", condition):
        return []
    if re.search(r"\bwe are\b|\bwe were\b|\bwe have\b|\bwe do\b", condition):
        condition = re.sub(
            r"\bwe (are|were|have|do)\b",
            lambda found: f"{speaker} " + {"are": "is", "were": "was", "have": "has", "do": "does"}[found[1]],
            condition,
        )
    if re.search(r"\bwe\b", condition):
        if not re.search(r"\bwe (?:cannot|fail|can|could|may|must|will|\w+ed)\b", condition):
            return []
        condition = re.sub(r"\bwe fail\b", f"{speaker} fails", condition)
        condition = re.sub(r"\bwe\b", speaker, condition)
    condition = re.sub(r"\byou are\b", "I am", condition)
    condition = re.sub(r"\byou\b", "I", condition)
    condition = speak_for(condition, speaker)
    del main, common
    return [make_fact(statement, f"what happens if {condition}", "condition", "description", "medium")]


_DEFINED = re.compile(
    r"(?P<name>(?:[A-Z][\w&'\u2019-]*|of|the|and|for|in|on|to)(?: (?:[A-Z][\w&'\u2019-]*|of|the|and|for|in|on|to|"
    r"&)){1,9}) "
    r"\((?:the |collectively, )?[\"\u201c\u2018]?(?P<short>[A-Z][A-Z&]{1,7})[\"\u201d\u2019]?\)"
)
_SMALL_WORDS = frozenset(["of", "the", "and", "for", "in", "on", "to", "&"])


def _abbreviations(text: str) -> list[Fact]:
    """Return the abbreviations that a chunk explains: the capitals of the name spell the short form."""
    facts = []
    position = 1000  # behind the sentences, which say more of the chunk
    for paragraph, _ in find_paragraphs(text):
        folded = " ".join(paragraph.split())
        for match in _DEFINED.finditer(folded):
            words = match["name"].split()
            short = match["short"].replace("&", "")
            for start in range(len(words)):
                candidate = words[start:]
                if candidate[0] in _SMALL_WORDS:
                    continue
                letters = "".join(word[0] for word in candidate if word not in _SMALL_WORDS)
                every = "".join(word[0].upper() for word in candidate)
                if short in (letters.upper(), every) and len(candidate) > 1:
                    name = " ".join(candidate)
                    position += 1
                    sentence = f"{match['short']} stands for {name}."
                    statement = Statement(sentence, position)
                    facts.append(
                        Fact(
                            f'what does the abbreviation "{match["short"]}" stand for',
                            statement.text,
                            name,
                            "abbreviation",
                            "abbreviation",
                            "easy",
                            (match["short"].lower(),),
                            True,
                            position,
                        )
                    )
                    break
    return facts
