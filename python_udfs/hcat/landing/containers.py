"""Objects around the content of a call (``inputs``, ``outputs``, messages): what of them counts, and what goes before.

What the call itself says goes first, under whatever name. A text of a container counts only where there is no other.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any

from hcat.landing.aliases import (
    ALIASES,
    CONTRACT,
    KEY_ALIASES,
    NOT_CONTENT,
    known_names,
    looks_like_content,
    pick,
    plain_name,
)
from hcat.landing.contexts import LOOKS, find_contexts, find_named_passages, plain_record, read_context
from hcat.landing.messages import ASSISTANT, last_text, messages_of, structured, text_of
from hcat.landing.raw_contract import ENTITIES, RecordError, to_text

# objects around the content, as MLflow, LangSmith and Langfuse write them, and what they hold. Those in plural may also
# be JSON in a text; an answer in JSON stays the text that the user saw.
_CONTAINERS: Mapping[str, str] = {
    **{name: meaning for meaning in ("query_text", "answer") for name in ALIASES[meaning]},
    **CONTRACT["containers"],
}
_AROUND = frozenset({*_CONTAINERS, "reference_outputs"})
_WORDS = {name: tuple(words.split()) for name, words in CONTRACT["parts_of_calls"].items()}
_CONTENT, _RETRIEVED, _BESIDE = _WORDS["content"], _WORDS["retrieved"], _WORDS["beside"]
_MEANINGS = (*_CONTENT, *_WORDS["more"], *ENTITIES["interactions"].columns, *ENTITIES["queries"].columns)
# name -> meaning; the text of a container is whatever the container holds
_MEANING_OF = {name: meaning for meaning in _MEANINGS if meaning != "text" for name in known_names([meaning])} | {
    **dict.fromkeys(KEY_ALIASES, "interaction_id"),
    **dict.fromkeys(LOOKS, "context"),
}
_QUESTION_MARKS = ("?", "\N{FULLWIDTH QUESTION MARK}", "\N{ARABIC QUESTION MARK}")
_NUMBERED = re.compile(r"(?:retrieved_)?(?:context|passage|chunk|document|doc|source)_?(\d{1,3})")
#: A shorter passage may stand in a question by chance.
PASSAGE_CHARACTERS = 20


def open_containers(record: dict[str, Any]) -> dict[str, Any]:
    """Return a call with the content of its containers beside its own keys, which win."""
    containers = dict(_find_containers(record))
    opened = {name: value for name, value in record.items() if name not in containers}
    queries = list(_find_texts(opened, "query_text"))
    references = structured(opened.pop("reference_outputs", None))
    if isinstance(references, Mapping) and pick(opened, "reference_answer") is None:
        inner = plain_record(references)
        found = pick(inner, "reference_answer")
        opened["reference_answer"] = pick(inner, "answer") if found is None else found
    for name, inner in containers.items():
        queries += _find_texts(inner, "query_text")
        _add_what_is_missing(opened, inner, _CONTAINERS[name])
    if pick(opened, "answer") is None and (reply := _choice(opened)) is not None:
        opened["answer"] = reply
    messages = find_messages(opened)
    if queries and (len(queries) > 1 or messages):
        queries = without_templates(queries, opened) or ([] if messages else queries)
    if messages is not None:
        opened = {name: value for name, value in opened.items() if _MEANING_OF.get(name) not in ("query_text", "turns")}
        opened["turns"] = messages
    if queries:
        queries = [without_passages(query, opened) for query in queries]
        opened["query_text"] = next((query for query in queries if (to_text(query) or "").strip()), queries[0])
    if not any(_MEANING_OF.get(name) in _RETRIEVED and value is not None for name, value in opened.items()):
        beside = chain((opened[name] for name in _BESIDE if name in opened), containers.values())
        found = map(find_named_passages, beside)
        opened["contexts"] = next(filter(None, found), None)
    for name in dict.fromkeys((*containers, "inputs", "outputs", "vars")):
        held, meaning = containers.get(name, opened.pop(name, None)), _CONTAINERS[name]
        # what a container should hold, or an id that says where it is
        names = {"query_text": ("turns", "query_text", "query_id"), "answer": ("answer", "answers")}.get(meaning, ())
        if held is not None and names and all(pick(opened, each) is None for each in names):
            text = lone_text(held, meaning) or (text_of(held) if isinstance(held, Mapping) else None)
            # an object that holds nothing of what it should hold is rejected by its name
            opened[meaning] = held if text is None else text
    return opened


def find_messages(record: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return the messages of a conversation, wherever the call keeps them; None for a call of one query."""
    names = (name for meaning in ("query_text", "turns") for name in (meaning, *ALIASES[meaning]))
    held = (record[name] for name in names if name in record)
    return next((messages for each in held if (messages := messages_of(each)) is not None), None)


def nest(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call under plain names, with `inputs.query` and the like inside of their container."""
    call = _join_numbered(call)
    if not any("." in name for name in call):
        return plain_record(call)
    found: dict[str, Any] = {}
    for name, value in call.items():
        head, _, rest = name.partition(".")
        if rest and plain_name(head) in _AROUND:
            container = found.setdefault(head, {})
            if isinstance(container, dict):
                container[rest] = value
        else:
            found[name] = value
    return plain_record(found)


def _join_numbered(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a call whose numbered columns of contexts (``Context 1``, ``context_2``) are one list."""
    names = _find_numbered(tuple(call))
    passages = [call[name] for name in names if call[name] is not None]
    if not all(isinstance(passage, str) for passage in passages) or not names or call.get("contexts") is not None:
        return call
    return {name: value for name, value in call.items() if name not in names} | {"contexts": passages or None}


@lru_cache(maxsize=1024)
def _find_numbered(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of numbered contexts, in the order of their numbers."""
    numbered = {name: int(found[1]) for name in names if (found := _NUMBERED.fullmatch(plain_name(name)))}
    return tuple(sorted(numbered, key=lambda name: numbered[name]))


def is_scalar(value: Any) -> bool:
    """Return whether a value is a text, or what reads as one."""
    return value is not None and not isinstance(value, Mapping | list | tuple)


def _find_containers(record: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    opened = {name: structured(record[name]) for name in _CONTAINERS if name in record}
    texts = [name for name, held in opened.items() if isinstance(held, Mapping) and held is not record[name]]
    asked = (plain_record(opened[name]) for name in texts if _CONTAINERS[name] == "query_text")
    is_body = any(is_scalar(pick(held, "query_text")) for held in asked)
    for name, held in opened.items():
        if isinstance(held, Mapping):
            inner = plain_record(held)
            # what a service is sent and says stands beside its status
            bodies = (structured(inner.get(name)) for name in ("body", "input_body_json", "output_body_json"))
            inner = next((plain_record(body) for body in bodies if isinstance(body, Mapping)), inner)
            # a singular may be a text in JSON that the user saw, unless it is what services or models are sent and say
            is_opened = name not in texts or is_body or name.endswith(("s", "_body")) or find_messages(inner)
            if is_opened or _choice(inner) is not None or find_named_passages([inner]):
                yield name, inner


def _find_texts(record: Mapping[str, Any], meaning: str) -> Iterator[Any]:
    """Yield what stands as a text under the names of a meaning."""
    for name in (meaning, *ALIASES[meaning]):
        value = record.get(name)
        if is_scalar(value) and messages_of(value) is None:
            yield value


def _add_what_is_missing(opened: dict[str, Any], inner: Mapping[str, Any], meaning: str) -> None:
    """Add what a container holds of each meaning that the call has nothing of."""
    reply = _choice(inner) if meaning == "answer" else None
    held = inner if reply is None else {"answer": reply}
    brings_its_own = pick(held, meaning) is not None or pick(held, "turns") is not None
    # an object without a query holds the variables of a form: its language is not that of the call
    wanted = {*_MEANING_OF.values()} if brings_its_own else {*_CONTENT, "context"}
    wanted -= {_MEANING_OF[name] for name, value in opened.items() if name in _MEANING_OF and value is not None}
    opened.update(
        {name: value for name, value in held.items() if value is not None and _MEANING_OF.get(name) in wanted}
    )


def _choice(reply: Mapping[str, Any]) -> Any:
    """Return the text of a chat completion or of another list of messages; None where there is none."""
    choices = reply.get("choices", reply.get("candidates"))
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return text_of(choices[0])
    replies = messages_of(reply.get("output"))
    return None if replies is None else last_text(replies, ASSISTANT)


def lone_text(held: Any, meaning: str) -> str | None:
    """Return the only text of a container, if its name or its look does not say that it is something else."""
    if not isinstance(held, Mapping) or len(held) != 1:
        return None
    ((name, text),) = held.items()
    if not isinstance(text, str) or name in NOT_CONTENT or name in _MEANING_OF:
        return None
    # a language or a name of a customer is no query
    reads_as_query = looks_like_content(text) or text.rstrip().endswith(_QUESTION_MARKS)
    return text if meaning == "answer" or reads_as_query else None


def without_templates(queries: Iterable[Any], record: Mapping[str, Any]) -> list[Any]:
    """Return the queries that hold no context of their call."""
    passages = [passage for text in _passages(record) if len(passage := _squeeze(text)) >= PASSAGE_CHARACTERS]
    return [query for query in queries if not any(passage in _squeeze(to_text(query) or "") for passage in passages)]


def without_passages(query: Any, record: Mapping[str, Any]) -> Any:
    """Return what stands below the passages of a call with which a query begins, or the query as it is."""
    rest = query if isinstance(query, str) else ""
    for passage in map(str.strip, _passages(record)):
        rest = rest.removeprefix(passage).lstrip()
    return rest or query


def _squeeze(text: str) -> str:
    return " ".join(text.casefold().split())


def _passages(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of the contexts of a call that can be read."""
    contexts = None
    with suppress(RecordError):
        contexts = find_contexts(record)
    for context in contexts if isinstance(contexts, list) else ():
        with suppress(RecordError):
            if isinstance(text := read_context(context).get("text"), str):
                yield text
