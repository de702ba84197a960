"""The generator without a model: the same queries from the same texts, always.

It makes simple_factual, yes_no, multiple_choice and multi_hop queries of the facts of chunks
(:mod:`hcat.test_set.generation.facts`) and off_topic, vague and insufficient_context ones of templates that people edit
(seed query_templates). Queries that need an inference need a language model; the generator says so instead of leaving
them out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hcat.engine.keys import hash_text
from hcat.language.features import extract_features
from hcat.language.kinds import MONTHS, name_shape
from hcat.test_set.generation.clauses import common_words
from hcat.test_set.generation.facts import extract_facts, is_sound, read_yes_no
from hcat.test_set.generation.patterns import Fact, make_fact
from hcat.test_set.generation.sentences import find_statements

QUERY_TYPES: Final = (
    "simple_factual",
    "multi_hop",
    "inference",
    "yes_no",
    "multiple_choice",
    "open_ended",
    "off_topic",
    "vague",
    "insufficient_context",
)
"""Types of queries; the last three are to be refused."""

REFUSED_TYPES: Final = ("off_topic", "vague", "insufficient_context")
NEED_LANGUAGE_MODEL: Final = ("inference", "open_ended")

STATUSES: Final = (
    "generated",
    "no_fact_found",
    "no_template_fits",
    "no_partner_found",
    "needs_language_model",
    "budget_exhausted",
    "call_failed",
    "invalid_reply",
    "stopped",
)
"""What became of a request; each ends in exactly one of them."""

MAXIMUM_TITLE_CHARACTERS: Final = 80
MAXIMUM_MULTI_HOP_WORDS: Final = 60
_LETTERS: Final = "ABC"


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk as a source of queries.

    Parameters
    ----------
    chunk_id, text : str
    title : str or None
        Title of its document.
    """

    chunk_id: str
    text: str
    title: str | None


@dataclass(frozen=True, slots=True)
class Settings:
    """How the generator works.

    Parameters
    ----------
    speaker : str
        Who says "we" in the documents: a noun phrase in the singular.
    anchor : {"always", "when_needed"}
        Whether a query names its document always, or only where it is not clear without ("the company").
    seed : int
        Of every choice.
    """

    speaker: str = "the company"
    anchor: str = "always"
    seed: int = 20260101

    def __post_init__(self) -> None:
        if self.anchor not in ("always", "when_needed"):
            raise ValueError(f"anchor must be always or when_needed, got {self.anchor!r}")
        if not self.speaker.strip():
            raise ValueError("speaker must be a noun phrase, got nothing")


@dataclass(frozen=True, slots=True)
class Template:
    """A line of the seed query_templates.

    Parameters
    ----------
    template_id, query_type, text : str
        The text may hold ``{name}``, a proper name of the chunk, ``{event}``, something that happened
        in it, or ``{speaker}``, who says "we" in it.
    required_words, absent_words : tuple of str
        Words of which one must stand in the chunk, and of which none may.
    """

    template_id: str
    query_type: str
    text: str
    required_words: tuple[str, ...] = ()
    absent_words: tuple[str, ...] = ()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Template:
        """Return the template of a row of the seed; words are separated by blanks."""
        required, absent = (tuple((row[name] or "").lower().split()) for name in ("required_words", "absent_words"))
        return cls(str(row["template_id"]), str(row["query_type"]), str(row["template"]), required, absent)


@dataclass(frozen=True, slots=True)
class Query:
    """A generated query, before selection.

    Parameters
    ----------
    text, query_type, difficulty, answer_type, expected_behaviour
        As in the raw contract.
    reference_answer : str or None
        None where the query is to be refused.
    source_chunk_ids : tuple of str
        Chunks that answer it; empty where none does.
    pattern : str
        The rule or template that made it.
    """

    text: str
    query_type: str
    difficulty: str
    answer_type: str
    expected_behaviour: str
    reference_answer: str | None
    source_chunk_ids: tuple[str, ...]
    pattern: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The queries of one request and what became of it (one of :data:`STATUSES`, with a line in words)."""

    status: str
    detail: str
    queries: tuple[Query, ...] = field(default=())


def generate(
    query_type: str,
    count: int,
    source: Source,
    partners: Sequence[Source],
    templates: Sequence[Template],
    settings: Settings,
) -> Outcome:
    """Return the queries of one type for one chunk."""
    if query_type not in QUERY_TYPES:
        raise ValueError(f"query_type must be one of {', '.join(QUERY_TYPES)}, got {query_type!r}")
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    if query_type in NEED_LANGUAGE_MODEL:
        detail = f"{query_type} queries need a language model: set hcat_generator to language_model"
        return Outcome("needs_language_model", detail)
    if query_type == "multi_hop":
        return _multi_hop(count, source, partners, settings)
    if query_type in REFUSED_TYPES:
        return _refused(query_type, count, source, templates, settings)
    makers = {"simple_factual": _simple, "yes_no": _yes_no, "multiple_choice": _multiple_choice}
    queries = makers[query_type](count, source, settings)
    if not queries:
        return Outcome("no_fact_found", f"no sentence of the chunk is plain enough for a {query_type} query")
    return Outcome("generated", f"{len(queries)} of {count}", tuple(queries))


# ---------------------------------------------------------------------------------------------------------------------
# Queries that have an answer


def _rank(settings: Settings, purpose: str, text: str) -> str:
    """Return what orders choices: a hash, so that neither position nor length decides."""
    return hash_text(str(settings.seed), purpose, text)


def _facts(source: Source, settings: Settings) -> list[Fact]:
    facts = extract_facts(source.text, settings.speaker)
    usable = [fact for fact in facts if source.title or not fact.needs_document]
    return sorted(usable, key=lambda fact: _rank(settings, "fact", fact.question))


def _ask(question: str, title: str | None, needs_document: bool, settings: Settings) -> str:
    """Return a question as a sentence, with the name of its document where that is asked for."""
    if title and (needs_document or settings.anchor == "always"):
        return f'According to "{_short(title)}", {question}?'
    return f"{question[0].upper()}{question[1:]}?"


def _short(title: str) -> str:
    folded = " ".join(title.replace('"', "'").split())
    if len(folded) <= MAXIMUM_TITLE_CHARACTERS:
        return folded
    return folded[:MAXIMUM_TITLE_CHARACTERS].rsplit(" ", 1)[0].rstrip(" ,;:-")


def _choice_fact(facts: Sequence[Fact], text: str) -> Fact | None:
    """Return the fact that the multiple-choice query asks for; the simple ones leave it alone where there are "
    "others."""
    numeric = [fact for fact in facts if fact.answer_type == "numeric" and _distractors(fact.answer, text)]
    return numeric[-1] if numeric else None


def _simple(count: int, source: Source, settings: Settings) -> list[Query]:
    facts = _facts(source, settings)
    reserved = _choice_fact(facts, source.text)
    if len(facts) > 1 and reserved is not None:
        facts.remove(reserved)
    return [_query(fact, "simple_factual", source, settings) for fact in facts[:count]]


def _query(fact: Fact, query_type: str, source: Source, settings: Settings) -> Query:
    return Query(
        _ask(fact.question, source.title, fact.needs_document, settings),
        query_type,
        fact.difficulty,
        fact.answer_type,
        "answer",
        fact.sentence,
        (source.chunk_id,),
        fact.pattern,
    )


def _multiple_choice(count: int, source: Source, settings: Settings) -> list[Query]:
    facts = _facts(source, settings)
    chosen = [fact for fact in (_choice_fact(facts, source.text),) if fact is not None]
    queries = []
    for fact in chosen[:count]:
        answer = _bare(fact.answer)
        wrong = sorted(_distractors(fact.answer, source.text), key=lambda each: _rank(settings, fact.question, each))[
            :2
        ]
        options = sorted((answer, *wrong), key=_sort_key)
        letter = _LETTERS[options.index(answer)]
        listed = " ".join(f"{mark}) {option}" for mark, option in zip(_LETTERS, options, strict=True))
        text = f"{_ask(fact.question, source.title, fact.needs_document, settings)} {listed}"
        queries.append(
            Query(
                text,
                "multiple_choice",
                fact.difficulty,
                fact.answer_type,
                "answer",
                f"{letter}) {answer}. {fact.sentence}",
                (source.chunk_id,),
                fact.pattern,
            )
        )
    return queries


def _yes_no(count: int, source: Source, settings: Settings) -> list[Query]:
    asked = {fact.position for fact in _facts(source, settings)}
    common = common_words(source.text)
    found: list[tuple[bool, str, Query]] = []
    for statement in find_statements(source.text):
        read = read_yes_no(statement, settings.speaker, common)
        if read is None:
            continue
        question, is_yes, _ = read
        if is_yes and int(_rank(settings, "polarity", question)[:2], 16) % 2:
            false = _falsify(question, source.text)
            if false is not None:
                question, is_yes = false, False
        fact = make_fact(statement, question, "yes_no", "description", "easy" if is_yes else "medium")
        if not is_sound(fact) or (fact.needs_document and not source.title):
            continue
        reference = f"{'Yes' if is_yes else 'No'}. {statement.text}"
        text = _ask(question, source.title, fact.needs_document, settings)
        query = Query(text, "yes_no", fact.difficulty, "description", "answer", reference, (source.chunk_id,), "yes_no")
        # sentences that no other query asks for come first
        found.append((statement.position in asked, _rank(settings, "yes_no", question), query))
    return [query for _, _, query in sorted(found, key=lambda each: each[:2])[:count]]


def _multi_hop(count: int, source: Source, partners: Sequence[Source], settings: Settings) -> Outcome:
    """Join a fact of the chunk with one of another chunk of the same document that shares a name with it."""
    own = [fact for fact in _facts(source, settings) if fact.pattern in _JOINABLE]
    if not own:
        return Outcome("no_fact_found", "no sentence of the chunk is plain enough for a multi_hop query")
    found: list[tuple[int, str, Query]] = []
    for order, partner in enumerate(partners):
        if partner.title != source.title:
            continue
        for second in _facts(partner, settings):
            if second.pattern not in _JOINABLE or second.sentence in source.text:
                continue
            for first in own:
                shared = _shared_name(first, second, settings)
                if shared is None or first.question == second.question:
                    continue
                question = f"{first.question}, and {second.question}"
                if len(question.split()) > MAXIMUM_MULTI_HOP_WORDS:
                    continue
                text = _ask(question, source.title, first.needs_document or second.needs_document, settings)
                query = Query(
                    text,
                    "multi_hop",
                    "hard",
                    "numeric" if first.answer_type == second.answer_type == "numeric" else "description",
                    "answer",
                    f"{first.sentence} {second.sentence}",
                    (source.chunk_id, partner.chunk_id),
                    f"{first.pattern} and {second.pattern}",
                )
                # a proper name before the speaker, then the order of the partners
                found.append((2 * order + (shared == "speaker"), _rank(settings, "multi_hop", question), query))
    if not found:
        return Outcome(
            "no_partner_found", f"none of {len(partners)} other chunks shares a name with a fact of the chunk"
        )
    queries = [query for _, _, query in sorted(found, key=lambda each: each[:2])[:count]]
    return Outcome("generated", f"{len(queries)} of {count}", tuple(queries))


_JOINABLE = frozenset(
    (
        "event",
        "amount",
        "quantity",
        "change",
        "total",
        "share",
        "reason",
        "place",
        "position",
        "term",
        "definition",
        "means",
    )
)


def _shared_name(first: Fact, second: Fact, settings: Settings) -> str | None:
    shared = [name for name in first.names if name in second.names and len(name) > 2 and not name[0].isdigit()]
    if shared:
        return shared[0]
    speaks = re.compile(rf"\b(?:{re.escape(settings.speaker)}|the Company)\b")
    return "speaker" if speaks.search(first.question) and speaks.search(second.question) else None


# ---------------------------------------------------------------------------------------------------------------------
# Numbers that are wrong, but alike

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_YEAR_ALONE = re.compile(r"(?<![\d.,$\u20ac\u00a3])(?:19|20)\d\d(?![\d,.]*\d|%)")
_MONTH_NAMES = tuple(month.capitalize() for month in MONTHS)
_MONTH_NAME = re.compile(rf"\b(?:{'|'.join(_MONTH_NAMES)})\b")
_HEDGES = re.compile(
    r"\A(?:(?:approximately|about|around|nearly|almost|roughly|only|just|over|more than|less than|at least|at most|"
    r"up to|"
    r"an aggregate of|a total of) )+"
)
_WORDS_OF_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_FACTORS: Final = (0.6, 0.75, 0.85, 1.2, 1.35, 1.6)
_SHIFTS_OF_YEARS = (-2, -1, 1, 2)
_SHIFTS_OF_MONTHS = (2, 5, 7, 10)
_LONGEST_OPTION_WORDS = 7


def _bare(answer: str) -> str:
    return _HEDGES.sub("", answer).strip()


def _distractors(answer: str, text: str) -> list[str]:
    """Return amounts or dates like the answer, of the same kind, that the chunk does not hold; at least two or none."""
    bare = _bare(answer)
    if len(bare.split()) > _LONGEST_OPTION_WORDS or re.search(r"\b(?:and|or|to|after|of|in)\b", bare):
        return []
    options = [option for option in _vary(bare) if option != bare and option not in text]
    return options if len(options) > 1 else []


def _vary(surface: str) -> list[str]:
    """Return a number or date with its value changed, in the same form."""
    month = _MONTH_NAME.search(surface)
    year = _YEAR_ALONE.search(surface)
    if month is not None:
        index = _MONTH_NAMES.index(month.group())
        return [
            surface[: month.start()] + _MONTH_NAMES[(index + shift) % len(_MONTH_NAMES)] + surface[month.end() :]
            for shift in _SHIFTS_OF_MONTHS
        ]
    if year is not None:
        value = int(year.group())
        return [f"{surface[: year.start()]}{value + shift}{surface[year.end() :]}" for shift in _SHIFTS_OF_YEARS]
    number = _NUMBER.search(surface)
    if number is None:
        first, _, rest = surface.partition(" ")
        if first in _WORDS_OF_NUMBERS:
            position = _WORDS_OF_NUMBERS.index(first)
            near = [position - 1, position + 1, position + 2]
            words = [_WORDS_OF_NUMBERS[at] for at in near if 0 <= at < len(_WORDS_OF_NUMBERS)]
            return [f"{word} {rest}".strip() for word in words]
        return []
    written = number.group()
    amount = float(written.replace(",", ""))
    decimals = len(written.partition(".")[2])
    is_percent = surface[number.end() :].lstrip().startswith(("%", "percent"))
    varied: list[str] = []
    for number_of_step, factor in enumerate(_FACTORS, start=1):
        changed = round(amount * factor, decimals)
        if changed == amount:  # too small for the factor: one, two, ... steps of its last digit
            step = number_of_step * 10.0**-decimals
            changed = round(amount + step if factor > 1 else amount - step, decimals)
        if changed <= 0 or (is_percent and amount <= 100 < changed):
            continue
        shown = f"{changed:,.{decimals}f}" if "," in written else f"{changed:.{decimals}f}"
        varied.append(surface[: number.start()] + shown + surface[number.end() :])
    return list(dict.fromkeys(varied))


def _sort_key(option: str) -> tuple[float, ...]:
    month = _MONTH_NAME.search(option)
    numbers = [float(found.replace(",", "")) for found in _NUMBER.findall(option)]
    if month is not None:
        return (numbers[-1] if numbers else 0.0, float(_MONTH_NAMES.index(month.group())), *numbers[:1])
    if numbers:
        return tuple(numbers)
    first = option.split(" ", 1)[0]
    return (float(_WORDS_OF_NUMBERS.index(first)) if first in _WORDS_OF_NUMBERS else 0.0,)


_FALSIFIABLE = re.compile(
    r"(?:[$\u20ac\u00a3]\d[\d,]*(?:\.\d+)?(?: (?:thousand|million|billion|trillion))?|"
    r"\d[\d,]*(?:\.\d+)?\s?(?:%|percent)|(?<![\w.,$-])\d[\d,]*(?:\.\d+)? (?=[a-z]{3,}))"
)
_BOUND = re.compile(
    r"\b(?:(?P<upper>up to|at most|within|no more than|maximum of)|(?P<lower>at least|minimum of|no less than)|"
    r"more than|over|above|exceeds?|exceeding|less than|below|under|fewer than|nearly|almost|between|from|to|and) "
    r"(?:a |the )?(?:US|A|C|HK|S)?\Z",
    re.IGNORECASE,
)
_CHANGE_WORDS = {"increase": "decrease", "decrease": "increase", "decline": "increase"}
_CHANGE = re.compile(r"\bdid (?P<subject>.{3,80}?) (?P<change>increase|decrease|decline)(?= )")


def _falsify(question: str, text: str) -> str | None:
    """Return the question with one number or the direction of a change made wrong; None where neither is there."""
    change = _CHANGE.match(question)
    if change is not None and not re.search(r" to (?:approximately )?(?:[$\u20ac\u00a3]\s?)?\d", question):
        return question[: change.start("change")] + _CHANGE_WORDS[change["change"]] + question[change.end("change") :]
    numbers = list(_FALSIFIABLE.finditer(question))
    if len(numbers) != 1:
        return None
    match = numbers[0]
    surface = match.group().rstrip()
    # a bound is only wrong beyond it: who can have up to 35 can have 30, and "more than 10" may be 12
    hedge = _BOUND.search(question[: match.start()])
    is_upward = False
    if hedge is not None:
        is_upward = hedge["upper"] is not None or (
            hedge["lower"] is not None and re.search(r"\b(?:need|require|must)\b", question) is not None
        )
        if not is_upward:
            return None
    elif question.startswith(("can ", "could ")):
        return None
    if _YEAR_ALONE.fullmatch(surface):
        return None
    for option in sorted(_vary(surface), key=hash_text):
        if option not in text and (not is_upward or _sort_key(option) > _sort_key(surface)):
            return question[: match.start()] + option + question[match.start() + len(surface) :]
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Queries that are to be refused

_WORD = re.compile(r"[^\W_]+")
_SHIFT_OF_OLD_YEARS = 25
_QUESTION_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def _refused(query_type: str, count: int, source: Source, templates: Sequence[Template], settings: Settings) -> Outcome:
    words = {word.lower() for word in _WORD.findall(source.text)}
    if source.title:
        words |= {word.lower() for word in _WORD.findall(source.title)}
    names = _names(source)
    events = [fact for fact in _facts(source, settings) if fact.event]
    candidates: list[tuple[str, Query]] = []
    if query_type == "insufficient_context":
        candidates += [
            ("amount " + _rank(settings, "year", query.text), query) for query in _other_years(source, settings)
        ]
    for template in templates:
        if template.query_type != query_type or not words.isdisjoint(template.absent_words):
            continue
        if template.required_words and words.isdisjoint(template.required_words):
            continue
        text = template.text
        if "{speaker}" in text:
            if not source.title or not _SPEAKS.search(source.text):
                continue
            text = text.replace("{speaker}", settings.speaker)
            text = _ask(text[0].lower() + text[1:].rstrip("?"), source.title, True, settings)
        if "{event}" in text:
            if not events:
                continue
            event = min(events, key=lambda each: _rank(settings, template.template_id, each.event))
            text = text.replace("{event}", event.event)
            if event.needs_document or settings.anchor == "always":
                if not source.title:
                    continue
                text = _ask(text[0].lower() + text[1:].rstrip("?"), source.title, True, settings)
        if "{name}" in text:
            if not names:
                continue
            text = text.replace("{name}", min(names, key=lambda name: _rank(settings, template.template_id, name)))
        query = _refusal(text, query_type, template.template_id)
        # what happened and who is named in the chunk come before the speaker, of whom every chunk of a document speaks
        place = "speaker " if "{speaker}" in template.text else "event " if "{event}" in template.text else "name "
        candidates.append((place + _rank(settings, template.template_id, source.text), query))
    if not candidates:
        return Outcome("no_template_fits", f"none of the templates for {query_type} fits the chunk")
    chosen = [query for _, query in sorted(candidates, key=lambda each: each[0])[:count]]
    return Outcome("generated", f"{len(chosen)} of {count}", tuple(chosen))


def _refusal(text: str, query_type: str, pattern: str) -> Query:
    return Query(text, query_type, "medium", "description", "refuse", None, (), pattern)


def _other_years(source: Source, settings: Settings) -> list[Query]:
    """Return amounts asked for years of which the chunk says nothing."""
    queries = []
    for fact in _facts(source, settings):
        years = _QUESTION_YEAR.findall(fact.question)
        if fact.pattern not in ("amount", "total", "quantity", "change", "share") or len(years) != 1:
            continue
        shift = _SHIFT_OF_OLD_YEARS + int(_rank(settings, "shift", fact.question)[:2], 16) % 5
        other = str(int(years[0]) - shift)
        if other in source.text:
            continue
        question = fact.question.replace(years[0], other)
        text = _ask(question, source.title, fact.needs_document, settings)
        queries.append(_refusal(text, "insufficient_context", f"{fact.pattern} of another year"))
    return queries


_SPEAKS = re.compile(r"\b(?:[Ww]e|[Oo]ur|the (?:Company|Firm|Bank|Group|Corporation))\b")
# terms of contracts and reports, which look like names
_TERMS_LIST = """
Date Period Year Time Day Event Term Terms Condition Conditions Section Sections Statement Statements Sheet Sheets
Party Participant Administrator Employee Employer Stock Shares Notes Agreement Plan Act Code Contract Contracts
Account Spouse Company Co Inc Corp Ltd Director Directors Officer Committee Board Revenue Income Loss Value Expense
Rate Amount Item Note
No Nos Chair President Chairman Counsel Secretary Treasurer Controller Executive Manager Officers Auditor Subject
"""
_TERMS = frozenset(_TERMS_LIST.split())
_NAME = re.compile(r"[A-Z][\w'-]*(?: (?:of|and|for|&) [A-Z][\w'-]*| [A-Z][\w'-]*)+")
_LONGEST_NAME_WORDS = 5
_DETERMINERS_LIST = """
a an any each every such our its your their his her this that these those no another other all
"""
_DETERMINERS = frozenset(_DETERMINERS_LIST.split())


def _names(source: Source) -> list[str]:
    """Return the proper names of more than one word in whole sentences of the chunk."""
    found: dict[str, None] = {}
    for statement in find_statements(source.text):
        for mention in extract_features(statement.text).entity_mentions:
            name = mention.surface.strip(".,")
            words = name.split()
            is_opening = mention.start == 0
            if is_opening or not 2 <= len(words) <= _LONGEST_NAME_WORDS or not _NAME.fullmatch(name):
                continue
            before = statement.text[: mention.start].split()[-1:]
            behind = statement.text[mention.end :]
            # "the Port Merrow branch": a part of a longer name
            if not re.match(
                r"[.,;)]|\Z| (?:is|was|has|have|had|can|will|may|must|are|in|at|for|to|and|or|with|on|by|as)\b", behind
            ):
                continue
            if statement.text[mention.start - 1] != " ":  # "Buy-to-Let Mortgage"
                continue
            if before and before[0].lower() in _DETERMINERS:
                continue
            if words[-1].endswith("s") and words[-1] not in ("States", "Nations"):
                continue
            if before == ["the"]:
                name = f"the {name}"
            if words[-1] in _TERMS:
                continue
            if (
                name_shape(mention.surface)[0] in ("name", "person")
                and not re.search(r"\d|'s\Z", name)
                and not _MONTH_NAME.search(name)
            ):
                found[name] = None
    return sorted(found)


__all__ = [
    "NEED_LANGUAGE_MODEL",
    "QUERY_TYPES",
    "REFUSED_TYPES",
    "STATUSES",
    "Outcome",
    "Query",
    "Settings",
    "Source",
    "Template",
    "generate",
]
