"""The nested shape that RAG frameworks log: one object per call, with query, answer and contexts.

A call becomes an interaction, its retrievals, a query when it adds facts about one, and relevance judgements when it
names the passages that should have been found. A conversation becomes one interaction per turn, each with the id of the
conversation and the number of the turn.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from hcat.engine.keys import hash_text
from hcat.landing.aliases import CONTRACT, KEY_ALIASES, NOT_CONTENT, SPAN_NAMES, looks_like_content, pick, plain_name
from hcat.landing.containers import find_messages, is_scalar, nest, open_containers, without_templates
from hcat.landing.contexts import (
    find_contexts,
    find_documents,
    find_first,
    find_named_passages,
    find_passages,
    is_passage,
    levels_of,
    plain_record,
    read_context,
)
from hcat.landing.feedback import USER_FEEDBACK, read_feedback
from hcat.landing.messages import ASSISTANT, SYSTEM, USER, last_text, messages_of, role_of, structured, text_of
from hcat.landing.raw_contract import ENTITIES, RecordError, json_kind, to_text
from hcat.landing.span_costs import COST_COLUMNS
from hcat.landing.span_texts import find_inside, is_beside, is_object, read_sections

#: Stem of the files that hold calls.
CALLS = "calls"
#: Entities that calls hold.
ENTITIES_OF_CALLS = ("interactions", "retrievals", "queries", "relevance_judgements", "ratings")

# one encoder for all calls: making one costs as much as using it
_WRITE_CONTENT = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str).encode

#: Name of an object of one key -> the kind of value that it holds.
_TYPES = {name: kind for kind, names in CONTRACT["typed_values"].items() for name in names.split()}
# keys that are not read are named to this depth
_DEEPEST = 20


@dataclass(slots=True)
class _Turn:
    """What the user said since the last reply and when, the reply, and its contexts."""

    said: list[str] = field(default_factory=list)
    asked_at: Any = None
    answer: str | None = None
    # None = the turn says nothing of a retrieval
    contexts: list[Any] | None = None
    feedback: tuple[dict[str, Any], ...] = ()

    @property
    def query_text(self) -> str:
        return "\n".join(self.said)


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A query and its answer: the whole of a call, a sample of it, or a turn of a conversation."""

    interaction_id: str
    query_id: Any
    query_text: str | None
    answer: str | None
    sample_index: Any = None
    is_further_sample: bool = False
    conversation_id: str | None = None
    turn_index: int | None = None
    is_last_turn: bool = True
    turn: _Turn = field(default_factory=_Turn)


@dataclass(frozen=True, slots=True)
class OpenedCall:
    """A call under plain names, and its queries with their answers."""

    record: Mapping[str, Any]
    exchanges: Sequence[_Exchange]
    #: a question of a data set, which nobody has answered yet
    is_example: bool = False


def open_call(call: Mapping[str, Any], seen: Counter[str] | None = None) -> OpenedCall:
    """Return what a call holds, read once for all of its entities: see :func:`expand_opened`."""
    plain = {name: held for name, held in nest(call).items() if not is_object(held)}
    is_example = _is_example(plain)
    if is_example:
        # what stands beside the question of an example is what should be answered
        plain = {"reference_outputs" if name == "outputs" else name: value for name, value in plain.items()}
    if {"description", "agent"} <= plain.keys():
        # of a task of an agent: how its answer should look
        plain.pop("expected_output", None)
    said = (plain.get(name) for name in ("prediction", "pred", "predicted_answer", "generated_answer"))
    if pick(plain, "reference_answer") is None and any(isinstance(text, str) and " " in text.strip() for text in said):
        # beside a text that was predicted stands what should have been answered
        plain = _as_gold(plain)
    record = _open(plain)
    if marks := marks_of_spans(record):
        raise RecordError(f"a span of a trace and not a call (it has {min(marks)}), so its file is named spans.jsonl")
    given = (record[name] for name in ("interaction_id", *KEY_ALIASES) if record.get(name) is not None)
    call_id = next(given, pick(record, "interaction_id"))
    if call_id is None or (isinstance(call_id, str) and not call_id.strip()):
        # equal for equal calls, whatever their file and the order of their keys
        content = hash_text(_WRITE_CONTENT(call))
        seen = Counter() if seen is None else seen
        seen[content] += 1
        call_id = f"call_{content[:16]}" + (f"_{seen[content]}" if seen[content] > 1 else "")
    return OpenedCall(record, _read_exchanges(record, call_id), is_example)


def _as_gold(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record whose answer is what should have been answered."""
    return {"reference_answer" if name == "answer" else name: value for name, value in record.items()}


def _join_parts(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a call with the fields of an example and its prediction, of marked sections, and of steps of a task."""
    example, steps, replies = (plain.get(name) for name in ("example", "steps", "outputs"))
    if isinstance(example, Mapping) and isinstance(plain.get("prediction"), Mapping):
        asked = _as_gold(plain_record(example))
        return {**plain, "example": None, "prediction": None, **asked, **plain_record(plain["prediction"])}
    replies = structured(replies)
    if said := read_sections(replies[0] if isinstance(replies, list) and replies else None):
        asked = read_sections(last_text(messages_of(plain.get("messages")) or [], USER))
        return {**plain, "messages": None, "outputs": None, **asked, **said}
    if isinstance(steps, list) and steps and isinstance(steps[0], Mapping) and isinstance(steps[0].get("task"), str):
        seen = (find_passages(step.get("observations")) for step in steps if isinstance(step, Mapping))
        own = {"query_text": steps[0]["task"], "contexts": list(chain.from_iterable(seen)) or None}
        timing = plain.get("timing")
        return {**(timing if isinstance(timing, Mapping) else {}), **own, **plain}
    return plain


def marks_of_spans(record: Mapping[str, Any]) -> list[str]:
    """Return the names by which a record is a span, or holds spans; steps of a call that have no ids are none."""
    steps = [each for each in record.get("spans") or () if isinstance(each, Mapping)]
    have_ids = not steps or any(each.get(name) for each in steps for name in ("id", "span_id", "spanId", "context"))
    context = record.get("context")
    names = SPAN_NAMES | ({"parent_id"} if record.get("trace_id") is not None else set())
    names |= {"context"} if isinstance(context, Mapping) and "span_id" in context else set()
    return [name for name in names & record.keys() if record[name] is not None and (have_ids or name != "spans")]


def _open(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a call with its content beside its own keys; a query, an answer and passages may stand in named steps."""
    record = open_containers(plain)
    if not marks_of_spans(record) and "spans" in record and find_contexts(record) is None:
        record["contexts"] = find_passages(record.pop("spans")) or None
    if find_messages(record) is None and SPAN_NAMES.isdisjoint(record):
        sought = {"query_text": USER, "answer": ASSISTANT}
        missing = [each for each in sought if pick(record, each) is None or isinstance(pick(record, each), Mapping)]
        found = {each: list(find_inside(plain, sought[each])) for each in missing}
        if any(found.values()) and find_contexts(record) is None:
            record["contexts"] = find_named_passages(plain) or None
        found |= {"query_text": without_templates(found.get("query_text", []), record)}
        record |= {each: texts[0] for each, texts in found.items() if texts}
    return record


def expand_opened(opened: OpenedCall, entity_name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of one entity that an opened call holds."""
    for exchange in () if opened.is_example and entity_name != "queries" else opened.exchanges:
        yield from _EXPANDERS[entity_name](opened.record, exchange)


def records_of(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the calls that a record holds: itself, the rows of a table, or the least deep ones inside of it."""
    record = _join_parts(_plain_values(record))
    cells = [each for each in record.values() if isinstance(each, Mapping)]
    is_table = any(each and all(str(key).isdecimal() for key in each) for each in cells)
    if is_scalar(pick(nest(record), "query_text")) or (not is_table and any(brings(record, readable=True))):
        return [record]
    said = {name: value for name, value in record.items() if not is_beside(plain_name(name))}
    if rows := _rows_of(said):
        return list(rows)
    own = {name: value for name, value in record.items() if is_scalar(value) and plain_name(name) not in KEY_ALIASES}
    for each in (each for level in levels_of(said) for each in level):
        held = each if isinstance(each, list) else [each]
        if {USER, ASSISTANT} <= {role_of(message) for message in messages_of(each) or ()}:
            return [{**{name: value for name, value in record.items() if is_scalar(value)}, "messages": each}]
        found = [_join_parts(inner) for inner in held if isinstance(inner, Mapping)]
        if len(found) > 1 and all(all(brings(call, in_steps=True)) for inner in found for call in records_of(inner)):
            return [{**own, **call} for inner in found for call in records_of(inner)]
        if any(all(brings(inner)) for inner in found):
            return [{**own, **inner} for inner in found]
    return [record]


def _plain_values(value: Any) -> Any:
    """Return a value without the objects that say the types of what they hold."""
    if isinstance(value, list):
        return [_plain_values(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1:
        ((kind, inner),) = value.items()
        held, word = _plain_values(inner), str(kind)
        if json_kind(held) == _TYPES.get(word.casefold() if word[:1] == "$" else word):
            return held
    return {name: _plain_values(inner) for name, inner in value.items()}


def _rows_of(record: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the calls of a table that an object holds as a grid, by rows or by columns; none for another object."""
    names, grid = record.get("columns"), record.get("data")
    if isinstance(names, list) and isinstance(grid, list):
        return [dict(zip(map(str, names), row, strict=False)) for row in grid if isinstance(row, list)]
    lists = [each for each in record.values() if isinstance(each, list)]
    if len(record) == len(lists) > 1 and len(set(map(len, lists))) == 1:
        rows = [dict(zip(record, row, strict=True)) for row in zip(*lists, strict=True)]
        return rows if rows and all(all(brings(row)) for row in rows) else []
    cells = [each for each in record.values() if isinstance(each, Mapping)]
    if not cells or len(cells) < len(record):
        return []
    is_even = all(each.keys() == cells[0].keys() for each in cells)
    turned = [{name: each[key] for name, each in record.items()} for key in cells[0]] if is_even else []
    return next((rows for rows in (cells, turned) if rows and all(all(brings(row)) for row in rows)), [])


def conversation_of(record: Mapping[str, Any] | None, is_step: bool = False) -> str | None:
    """Return the conversation of a record that is one message of it, or a step between messages; else None."""
    plain = nest(record or {})
    key, kind = to_text(pick(plain, "conversation_id")), plain.get("type")
    if is_step and isinstance(kind, str):
        return key
    if key is None or role_of(record) is None or text_of(record) is None or find_messages(plain) is not None:
        return None
    has_none = pick(plain, "query_text") is None and pick(plain, "answer") is None
    return key if has_none or str(kind).casefold().endswith("message") else None


def join_conversation(key: str, said: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the messages of a conversation as one call: in the order of their times, with what all of them share."""
    times = [pick(nest(message), "asked_at") for message in said]
    if all(isinstance(time, str) for time in times) or all(isinstance(time, int | float) for time in times):
        said = [said[place] for place in sorted(range(len(said)), key=lambda place: times[place])]
    shared = {
        name: value
        for name, value in said[0].items()
        if is_scalar(value) and all(message.get(name) == value for message in said)
    }
    return {**shared, "id": key, "conversation_id": key, "messages": list(said)}


def _is_example(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an example of a data set; its outputs are an answer where a run made them."""
    made_by = ("source_run_id", "source_trace_id", "reference_outputs", "answer", "response")
    return record.get("dataset_id") is not None and not any(record.get(name) for name in made_by)


def unread_content(call: Mapping[str, Any]) -> list[str]:
    """Return the keys of a call, at any depth, under which a text stands that no record takes."""
    taken = {str(call.get("id"))}
    try:
        opened = open_call(call)
        for entity in ENTITIES_OF_CALLS:
            taken |= {str(value) for record in expand_opened(opened, entity) for value in record.values()}
    except RecordError:
        # a reason of its own says which key cannot be read
        return []
    return list(dict.fromkeys(_find_unread(call, taken)))


def _find_unread(value: Any, taken: Collection[str], path: tuple[str, ...] = ()) -> Iterator[str]:
    held = structured(value)
    if len(path) > _DEEPEST:
        return
    if isinstance(held, Mapping):
        for name, inner in held.items():
            if plain_name(str(name)) not in NOT_CONTENT:
                yield from _find_unread(inner, taken, (*path, str(name)))
    elif isinstance(held, list):
        for inner in held:
            # a list has no name of its own, and lists inside of lists end somewhere
            yield from _find_unread(inner, taken, (*path, ""))
    # a filled prompt holds what was read
    elif looks_like_content(held) and not any(
        held in text or (looks_like_content(text) and text in held) for text in taken
    ):
        yield ".".join(filter(None, path))


def brings(call: Mapping[str, Any], readable: bool = False, in_steps: bool = False) -> tuple[bool, bool]:
    """Return whether a call brings a query, and whether it brings an answer, readable or not, also in named steps."""
    plain = nest(call)
    record = _open(plain) if in_steps else open_containers(plain)
    is_whole = find_messages(record) is not None or bool(marks_of_spans(record))

    def has(*meanings: str) -> bool:
        found = (pick(record, meaning) for meaning in meanings)
        return any(is_scalar(value) if readable else value is not None for value in found)

    # counts of tokens have such names too
    is_count = isinstance(pick(record, "query_text"), int | float)
    has_query = not is_count and has("query_text", "query_id")
    has_answer = has("answer", "answers") or (has_query and _is_example(plain))
    return has_query or is_whole, has_answer or is_whole


def _read_exchanges(record: dict[str, Any], call_id: Any) -> list[_Exchange]:
    """Return what a call holds: one exchange, one per sample of the answer, or one per turn of a conversation."""
    messages = find_messages(record)
    turns = None if messages is None else _read_turns(messages, pick(record, "query_text"))
    samples = structured(pick(record, "answers"))
    single = pick(record, "answer")
    has_query = is_scalar(pick(record, "query_text"))
    # a call with query and answer of its own is one exchange: its messages are what the model was sent
    if turns is not None and len(turns) > 1 and not (has_query and (samples or is_scalar(single))):
        return _read_conversation(turns, record, call_id)
    last = turns[-1] if turns else _Turn()
    query_text = _scalar(last.query_text if turns and not has_query else pick(record, "query_text"), "query")
    query_id = pick(record, "query_id")
    if query_id is None and query_text is not None and query_text.strip():
        # of its text, whatever its case and its blanks
        query_id = "query_" + hash_text(" ".join(query_text.casefold().split()))[:16]
    if samples is not None and not isinstance(samples, list):
        raise RecordError(f"multi_responses must be a list, got {json_kind(samples)}")
    if not samples:
        answer = _read_answer(single, last.answer)
        return [_Exchange(call_id, query_id, query_text, answer, record.get("sample_index"), turn=last)]
    samples = [pick(plain_record(each), "answer") if isinstance(each, Mapping) else each for each in samples]
    answers = samples if single is None or single in samples else [single, *samples]
    return [
        _Exchange(f"{call_id}_sample_{index}", query_id, query_text, _scalar(answer, "answer"), index, index > 0)
        for index, answer in enumerate(answers)
    ]


def _scalar(value: Any, what: str) -> str | None:
    held = structured(value)
    if held is None or is_scalar(held):
        return to_text(value)
    said = messages_of(held if isinstance(held, list) else [held])
    are_parts = isinstance(held, list) and all(isinstance(part, Mapping) and "type" in part for part in held)
    # what a tool found is no answer, and an answer in JSON stays what the user saw
    is_found = any(read_context(passage).get("chunk_id") is not None for passage in find_passages(held))
    is_read = are_parts or (isinstance(held, Mapping) and (held is value or what == "query"))
    text = text_of(held) if said is None and is_read and not is_found else None
    found = last_text(said or [], ASSISTANT if what == "answer" else USER) or text
    if found is not None or isinstance(value, str):
        return value if found is None else found
    keys = f": its keys are {', '.join(list(map(str, value))[:5])}" if isinstance(value, Mapping) else ""
    raise RecordError(f"the {what} must be a text, got {json_kind(value)}{keys}")


def _read_answer(own: Any, reply: str | None) -> str | None:
    """Return the answer that stands beside a conversation, or else the last reply of it."""
    is_said = is_scalar(own) and (to_text(own) or "").strip()
    return reply if reply is not None and not is_said else _scalar(own, "answer")


def _read_turns(messages: Sequence[Mapping[str, Any]], query: Any) -> list[_Turn]:
    """Return the turns of a conversation: what the user said since the last reply, the reply, and its contexts."""
    turns: list[_Turn] = []
    for message in messages:
        role, text, named = role_of(message), text_of(message) or "", None
        if role == USER and text.strip():
            if not turns or turns[-1].answer is not None:
                places = (plain_record(each) for each in (message, message.get("data")) if isinstance(each, Mapping))
                turns.append(_Turn([], find_first(places, lambda place: pick(place, "asked_at"))))
            turns[-1].said.append(text)
        if role == ASSISTANT and (turns or query is not None):
            turns = turns or [_Turn()]
            held = find_contexts(plain_record(message))
            named = held if isinstance(held, list) else find_named_passages(message) or find_documents(message) or None
            if named is None and not text.strip():
                # an agent may hand on what its tools returned
                named = find_passages(message) or None
            turns[-1].feedback += tuple(read_feedback(plain_record(message), is_message=True))
            # a message that only calls a tool says nothing
            turns[-1].answer = text if text.strip() else turns[-1].answer
        elif role != SYSTEM:
            # what a tool returned for the reply that follows, and documents that the user hands over
            named = find_documents(message) or (None if text.strip() and role == USER else find_passages(message))
        if turns and named is not None and (named or role == ASSISTANT):
            before = turns[-1].contexts or []
            # events may say what a tool returned more than once
            turns[-1].contexts = [*before, *(each for each in named if each not in before)]
    if not turns and query is None:
        raise RecordError(f"a conversation of {len(messages)} messages of which the user said none")
    turns = turns or [_Turn()]
    if query is not None:
        text = to_text(query) or ""
        place = max((place for place, turn in enumerate(turns) if text in turn.query_text), default=len(turns) - 1)
        turns[place].said = [text]
    return turns


def _read_conversation(turns: Sequence[_Turn], record: dict[str, Any], call_id: Any) -> list[_Exchange]:
    """Return one exchange per turn. The last turn may find its answer and its contexts beside the conversation."""
    logged = pick(record, "conversation_id")
    conversation_id = str(call_id if logged is None else to_text(logged))
    return [
        _Exchange(
            f"{call_id}_turn_{number}",
            "query_" + hash_text(conversation_id, str(number))[:16],
            turn.query_text,
            _read_answer(pick(record, "answer"), turn.answer) if turn is turns[-1] else turn.answer,
            conversation_id=conversation_id,
            turn_index=number,
            is_last_turn=turn is turns[-1],
            turn=turn,
        )
        for number, turn in enumerate(turns, start=1)
    ]


def _read_tags(record: Mapping[str, Any]) -> Any:
    """Return the tags of a call: its own, beside the plain values of its metadata."""
    tags = structured(record.get("tags"))
    if isinstance(tags, list):
        tags = {str(tag): True for tag in tags if isinstance(tag, str | int)}
    metadata = structured(pick(record, "metadata"))
    if not isinstance(metadata, Mapping) or not (tags is None or isinstance(tags, Mapping)):
        return tags
    plain = {
        name: value
        for name, value in metadata.items()
        if isinstance(value, str | int | float) and plain_name(str(name)) not in ENTITIES["interactions"].columns
    }
    return {**plain, **(tags or {})} or None


def _expand_interaction(record: Mapping[str, Any], exchange: _Exchange) -> Iterator[dict[str, Any]]:
    metadata = structured(pick(record, "metadata"))
    held = plain_record(metadata) if isinstance(metadata, Mapping) else {}
    for name in ENTITIES["interactions"].columns:
        value = record.get(name)
        held[name] = held.get(name) if value is None else value
    for name in ("asked_at", "application_version"):
        if held[name] is None:
            held[name] = pick(record, name)
    # a value of another kind is none of these, and it costs nothing else
    usage = structured(record.get("usage"))
    places = [record, held, plain_record(usage) if isinstance(usage, Mapping) else {}]
    for name in COST_COLUMNS:
        held[name] = next((value for place in places if is_scalar(value := pick(place, name))), None)
    for name in ("conversation_id", "turn_index"):
        found = pick(record, name)
        held[name] = pick(held, name) if found is None else found
    # a turn has its own time, and a conversation the time of its first turn
    if exchange.turn.asked_at is not None and (exchange.conversation_id is not None or held["asked_at"] is None):
        held["asked_at"] = exchange.turn.asked_at
    if exchange.conversation_id is not None:
        held |= {"conversation_id": exchange.conversation_id, "turn_index": exchange.turn_index}
    held |= {
        "interaction_id": exchange.interaction_id,
        "query_id": exchange.query_id,
        "query_text": exchange.query_text,
        "answer": exchange.answer,
        "sample_index": exchange.sample_index,
        "tags": _read_tags(record),
    }
    # no record of retrievals tells of an empty list; an error is said once, as the reason of the retrieval
    with suppress(RecordError):
        if _contexts_of(record, exchange) == []:
            held["count_retrieved"] = 0
    yield {name: held[name] for name in ENTITIES["interactions"].columns if held[name] is not None}


def _expand_query(record: Mapping[str, Any], exchange: _Exchange) -> Iterator[dict[str, Any]]:
    # a query text alone is part of the interaction; a queries record exists when the call adds facts to it
    own = ("query_id", "text", "tags", "reference_answer")
    facts = {
        name: record[name] for name in ENTITIES["queries"].columns if name not in own and record.get(name) is not None
    }
    # the tags of a call are those of the interaction
    if (tags := pick(record, "query_tags")) is not None:
        facts["tags"] = tags
    reference = pick(record, "reference_answer")
    held = structured(reference)
    if isinstance(held, list | bool):
        # a verdict is no answer
        reference = held[0] if isinstance(held, list) and held else None
    elif isinstance(held, Mapping) and find_contexts(plain_record(held)):
        reference = held
    if isinstance(reference, Mapping):
        # passages under this name are no answer
        inner = plain_record(reference)
        named = pick(inner, "answer") if pick(inner, "reference_answer") is None else pick(inner, "reference_answer")
        reference = text_of(reference if named is None else named) or (None if find_contexts(inner) else reference)
    # what a whole conversation should come to is no reference answer of one turn
    if reference is not None and exchange.conversation_id is None:
        facts["reference_answer"] = reference
    # samples of one answer share their query
    if facts and exchange.query_id is not None and not exchange.is_further_sample:
        yield facts | {"query_id": exchange.query_id, "text": exchange.query_text}


def _contexts_of(record: Mapping[str, Any], exchange: _Exchange) -> Any:
    """Return the contexts of an exchange: those of its call, or else its own; None where the log names none."""
    contexts = find_contexts(record) if exchange.is_last_turn else None
    return exchange.turn.contexts if contexts is None else contexts


def _expand_retrievals(record: Mapping[str, Any], exchange: _Exchange) -> Iterator[dict[str, Any]]:
    contexts = _contexts_of(record, exchange)
    if contexts is None:
        return
    if not isinstance(contexts, list):
        raise RecordError(f"contexts must be a list, got {json_kind(contexts)}")
    gold = structured(pick(record, "reference_context_ids"))
    # gold without texts names documents: what was retrieved is then told by its document too
    by_document = isinstance(gold, list) and not all(map(is_passage, gold))
    read = [read_context(context, by_document) for context in contexts]
    for position, context in enumerate(read, start=1):
        # ranks of the log may repeat, and passages of a call have one row of the file
        place = {"list_position": position} if "rank" in context else {}
        yield {"interaction_id": exchange.interaction_id, "rank": position} | context | place


def _expand_judgements(record: Mapping[str, Any], exchange: _Exchange) -> Iterator[dict[str, Any]]:
    identifiers = structured(pick(record, "reference_context_ids"))
    if identifiers is None or exchange.query_id is None or exchange.is_further_sample:
        return
    if not isinstance(identifiers, list):
        raise RecordError(f"reference_context_ids must be a list, got {json_kind(identifiers)}")
    flat = chain.from_iterable(item if isinstance(item, list) else [item] for item in identifiers)
    ids = (read_context(each).get("chunk_id") if isinstance(each, Mapping) else each for each in flat)
    for identifier in dict.fromkeys(str(each) for each in ids if each is not None):
        yield {"query_id": exchange.query_id, "chunk_id": identifier, "grade": 1}


def _expand_ratings(record: Mapping[str, Any], exchange: _Exchange) -> Iterator[dict[str, Any]]:
    # what users say of a call is said of its last answer
    said = (*exchange.turn.feedback, *(read_feedback(record) if exchange.is_last_turn else ()))
    own = {"interaction_id": exchange.interaction_id, "rater_kind": USER_FEEDBACK, "criterion": USER_FEEDBACK}
    found = {each["rater"]: own | each for each in said}
    yield from () if exchange.is_further_sample else found.values()


_EXPANDERS = {
    "interactions": _expand_interaction,
    "queries": _expand_query,
    "retrievals": _expand_retrievals,
    "relevance_judgements": _expand_judgements,
    "ratings": _expand_ratings,
}
