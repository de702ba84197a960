"""What a span holds, told by what it is and not by its key: the query, the answer and passages in nested objects.

Attributes are flat: :func:`value_at` puts together what stands below a key. A key whose text is JSON keeps the text,
because an answer in JSON stays what the user saw. It is opened where only an object can hold what is looked for.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hcat.landing.aliases import ALIASES, CONTRACT, known_names, pick, plain_name
from hcat.landing.containers import lone_text
from hcat.landing.contexts import LOOKS, find_first, find_passage_id, open_passage, plain_record
from hcat.landing.messages import ASSISTANT, USER, last_text, messages_of, role_of, structured, text_of
from hcat.landing.raw_contract import to_text

_WORDS: Final = {name: tuple(words.split()) for name, words in CONTRACT["span_texts"].items()}
#: Names of a query and of an answer, the surest first.
NAMES: Final = {
    USER: (*ALIASES["query_text"], *_WORDS["user"], "task", *_WORDS["weak"]),
    ASSISTANT: ("answer", *ALIASES["answer"], *_WORDS["assistant"], *_WORDS["weak"]),
}
#: What is neither query nor answer, whatever it holds.
_OTHERS: Final = known_names(["contexts"]) | {*LOOKS, *_WORDS["others"]}
_GOLD: Final = re.compile(CONTRACT["span_texts"]["gold"]).search
#: Whether a key holds something beside the query and the answer.
is_beside: Final = re.compile(CONTRACT["span_texts"]["beside"], re.IGNORECASE).search
_DEEPEST: Final = 10
_LONGEST_KEY: Final = 60
_SECTION: Final = re.compile(r"^\[\[ ## (\w+) ## \]\]$", re.MULTILINE)
_SHOWN_OBJECT: Final = re.compile(r"[A-Z]\w*\(\w+=|<[\w.]+ object at ")


def value_at(texts: Mapping[str, str], key: str) -> Any:
    """Return what stands at a key of flat attributes: a text, or the object or list below it; None without either."""
    if key in texts:
        return texts[key]
    tree: dict[str, Any] = {}
    for name in texts:
        if name.startswith(f"{key}."):
            parts = name[len(key) + 1 :].split(".", _LONGEST_KEY)
            above = (".".join((key, *parts[:depth])) for depth in range(1, len(parts)))
            if not any(each in texts for each in above):
                place = tree
                for part in parts[:-1]:
                    place = place.setdefault(part, {})
                place[parts[-1]] = texts[name]
    return _listed(tree) or None


def _listed(value: Any) -> Any:
    """Return an object whose keys are all numbers as a list."""
    if not isinstance(value, dict):
        return value
    if value and all(name.isdecimal() for name in value):
        return [_listed(value[name]) for name in sorted(value, key=int)]
    return {name: _listed(inner) for name, inner in value.items()}


def find_text(value: Any, role: str) -> str | None:
    """Return the query (``user``) or answer (``assistant``) of a span: the least deep one, of several the last."""
    level = [(value, True)]
    for depth in range(_DEEPEST):
        below: list[tuple[Any, bool]] = []
        for each, is_named in level:
            # an answer in JSON under its name stays what the user saw
            is_said = depth > 0 and is_named and role == ASSISTANT and messages_of(each) is None
            held = each if is_said and isinstance(each, str) else structured(each)
            if isinstance(held, str):
                if is_named and (text := unquote(text_of(held) or "")).strip() and not is_object(text):
                    return text
            elif isinstance(held, list):
                if (found := _say(held, role)) is not None:
                    return found
                below += (
                    [] if messages_of(held) else [(inner, is_named) for inner in (held if role == USER else held[::-1])]
                )
            elif isinstance(held, Mapping) and held.keys() == {"type", "value"}:
                # a value that says its type
                below.append((held["value"], is_named))
            elif isinstance(held, Mapping):
                if (found := _say([held], role)) is not None:
                    return found
                below += [] if role_of(held) not in (None, role) else _open(held, role)
        level = below
    return lone_text(structured(value), "query_text")


def find_inside(value: Any, role: str) -> Iterator[str]:
    """Yield what a role says in the steps that an object names, the least deep first; what is gold is none of it."""
    level = [value]
    for _ in range(_DEEPEST):
        steps = [plain_record(each) for each in level if isinstance(each, Mapping)]
        for step in steps:
            # beside its query and its passages, an answer may have a plainer name
            is_exchange = role == ASSISTANT and "query" in step and not step.keys().isdisjoint(LOOKS)
            names = (*_WORDS[f"of_steps_{role}"], *(["data"] if is_exchange else []))
            yield from (text for name in names if (text := text_of(step.get(name)) or "").strip())
        below = [inner for step in steps for name, inner in step.items() if name not in _OTHERS and not _GOLD(name)]
        # several things in a list are several calls
        below += [each[0] for each in level if isinstance(each, list) and len(each) == 1]
        level = [structured(inner) for inner in below]


def is_object(text: Any) -> bool:
    """Return whether a text is an object as Python shows it, in which no field can be told from another."""
    return isinstance(text, str) and _SHOWN_OBJECT.match(text) is not None


def read_sections(text: Any) -> dict[str, str]:
    """Return the fields of a text that marks each with its name, as DSPy does; the last may have an order below it."""
    before, *parts = _SECTION.split(text if isinstance(text, str) else "")
    texts = (part.partition("\n\nRespond with the corresponding output fields")[0].strip() for part in parts[1::2])
    return dict(zip(parts[::2], texts, strict=True)) if not before.strip() else {}


def _say(held: list[Any], role: str) -> str | None:
    """Return what a role says in a list of messages, or the lines of a list of parts."""
    messages = messages_of(held)
    if messages is not None:
        return last_text(messages, role)
    are_parts = all(isinstance(each, Mapping) and {"type", "text"} <= each.keys() for each in held)
    return text_of(held) if are_parts else None


def _open(held: Mapping[str, Any], role: str) -> Iterator[tuple[Any, bool]]:
    """Yield what an object holds: first what stands under a name that is looked for."""
    plain = {plain_name(str(name)): inner for name, inner in held.items()}
    named = [name for name in NAMES[role] if name in plain]
    yield from ((plain[name], True) for name in named)
    yield from ((inner, False) for name, inner in plain.items() if name not in named and name not in _OTHERS)


def read_document(item: Any) -> dict[str, str | None]:
    """Return a passage as a document of a span."""
    if not isinstance(item, Mapping):
        return {"text": str(item)}
    places, text = open_passage(item)
    inside = places[::-1]
    identifier = find_first(inside, lambda place: place.get("chunk_id"))
    # the id of its document is none of a passage
    own = ({name: place[name] for name in place if name not in ("document_id", "doc_id")} for place in places)
    found = {
        "chunk_id": find_first(own, find_passage_id) if identifier is None else identifier,
        "text": text,
        "retrieval_score": find_first(places, lambda place: pick(place, "retrieval_score")),
        "document_id": find_first(inside, lambda place: pick(place, "document_source")),
        "title": find_first(inside, lambda place: place.get("title")),
    }
    return {name: None if value is None else str(value) for name, value in found.items()}


def keys_ending(texts: Mapping[str, str], words: Sequence[str], outside: Sequence[str] = ()) -> list[str]:
    """Return the keys, whole or in part, whose last word is one of some words, in the order of the words, and that lie
    outside of what other words name."""
    found: dict[str, int] = {}
    for key in texts:
        parts = key.split(".")
        for depth in range(1, len(parts) + 1):
            # "acme:input" is a name behind that of a tool
            last = "_" + plain_name(parts[depth - 1].split(":")[-1])
            place = next((at for at, word in enumerate(words) if last.endswith(f"_{word}")), None)
            if place is not None:
                found.setdefault(".".join(parts[:depth]), place)
            if place is not None or any(last.endswith(f"_{word}") for word in outside):
                break
    return sorted(found, key=lambda key: (found[key], key.count("."), key))


def _load(text: str) -> Any:
    """Return the value of a JSON text; raises ValueError where there is none that a table can hold."""
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if isinstance(found, str):
        found.encode()
    return found


def read_object(text: str | None) -> dict[str, str] | None:
    """Return the attributes of a span; None where the text is no JSON object."""
    try:
        found = {} if text is None else _load(text)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    return {name: written for name, value in found.items() if (written := to_text(value)) is not None}


def is_structure(text: str) -> bool:
    """Return whether a text is a JSON object or list."""
    try:
        return text.lstrip(" ")[:1] in ("{", "[") and _load(text) is not None
    except ValueError:
        return False


def unquote(text: str) -> str:
    """Return the text that stands in quotes as JSON; any other text as it is."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(_load(text))
        except ValueError:
            pass
    return text
