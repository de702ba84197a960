"""The generator without a model: the same queries from the same texts, always.

Queries with an answer are made of the facts of chunks (:mod:`hcat.test_set.generation.facts`), those to be refused of
templates that people edit (seed query_templates). What needs an inference needs a language model, and is told so.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from hcat.engine.keys import hash_text
from hcat.language.features import extract_features
from hcat.language.given_names import word_set
from hcat.language.kinds import MONTHS, name_shape, replaceable_numbers
from hcat.test_set.generation.english import HEDGE
from hcat.test_set.generation.facts import extract_facts, is_sound, read_yes_no
from hcat.test_set.generation.patterns import Fact, make_fact
from hcat.test_set.generation.sentences import find_statements
from hcat.test_set.perturbation.numbers import other_numbers

REFUSED_TYPES: Final = ("off_topic", "vague", "insufficient_context")
NEED_LANGUAGE_MODEL: Final = ("inference", "open_ended")
QUERY_TYPES: Final = ("simple_factual", "multi_hop", "yes_no", "multiple_choice", *NEED_LANGUAGE_MODEL, *REFUSED_TYPES)

MAXIMUM_TITLE_CHARACTERS: Final = 80
MAXIMUM_MULTI_HOP_WORDS: Final = 60


class Source(NamedTuple):
    """A chunk as a source of queries, with the title of its document."""

    chunk_id: str
    text: str
    title: str | None


class Settings(NamedTuple):
    """Who says "we" in the documents (a noun phrase in the singular), and the seed of every choice."""

    speaker: str = "the company"
    seed: int = 20260101


class Template(NamedTuple):
    """A line of the seed query_templates."""

    template_id: str
    query_type: str
    text: str  # may hold {name}, a proper name of the chunk, {event}, something that happened in it, or {speaker}
    required_words: tuple[str, ...] = ()  # one of them must stand in the chunk
    absent_words: tuple[str, ...] = ()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Template:
        """Return the template of a row of the seed; words are separated by blanks."""
        required, absent = (tuple((row[name] or "").lower().split()) for name in ("required_words", "absent_words"))
        return cls(str(row["template_id"]), str(row["query_type"]), str(row["template"]), required, absent)


class Query(NamedTuple):
    """A generated query, before selection, with the rule or template that made it."""

    text: str
    query_type: str
    difficulty: str
    answer_type: str
    expected_behaviour: str
    reference_answer: str | None
    source_chunk_ids: tuple[str, ...]
    pattern: str


class Outcome(NamedTuple):
    """The queries of one request and what became of it (a status, and a line in words)."""

    status: str
    detail: str
    queries: tuple[Query, ...] = ()


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
    if query_type in NEED_LANGUAGE_MODEL:
        detail = f"{query_type} queries need a language model: set hcat_generator to language_model"
        return Outcome("needs_language_model", detail)
    if query_type == "multi_hop":
        ranked, missing = _multi_hop(count, source, partners, settings)
    elif query_type in REFUSED_TYPES:
        fitting = [each for each in templates if each.query_type == query_type]
        ranked, missing = _refused(query_type, source, fitting, settings), "no_template_fits"
    else:
        makers = {"simple_factual": _simple, "yes_no": _yes_no, "multiple_choice": _multiple_choice}
        ranked, missing = makers[query_type](source, settings), "no_fact_found"
    if not ranked:
        reasons = {
            "no_template_fits": f"none of the templates for {query_type} fits the chunk",
            "no_fact_found": f"no sentence of the chunk is plain enough for a {query_type} query",
            "no_partner_found": f"none of {len(partners)} other chunks shares a name with a fact of the chunk",
        }
        return Outcome(missing, reasons[missing])
    queries = [query for _, query in sorted(ranked, key=lambda each: each[0])[:count]]
    return Outcome("generated", f"{len(queries)} of {count}", tuple(queries))


#: Queries with what orders them.
_Ranked = list[tuple[tuple[float, str], Query]]


def _rank(settings: Settings, purpose: str, text: str) -> str:
    """Return what orders choices: a hash, so that neither position nor length decides."""
    return hash_text(str(settings.seed), purpose, text)


def _facts(source: Source, settings: Settings) -> list[Fact]:
    facts = extract_facts(source.text, settings.speaker)
    usable = [fact for fact in facts if source.title or not fact.needs_document]
    return sorted(usable, key=lambda fact: _rank(settings, "fact", fact.question))


def _ask(question: str, title: str | None) -> str:
    """Return a question as a sentence that names its document."""
    if not title:
        return f"{question[0].upper()}{question[1:]}?"
    short = " ".join(title.replace('"', "'").split())
    if len(short) > MAXIMUM_TITLE_CHARACTERS:
        short = short[:MAXIMUM_TITLE_CHARACTERS].rsplit(" ", 1)[0].rstrip(" ,;:-")
    return f'According to "{short}", {question[0].lower()}{question[1:]}?' if question[:2] != "I " else f"{question}?"


def _query(fact: Fact, query_type: str, source: Source) -> Query:
    return Query(
        _ask(fact.question, source.title),
        query_type,
        fact.difficulty,
        fact.answer_type,
        "answer",
        fact.sentence,
        (source.chunk_id,),
        fact.pattern,
    )


def _choice_fact(facts: Sequence[Fact], text: str) -> Fact | None:
    """Return the fact of the multiple-choice query; the simple ones leave it alone where there are others."""
    numeric = [fact for fact in facts if fact.answer_type == "numeric" and len(_wrong_numbers(_bare(fact), text)) > 1]
    return numeric[-1] if numeric else None


def _simple(source: Source, settings: Settings) -> _Ranked:
    facts = _facts(source, settings)
    reserved = _choice_fact(facts, source.text)
    if len(facts) > 1 and reserved is not None:
        facts.remove(reserved)
    return [((place, ""), _query(fact, "simple_factual", source)) for place, fact in enumerate(facts)]


def _multiple_choice(source: Source, settings: Settings) -> _Ranked:
    fact = _choice_fact(_facts(source, settings), source.text)
    if fact is None:
        return []
    answer = _bare(fact)
    options = sorted(
        [answer, *_wrong_numbers(answer, source.text)[:2]], key=lambda each: _rank(settings, "option", each)
    )
    listed = " ".join(f"{mark}) {option}" for mark, option in zip("ABC", options, strict=True))
    query = _query(fact, "multiple_choice", source)
    reference = f"{'ABC'[options.index(answer)]}) {answer}. {fact.sentence}"
    return [((0, ""), query._replace(text=f"{query.text} {listed}", reference_answer=reference))]


def _yes_no(source: Source, settings: Settings) -> _Ranked:
    asked = {fact.position for fact in _facts(source, settings)}
    found: _Ranked = []
    for statement, question, is_yes in read_yes_no(source.text, settings.speaker):
        false = None
        if is_yes and int(_rank(settings, "polarity", question)[:2], 16) % 2:
            false = _falsify(question, source.text)
        question, is_yes = false or question, is_yes and false is None
        difficulty = "easy" if is_yes else "medium"
        fact = make_fact(statement.text, statement.position, question, "yes_no", "description", difficulty)
        if is_sound(fact) and (source.title or not fact.needs_document):
            reference = f"{'Yes' if is_yes else 'No'}. {statement.text}"
            query = _query(fact, "yes_no", source)._replace(reference_answer=reference)
            # sentences that no other query asks for come first
            found.append(((statement.position in asked, _rank(settings, "yes_no", question)), query))
    return found


_JOINABLE = word_set("event amount quantity change total share reason place term definition means")


def _multi_hop(count: int, source: Source, partners: Sequence[Source], settings: Settings) -> tuple[_Ranked, str]:
    """Join a fact of the chunk with one of another chunk of the same document that shares a name with it."""
    own = [fact for fact in _facts(source, settings) if fact.pattern in _JOINABLE]
    if not own:
        return [], "no_fact_found"
    found: _Ranked = []
    for order, partner in enumerate(partners):
        if partner.title != source.title:
            continue
        others = [fact for fact in _facts(partner, settings) if fact.pattern in _JOINABLE]
        for first, second in itertools.product(own, others):
            shared = _shared_name(first, second, settings)
            question = f"{first.question}, and {second.question}"
            is_new = second.sentence not in source.text and first.question != second.question
            if shared is None or not is_new or len(question.split()) > MAXIMUM_MULTI_HOP_WORDS:
                continue
            query = Query(
                _ask(question, source.title),
                "multi_hop",
                "hard",
                "numeric" if first.answer_type == second.answer_type == "numeric" else "description",
                "answer",
                f"{first.sentence} {second.sentence}",
                (source.chunk_id, partner.chunk_id),
                f"{first.pattern} and {second.pattern}",
            )
            # a proper name before the speaker, then the order of the partners
            found.append(((2 * order + (shared == "speaker"), _rank(settings, "multi_hop", question)), query))
        if len(found) >= count:  # partners further on come later
            break
    return found, "no_partner_found"


def _shared_name(first: Fact, second: Fact, settings: Settings) -> str | None:
    shared = [name for name in first.names if name in second.names and len(name) > 2 and not name[0].isdigit()]
    if shared:
        return shared[0]
    speaks = re.compile(rf"\b(?:{re.escape(settings.speaker)}|the Company)\b")
    return "speaker" if speaks.search(first.question) and speaks.search(second.question) else None


# Numbers that are wrong, but alike

_HEDGES = re.compile(rf"\A{HEDGE}")
#: With a bound another number may be right as well: "more than 10" may be 12, and who can have up to 35 can have 30.
_BOUND = re.compile(
    r"(?:\b(?:up to|at most|within|no more than|no less than|at least|maximum of|minimum of|more than|over|above|"
    r"exceeds?|exceeding|less than|below|under|fewer than|nearly|almost|between|from|to|and) (?:an? |the )?(?:US|A|C)?|"
    r"\A(?:can|could) .*)\Z",
    re.IGNORECASE,
)
_OTHER_WAY = {"increase": "decrease", "decrease": "increase", "decline": "increase"}
_CHANGE = re.compile(r"did .{3,80}? (?P<change>increase|decrease|decline)(?= )")
_MONTH_NAME = re.compile(rf"\b(?:{'|'.join(month.capitalize() for month in MONTHS)})\b")
_LONGEST_OPTION_WORDS = 7
_TRIED_NUMBERS = 20


def _bare(fact: Fact) -> str:
    return _HEDGES.sub("", fact.answer).strip()


def _wrong_numbers(text: str, chunk: str) -> list[str]:
    """Return a text with its only number or date replaced by others of its form that the chunk does not hold."""
    mentions = replaceable_numbers(extract_features(text))
    if len(mentions) != 1 or len(text.split()) > _LONGEST_OPTION_WORDS:
        return []
    (mention, kind), random = mentions[0], Random(text)
    others = itertools.islice(other_numbers(mention.surface, kind, random), _TRIED_NUMBERS)
    return [text[: mention.start] + other + text[mention.end :] for other in others if other not in chunk]


def _falsify(question: str, chunk: str) -> str | None:
    """Return the question with one number or the direction of a change made wrong; None where neither is there."""
    change = _CHANGE.match(question)
    if change is not None and not re.search(r" to (?:approximately )?(?:[$\u20ac\u00a3]\s?)?\d", question):
        return question[: change.start("change")] + _OTHER_WAY[change["change"]] + question[change.end("change") :]
    numbers = [(mention, kind) for mention, kind in replaceable_numbers(extract_features(question)) if kind != "year"]
    if len(numbers) != 1 or "-" in numbers[0][1] or _BOUND.search(question[: numbers[0][0].start]):
        return None
    mention, _ = numbers[0]
    wrong = _wrong_numbers(mention.surface, chunk)
    return question[: mention.start] + wrong[0] + question[mention.end :] if wrong else None


# Queries that are to be refused

_WORD = re.compile(r"[^\W_]+")
_OLDER_YEARS = 25
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_SPEAKS = re.compile(r"\b(?:[Ww]e|[Oo]ur|the (?:Company|Firm|Bank|Group|Corporation))\b")


def _refused(query_type: str, source: Source, templates: Sequence[Template], settings: Settings) -> _Ranked:
    words = {word.lower() for word in _WORD.findall(f"{source.text} {source.title or ''}")}
    ranked = _other_years(source, settings) if query_type == "insufficient_context" else []
    for template in templates:
        if not words.isdisjoint(template.absent_words) or (
            template.required_words and words.isdisjoint(template.required_words)
        ):
            continue
        # what happened and who is named in the chunk come before the speaker, of whom every chunk of a document speaks
        place = next(
            (rank for rank, name in enumerate(("event", "name", "speaker"), 1) if f"{{{name}}}" in template.text), 2
        )
        text = _fill(template, place, source, settings)
        if text is not None:
            query = Query(text, query_type, "medium", "description", "refuse", None, (), template.template_id)
            ranked.append(((place, _rank(settings, template.template_id, source.text)), query))
    return ranked


def _fill(template: Template, place: int, source: Source, settings: Settings) -> str | None:
    """Return the text of a template for a chunk, None where the chunk has nothing to fill in."""
    text = template.text
    if "{name}" in text:
        names = _names(source)
        if not names:
            return None
        return text.replace("{name}", min(names, key=lambda each: _rank(settings, template.template_id, each)))
    if "{event}" in text:
        events = [fact.event for fact in _facts(source, settings) if fact.event]
        if not events or not source.title:
            return None
        text = text.replace("{event}", min(events, key=lambda each: _rank(settings, template.template_id, each)))
    elif "{speaker}" in text:
        if not source.title or not _SPEAKS.search(source.text):
            return None
        text = text.replace("{speaker}", settings.speaker)
    else:
        return text
    return _ask(text.rstrip("?"), source.title)


def _other_years(source: Source, settings: Settings) -> _Ranked:
    """Return amounts asked for years of which the chunk says nothing."""
    ranked: _Ranked = []
    for fact in _facts(source, settings):
        years = _YEAR.findall(fact.question)
        if fact.pattern not in ("amount", "total", "quantity", "change", "share") or len(years) != 1:
            continue
        shift = _OLDER_YEARS + int(_rank(settings, "shift", fact.question)[:2], 16) % 5
        other = str(int(years[0]) - shift)
        if other not in source.text:
            text = _ask(fact.question.replace(years[0], other), source.title)
            pattern = f"{fact.pattern} of another year"
            query = Query(text, "insufficient_context", "medium", "description", "refuse", None, (), pattern)
            ranked.append(((0, _rank(settings, "year", text)), query))
    return ranked


#: Terms of contracts and reports, which look like names.
_TERMS = word_set("""
Date Period Year Time Day Event Term Condition Section Statement Sheet Party Participant Administrator Employee
Employer Stock Agreement Plan Act Code Contract Account Spouse Company Co Inc Corp Ltd Director Officer Committee
Board Revenue Income Loss Value Expense Rate Amount Item Note No Chair President Chairman Counsel Secretary Treasurer
Controller Executive Manager Auditor Subject
""")
_NAME = re.compile(
    r"[A-Z][\w'-]*(?: (?:of|and|for|&) [A-Z][\w'-]*| [A-Z][\w'-]*){1,4}(?<!s)(?<!'s)|.* (?:States|Nations)"
)
_DETERMINERS = word_set(
    "a an any each every such our its your their his her this that these those no another other all"
)
#: What may stand behind a name that is whole: "the Port Merrow branch" is a longer one.
_BEHIND_NAME = re.compile(
    r"[.,;)]|\Z| (?:is|was|has|have|had|can|will|may|must|are|in|at|for|to|and|or|with|on|by|as)\b"
)


def _names(source: Source) -> list[str]:
    """Return the proper names of more than one word in whole sentences of the chunk."""
    found: set[str] = set()
    for statement in find_statements(source.text):
        for mention in extract_features(statement.text).entity_mentions:
            name, before = mention.surface.strip(".,"), statement.text[: mention.start]
            if (
                before.endswith(" ")  # neither the first word nor "Buy-to-Let Mortgage"
                and before.split()[-1].lower() not in _DETERMINERS
                and _NAME.fullmatch(name)
                and _BEHIND_NAME.match(statement.text, mention.end)
                and name.split()[-1] not in _TERMS
                and name_shape(mention.surface)[0] in ("name", "person")
                and not re.search(r"\d", name)
                and not _MONTH_NAME.search(name)
            ):
                found.add(f"the {name}" if before.split()[-1] == "the" else name)
    return sorted(found)
