"""Facts of a chunk as questions: one sentence, one plain pattern, one question with its answer."""

import functools
import re
from typing import Final

from hcat.test_set.generation.clauses import Clause, is_specific, read_clauses, speak_for
from hcat.test_set.generation.english import (
    AUDITOR,
    CHANGES,
    COMPANY,
    DEFINED_ALONE,
    MONTH,
    NEGATION,
    OWN,
    PARENTHESES,
    POINTING,
    PREPOSITION_END,
    RELATIVE_TIME,
    WORD,
    YEAR,
)
from hcat.test_set.generation.patterns import Fact, find_fact, make_fact
from hcat.test_set.generation.sentences import Statement, find_paragraphs, find_statements

MAXIMUM_QUESTION_WORDS: Final = 34
MINIMUM_PREDICATE_WORDS: Final = 4
#: Patterns whose questions end with a preposition: what is it based on?
_OPEN_ENDS = frozenset(("abbreviation", "parts", "purpose"))
_ASKING = frozenset(("what", "when", "where", "who", "whom", "how", "why", "which", "if"))
_HOLDS_SOMETIMES = re.compile(
    r"\b(?:if|unless|except|provided that|provided,|only when|when|until|subject to|assuming|in the event|to the "
    r"extent|may not be|there can be no assurance|would have|could have)\b",
    re.IGNORECASE,
)
#: What such predicates say is said elsewhere, is an opinion, or compares.
_NO_YES_NO = re.compile(
    r"\b(?:found|described|discussed|disclosed|defined|contained) (?:in|on|elsewhere|under)\b|\bglossary\b|\bthat\b|"
    r"\b(?:believe|expect|estimate|assume)|\bas (?:higher|lower|increased|decreased)\b|\b(?:and|or) (?:be|are|is)\b"
)
_NO_TAIL = re.compile(
    r"offset\b|driven\b|attributable\b|resulting\b|representing\b|reflecting\b|,? (?:but not|less|plus|divided|net|"
    r"times|multiplied|and|or|if|who|which)\b|, [^,]{1,60}, (?:the|a|an|any|all|its|our|their) "
)
_CONDITION = re.compile(r"(?:If|When) (?P<condition>[^,;:]{15,160}), (?:then )?[^;:]{20,300}\.")
_CAPITALISED = r"(?:[A-Z][\w&'\u2019-]*|of|the|and|for|in|on|to)"
_DEFINED = re.compile(
    rf"(?P<name>{_CAPITALISED}(?: (?:{_CAPITALISED}|&)){{1,9}}) "
    r"\((?:the |collectively, )?[\"\u201c\u2018]?(?P<short>[A-Z][A-Z&]{1,7})[\"\u201d\u2019]?\)"
)
_SMALL_WORDS = frozenset(["of", "the", "and", "for", "in", "on", "to", "&"])


@functools.lru_cache(maxsize=1024)
def _read(text: str, speaker: str) -> tuple[tuple[Statement, Clause | None], ...]:
    """Return the sentences of a chunk with their clauses that are plain; an auditor's "we" is somebody else."""
    statements = () if AUDITOR.search(text) else find_statements(text)
    clauses = read_clauses([statement.text for statement in statements], speaker)
    return tuple(
        (statement, clause if clause is not None and is_specific(clause.subject, speaker) else None)
        for statement, clause in zip(statements, clauses, strict=True)
    )


@functools.lru_cache(maxsize=1024)
def extract_facts(text: str, speaker: str) -> tuple[Fact, ...]:
    """Return the facts of a chunk in the order of its sentences, one question per (sentence, pattern) at most."""
    facts: list[Fact] = []
    for statement, clause in _read(text, speaker):
        facts += _conditions(statement, speaker)
        fact = None if clause is None else find_fact(statement.text, statement.position, clause)
        facts += [fact] if fact is not None else []
    facts += _abbreviations(text) if not AUDITOR.search(text) else []
    kept: dict[str, Fact] = {}
    for fact in sorted(facts, key=lambda each: each.position):
        if is_sound(fact):
            kept.setdefault(fact.question.casefold(), fact)
    return tuple(kept.values())


def is_sound(fact: Fact) -> bool:
    """Return whether a question stands by itself, apart from the name of its document."""
    question = fact.question
    words = [word.lower() for word in WORD.findall(question)]
    if not 4 <= len(question.split()) <= MAXIMUM_QUESTION_WORDS or question.count('"') % 2 or question.count(",") > 3:
        return False
    if not (POINTING - OWN - _ASKING | {"we"}).isdisjoint(words):
        return False
    if fact.pattern != "condition" and not _ASKING.isdisjoint(words[3:]):
        return False
    if RELATIVE_TIME.search(question) or re.search(r"[;:]|\d\)|\s,|,\Z| \.|\b(\w+) \1\b", question):
        return False
    if fact.pattern not in _OPEN_ENDS and PREPOSITION_END.search(question):
        return False
    return DEFINED_ALONE.search(question) is None


def read_yes_no(text: str, speaker: str) -> list[tuple[Statement, str, bool]]:
    """Return the sentences of a chunk that answer a question with yes or no, the question, and whether it is yes."""
    found = []
    for statement, clause in _read(text, speaker):
        if clause is not None and not _HOLDS_SOMETIMES.search(statement.text):
            asked = _ask_yes_no(clause)
            found += [(statement, *asked)] if asked is not None else []
    return found


def _ask_yes_no(clause: Clause) -> tuple[str, bool] | None:
    predicate, is_yes = clause.predicate.removeprefix("not "), not clause.predicate.startswith("not ")
    if NEGATION.search(predicate) or len(predicate.split()) < MINIMUM_PREDICATE_WORDS or clause.is_list_cut:
        return None
    if _NO_YES_NO.search(f"{clause.base} {predicate}") or _NO_TAIL.match(clause.tail):
        return None
    if clause.lead and re.search(rf"\b{YEAR}\b", predicate):
        return None
    if clause.base:
        if not is_yes:
            return None
        question = f"{clause.do} {clause.subject} {clause.base} {predicate}{clause.when}"
    elif clause.verb in ("has", "have") and not clause.has_participle:
        if not is_yes:
            return None
        question = f"{'does' if clause.verb == 'has' else 'do'} {clause.subject} have {predicate}{clause.when}"
    elif clause.verb in ("would", "should", "might", "had") or re.match(r"un\w+ed\b", predicate):
        return None
    else:
        # "may the price fall?" would ask for permission
        helper = {"may": "could", "shall": "must"}.get(clause.verb, clause.be)
        question = f"{helper} {clause.subject} {predicate}{clause.when}"
    has_year = re.search(rf"\b{YEAR}\b", question) is not None
    # what was once so was so at some time, or of something with a name
    if (
        question.startswith(("did ", "was ", "were "))
        and not has_year
        and not re.search(r"[A-Z][\w'-]+ [A-Z]", question)
    ):
        return None
    return None if clause.base in CHANGES and not has_year else (question, is_yes)


def _conditions(statement: Statement, speaker: str) -> list[Fact]:
    """If X, Y: what happens if X."""
    match = _CONDITION.fullmatch(PARENTHESES.sub("", statement.text))
    if match is None or '"' in statement.text:
        return []
    condition = match["condition"]
    words = [word.lower() for word in WORD.findall(condition)]
    if not (POINTING - {"other"}).isdisjoint(words) or not 7 <= len(words) <= 22 or PREPOSITION_END.search(condition):
        return []
    if re.match(r"(?:neither|either|both|one|some|any) |\w+(?:ed|ing) ", condition) or (
        re.match(r"(?:the|a|an) [a-z]", condition) and not COMPANY.match(condition)
    ):
        return []
    if re.search(rf"{MONTH} \d+\Z", condition):
        return []
    for said, asked in (("are", "is"), ("were", "was"), ("have", "has"), ("do", "does"), ("fail", "fails")):
        condition = re.sub(rf"\bwe {said}\b", f"{speaker} {asked}", condition)
    condition = re.sub(r"\bwe (?=(?:cannot|can|could|may|must|will|\w+ed)\b)", f"{speaker} ", condition)
    if re.search(r"\bwe\b", condition):
        return []
    for said, asked in ((r"you are", "I am"), (r"you(?=\Z| (?:to|for|with|in|of|the|an?)\b)", "me"), (r"you", "I")):
        condition = re.sub(rf"\b{said}\b", asked, condition)
    condition = speak_for(condition, speaker)
    question = f"what happens if {condition}"
    return [make_fact(statement.text, statement.position, question, "condition", "description", "medium")]


def _abbreviations(text: str) -> list[Fact]:
    """Return the abbreviations that a chunk explains: the capitals of the name spell the short form."""
    facts = []
    folded = [" ".join(paragraph.split()) for paragraph, _ in find_paragraphs(text)]
    # behind the sentences, which say more of the chunk
    for position, match in enumerate((found for each in folded for found in _DEFINED.finditer(each)), start=1001):
        words, short = match["name"].split(), match["short"].replace("&", "")
        for candidate in (words[start:] for start in range(len(words) - 1)):
            letters = "".join(word[0] for word in candidate if word not in _SMALL_WORDS).upper()
            every = "".join(word[0].upper() for word in candidate)
            if candidate[0] not in _SMALL_WORDS and short in (letters, every):
                name = " ".join(candidate)
                question = f'what does the abbreviation "{match["short"]}" stand for'
                sentence = f"{match['short']} stands for {name}."
                names = (match["short"].lower(),)
                facts.append(
                    Fact(question, sentence, name, "abbreviation", "abbreviation", "easy", names, True, position)
                )
                break
    return facts
