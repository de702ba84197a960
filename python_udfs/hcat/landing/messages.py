"""Messages of conversations, in whatever shape a tool writes them: who says them, and the text that they hold."""

import ast
import io
import json
import tokenize
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from hcat.landing.aliases import CONTRACT

USER, ASSISTANT, SYSTEM, OTHER = "user", "assistant", "system", "other"
_WORDS: Final = {name: tuple(words.split()) for name, words in CONTRACT["messages"].items()}
_DEEPEST: Final = 12
_ROLES: Final = {word: role for role in (USER, ASSISTANT, SYSTEM, OTHER) for word in _WORDS[role]}


def read_json_in(value: Any, *others: Callable[[str], Any]) -> Any:
    """Return the list or object that a text holds as JSON, or as other functions read it; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    readers: tuple[Callable[[str], Any], ...] = (json.loads, *others)
    for read in readers:
        try:
            found = read(value.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
            continue
        return found if isinstance(found, list | dict) else value
    return value


def structured(value: Any) -> Any:
    """Return the list or object that a text holds, as JSON or as Python writes it; any other value as it is."""
    return read_json_in(value, _read_python)


def _read_python(text: str) -> Any:
    """Return a value as Python or NumPy writes it: Python would join the texts of an array, which have no commas."""
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type != tokenize.NL]
    if not any(each.string == "," for each in tokens):
        text = "".join(each.string + "," * (each.type == tokenize.STRING) for each in tokens)
    return ast.literal_eval(text)


def role_of(message: Any, depth: int = 0) -> str | None:
    """Return who says a message; None for what is no message."""
    if not isinstance(message, Mapping) or depth > _DEEPEST:
        return None
    # a message of LangChain names its class last in a list
    path = message.get("id")
    said = [path[-1]] if isinstance(path, list) and path else []
    for word in (*said, *(message.get(name) for name in _WORDS["speakers"])):
        word = word.get("role") if isinstance(word, Mapping) else word
        # a class may stand behind the names of its modules
        role = _ROLES.get(word.casefold().replace("_", "").split(".")[-1]) if isinstance(word, str) else None
        if role is not None:
            return role
    inner = (role for name in _WORDS["wrappers"] if (role := role_of(message.get(name), depth + 1)) is not None)
    by_user = message.get("isCreatedByUser")
    return next(inner, None if by_user is None else USER if by_user else ASSISTANT)


def text_of(value: Any, depth: int = 0) -> str | None:
    """Return the text of a message, whose parts are lines of it; None where it has none."""
    if isinstance(value, str):
        parts = structured(value)
        are_parts = isinstance(parts, list) and parts and all(isinstance(each, Mapping) and each for each in parts)
        # a text in JSON stays what the user saw, unless it is a list of parts
        are_parts = are_parts and all({"type", "content_type", "text"} & each.keys() for each in parts)
        return text_of(parts, depth + 1) if are_parts else value
    if isinstance(value, list) and depth <= _DEEPEST:
        texts = [text for each in value if (text := text_of(each, depth + 1)) is not None]
        # an answer with citations is split wherever one begins or ends, in the middle of a sentence too
        is_split = any(isinstance(each, Mapping) and isinstance(each.get("citations"), list) for each in value)
        return ("" if is_split else "\n").join(texts) if texts else None
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return None
    kind = str(value.get("type") or value.get("content_type") or value.get("contentType") or "").casefold()
    if kind.startswith(_WORDS["without_text"]) and role_of(value) is None:
        return None
    return next((text for name in _WORDS["texts"] if (text := text_of(value.get(name), depth + 1)) is not None), None)


def messages_of(value: Any) -> list[Mapping[str, Any]] | None:
    """Return the messages of a conversation; None for what is none."""
    items = structured(value)
    items = list(_latest_branch(items)) if isinstance(items, Mapping) else items
    if isinstance(items, list) and len(items) == 1 and isinstance(items[0], list) and not _is_pair(items[0]):
        items = items[0]
    if not isinstance(items, list) or not items:
        return None
    # a pair of a role and a text, and parts of several roles in one message
    items = [_with_role(structured(each), is_one=len(items) == 1) for each in items]
    items = [part for each in items for part in _parts_with_roles(each)]
    items = _with_roles(items)
    named = {"role", "type", "message_type"}
    if not all(isinstance(each, Mapping) and (role_of(each) or named & each.keys()) for each in items):
        return None
    # a tool or a document of the type of a speaker has no place for a text
    speaks = any(role_of(each) in (USER, ASSISTANT) and not each.keys().isdisjoint(_WORDS["texts"]) for each in items)
    return items if speaks else None


def _with_roles(items: list[Any]) -> list[Any]:
    """Return messages of a user and of agents under their own names, with the roles that these names stand for."""
    for name in _WORDS["names"]:
        said = [str(each.get(name) or "").casefold() if isinstance(each, Mapping) else "" for each in items]
        roles = {_ROLES.get(word) for word in said}
        if {USER, None} <= roles and ASSISTANT not in roles and all(said):
            # what an agent says to itself and to its tools is no answer
            kinds = [str(each.get("type") or "").casefold() for each in items]
            agents = [
                OTHER if each.startswith(_WORDS["without_text"]) or each.endswith("event") else ASSISTANT
                for each in kinds
            ]
            return [each | {"role": _ROLES.get(word, own)} for each, word, own in zip(items, said, agents, strict=True)]
    return items


def _parts_with_roles(message: Any) -> list[Any]:
    """Return the parts of a message each of which says whose it is, or the message as it is."""
    parts = message.get("parts") if isinstance(message, Mapping) else None
    if isinstance(parts, list) and parts and all(isinstance(each, Mapping) and "part_kind" in each for each in parts):
        said = ASSISTANT if message.get("kind") == "response" else OTHER
        kinds = [str(each["part_kind"]).partition("-")[0] for each in parts]
        roles = [said if kind == "text" else kind for kind in kinds]
        return [{"role": role if role in _ROLES else OTHER, **each} for role, each in zip(roles, parts, strict=True)]
    return [message]


def _with_role(item: Any, is_one: bool) -> Any:
    """Return a pair of a role and a text, or one of several objects with a text under a role alone, as a message."""
    is_said = isinstance(item, Mapping) and len(item) == 1 and not is_one
    pair = next(iter(item.items())) if is_said else item
    return {"role": pair[0], "content": pair[1]} if _is_pair(pair) else item


def _is_pair(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == len(("role", "text")) and str(item[0]) in _ROLES


def last_text(messages: list[Mapping[str, Any]], role: str) -> str | None:
    """Return the last text that a role says; calls of tools and their results are none."""
    texts = (text_of(each) for each in reversed(messages) if role_of(each) == role)
    return next((text for text in texts if text is not None and text.strip()), None)


def _latest_branch(nodes: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of a tree, from its root to the last leaf: a second answer replaces the first."""
    if not all(isinstance(node, Mapping) and {"parent", "parentId"} & node.keys() for node in nodes.values()):
        return
    parents = {key: node.get("parent", node.get("parentId")) for key, node in nodes.items()}
    branch: list[Mapping[str, Any]] = []
    key: Any = next((key for key in reversed(list(nodes)) if key not in parents.values()), None)
    while key in nodes and len(branch) < len(nodes):
        branch.append(nodes[key])
        key = parents[key]
    yield from (node for node in reversed(branch) if role_of(node) is not None)
