"""Other names of what the raw contract holds: one list for all entities, files and tables (``raw_contract.yml``).

A name is compared without regard to case, blanks, hyphens and dots, and ``actualOutput`` is ``actual_output``.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

import yaml

from hcat.language.text import clean_text

_WRITTEN: Final = Path(__file__).with_name("raw_contract.yml").read_text(encoding="utf-8")
#: The raw contract as it is written.
CONTRACT: Final[Mapping[str, Any]] = yaml.safe_load(_WRITTEN)
#: Meaning -> other names. The meaning of most columns is their name; :class:`Entity.meanings` holds the exceptions.
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    meaning: tuple(names.split()) for meaning, names in CONTRACT["aliases"].items()
}
_NAMES = {meaning: (meaning, *names) for meaning, names in ALIASES.items()}

#: Names of an entity's own key.
KEY_ALIASES = ("id", "_id")

#: Keys that tools write beside the content of a call, which hcat does not read. Nothing is said of them.
NOT_CONTENT: Final = frozenset(CONTRACT["not_content"].split())

#: Names that only spans have.
SPAN_NAMES: Final = frozenset(CONTRACT["span_names"].split())

_NOT_OF_A_CALL: Final = re.compile(CONTRACT["not_of_a_call"]).fullmatch
#: Characters from which a text may be content.
_CONTENT_CHARACTERS = 20


# two words -> the name that they make
_COMPOSED: Final[Mapping[tuple[str, ...], str]] = {
    pair: name
    for name, (who, what, behind) in CONTRACT["named_by_words"].items()
    for pair in chain(product(who.split(), what.split()), product(what.split(), behind.split()))
}
_FILLERS: Final = frozenset(CONTRACT["fillers_of_names"].split())
# what the contract names stays as it is
_KNOWN: Final = frozenset(_WRITTEN.split())


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """Return a name as it is compared: small letters, words joined by underscores, one for names of a kind."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", clean_text(name).strip())
    plain = re.sub(r"[\s.\-]+", "_", split).casefold()
    words = tuple(word for word in re.split("[_']", plain) if word not in _FILLERS)
    return plain if plain in _KNOWN else _COMPOSED.get(words, plain)


def pick(record: Mapping[str, Any], meaning: str) -> Any:
    """Return the first value that is not null under a name of a meaning."""
    for name in _NAMES[meaning]:
        if (value := record.get(name)) is not None:
            return value
    return None


def known_names(meanings: Iterable[str]) -> frozenset[str]:
    """Return all names of some meanings."""
    return frozenset(name for meaning in meanings for name in (meaning, *ALIASES.get(meaning, ())))


# names that mean something in a call
_OF_CALLS = known_names(ALIASES).union(
    KEY_ALIASES,
    NOT_CONTENT,
    " ".join([CONTRACT["contexts_by_look"], CONTRACT["span_names"], *CONTRACT["feedback"].values()]).split(),
    " ".join(CONTRACT["entities"][entity]["columns"] for entity in ("interactions", "queries")).split(),
)


def find_unread_columns(record: Mapping[str, Any]) -> list[str]:
    """Return the columns of a table of calls whose names mean nothing; a nested record has keys of its tool besides."""
    is_nested = any(isinstance(value, Mapping | list) for value in record.values())
    nested = {plain for name in record if not _NOT_OF_A_CALL(plain := plain_name(name))}
    known = _OF_CALLS | nested if is_nested else _OF_CALLS
    return [name for name in record if record[name] is not None and plain_name(name) not in known]


def looks_like_content(value: Any) -> bool:
    """Return whether a value may be a query, an answer or passages: a longer text, or a list or object of such."""
    if isinstance(value, str):
        return len(value) >= _CONTENT_CHARACTERS and " " in value.strip()
    if isinstance(value, Mapping):
        return any(looks_like_content(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(looks_like_content(item) for item in value[:3])
    return False
