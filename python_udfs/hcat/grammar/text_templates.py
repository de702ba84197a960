"""Text templates: what a person would type to ask an SQL template, as many in each of two contrasting styles."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hcat.grammar.column_names import split_words
from hcat.grammar.sql_templates import Join, Placeholder, Reference, SqlTemplate
from hcat.language_models.prompts import read_texts

#: Two styles each; the first is the one that applications are expected to manage.
HYPOTHESES: Final[Mapping[str, tuple[str, str]]] = {
    "length": ("short", "long"),
    "register": ("formal", "colloquial"),
    "form": ("interrogative", "directive"),
}
HYPOTHESIS_OF: Final = {style: name for name, pair in HYPOTHESES.items() for style in pair}
STYLES: Final = tuple(HYPOTHESIS_OF)

MAXIMUM_TEXT_CHARACTERS: Final = 2_000
MINIMUM_LONG_WORDS: Final = 30
"""A long query has at least as many words as GRAMMAR's instruction for long queries asks for."""

_BRACKETS = re.compile(r"\[([^\[\]\n]*)\]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LAYERS = frozenset(("dim", "fct", "fact", "stg", "staging", "int", "mart", "raw", "src", "tbl", "vw", "seed"))
_NAMES = frozenset(("name", "title"))
_ACRONYMS = frozenset(("iban", "bic", "isin", "lei", "atm", "kyc", "ltv", "vat", "ssn"))

_FRAMES: Final[Mapping[str, list[str]]] = read_texts(__file__, "frames.yml")

MAXIMUM_PER_STYLE: Final = min(len(frames) for frames in _FRAMES.values())
"""Texts that the deterministic writer has per style."""


def write_text_templates(template: SqlTemplate, count_per_style: int) -> dict[str, list[str]]:
    """Return ``count_per_style`` texts in each style (:data:`STYLES`), without a model."""
    what, which = describe_template(template)
    texts = {style: [frame.format(what=what, which=which) for frame in _FRAMES[style]] for style in STYLES}
    return {style: [text[0].upper() + text[1:] for text in texts[style][:count_per_style]] for style in STYLES}


def describe_template(template: SqlTemplate) -> tuple[str, str]:
    """Return what is asked and of which row, both without an article."""
    nouns = _name_sources(template)
    root = template.selected[0].source
    own = [place for place in template.selected if place.source == root]
    what = _enumerate([_say_column(place.column, nouns[root]) for place in own])
    others: dict[int, list[str]] = {}
    for place in template.selected[len(own) :]:
        others.setdefault(place.source, []).append(_say_column(place.column, nouns[place.source]))
    which = _describe_row(root, None, template, nouns, others)
    return what, which


def check_text_template(text: str, template: SqlTemplate, earlier: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the faults of a text for an SQL template; none if it can be used."""
    # two conditions may share a placeholder (two rows of one table), and the text may then say it twice
    wanted = Counter(_fold(f"{template.tables[place.source]}.{place.column}") for place in template.conditions)
    found = Counter(map(_fold, _BRACKETS.findall(text)))
    rest = _BRACKETS.sub("", text)
    faults = {
        "empty": not rest.strip(" '\"\t.?!"),
        "too_long": len(text) > MAXIMUM_TEXT_CHARACTERS,
        # line breaks and other control characters
        "not_one_line": _CONTROL.search(text.strip()) is not None,
        # a bracket that is no [Table.Column]
        "malformed_placeholder": bool(set("[]") & set(rest)) or any(inner.count(".") != 1 for inner in found),
        "foreign_placeholder": any(inner not in wanted for inner in found if inner.count(".") == 1),
        "missing_placeholder": not set(wanted) <= set(found),
        "repeated_placeholder": any(found[inner] > count for inner, count in wanted.items()),
        "duplicate": same_text_key(text) in {same_text_key(other) for other in earlier},
    }
    return tuple(fault for fault, is_there in faults.items() if is_there)


def fill_text(text: str, values: Mapping[Placeholder, str]) -> str:
    """Return a text with its placeholders replaced in one pass, so that a value that looks like one stays a value."""
    known = {_fold(str(placeholder)[1:-1]): value for placeholder, value in values.items()}
    return _BRACKETS.sub(lambda match: known[_fold(match[1])], text)


def _fold(inner: str) -> str:
    return inner.strip().casefold()


def same_text_key(text: str) -> str:
    """Return the words of a text, by which two texts are the same."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _say(words: Sequence[str]) -> str:
    return " ".join(word.upper() if word in _ACRONYMS else word for word in words)


def _say_column(name: str, noun: str) -> str:
    """Return the words of a column; one that repeats its table ("customer_city") loses it, "opened_on" is a date."""
    words, prefix = split_words(name), noun.casefold().split()
    if len(words) > len(prefix) and words[: len(prefix)] == prefix:
        words = words[len(prefix) :]
    if len(words) > 1 and words[-1] in ("on", "at"):
        words = [*words[:-1], "date"]
    return _say(words)


def _say_table(name: str) -> str:
    words = split_words(name)
    while len(words) > 1 and words[0] in _LAYERS:
        words = words[1:]
    last = words[-1]
    if last.endswith("ies") and len(last) > 4:
        last = f"{last[:-3]}y"
    elif last.endswith(("sses", "ches", "shes", "xes")):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith(("ss", "us", "is")):
        last = last[:-1]
    return _say([*words[:-1], last])


def _name_sources(template: SqlTemplate) -> list[str]:
    """Return a noun per source; a table that is there twice takes the name of the column that refers to it."""
    nouns = [_say_table(name) for name in template.tables]
    for source, name in enumerate(template.tables):
        keys = [join.foreign_key for join in template.joins if join.parent == source]
        if template.tables.count(name) > 1 and keys and len(keys[0].columns) == 1:
            words = split_words(keys[0].columns[0])
            role = words[:-1] if words[-1] in ("id", "key", "code", "number") else words
            nouns[source] = _say(role) or nouns[source]
    return nouns


def _enumerate(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _describe_row(
    source: int, coming: Join | None, template: SqlTemplate, nouns: Sequence[str], others: Mapping[int, Sequence[str]]
) -> str:
    """Return a noun with its conditions and the rows it is joined to: of the ... it refers to, with the ... behind."""
    text = nouns[source]
    own = [place for place in template.conditions if place.source == source]
    spoken = [_say_condition(place, template, nouns) for place in own]
    text += "".join(f" {'and ' if number else ''}{condition}" for number, condition in enumerate(spoken))
    if source in others:
        text += f" and the {_enumerate(others[source])} of that {nouns[source]}"
    parts = []
    for join in template.joins:
        if join is not coming and source in (join.child, join.parent):
            other = join.parent if join.child == source else join.child
            link = "of the" if join.child == source else "with the"
            parts.append(f"{link} {_describe_row(other, join, template, nouns, others)}")
    return " ".join([text, " and ".join(parts)]) if parts else text


def _say_condition(place: Reference, template: SqlTemplate, nouns: Sequence[str]) -> str:
    words = _say_column(place.column, nouns[place.source])
    placeholder = Placeholder(template.tables[place.source], place.column)
    if words.split()[-1] in _NAMES:
        return f"named '{placeholder}'"
    return f"with {words} '{placeholder}'"
