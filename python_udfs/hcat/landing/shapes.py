"""Which file holds which records: by its name, ``<stem>.<format>`` or ``<stem>_<anything>.<format>``, or by its folder.

A stem is an entity of the raw contract or a shape: a file whose records hold records of several entities. A folder that
is named by a stem holds such files at any depth.
"""

import difflib
import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from hcat.engine.keys import hash_text
from hcat.landing import calls, datasets
from hcat.landing.aliases import CONTRACT, plain_name
from hcat.landing.calls import CALLS, ENTITIES_OF_CALLS
from hcat.landing.contexts import plain_record
from hcat.landing.events import join_events, read_event
from hcat.landing.feedback import SCORES, expand_score, scores_of
from hcat.landing.files import FILE_ERRORS, FORMATS, RawRecord, read_records
from hcat.landing.messages import ASSISTANT, USER, messages_of, role_of, text_of
from hcat.landing.raw_contract import ENTITIES, SPANS, RecordError, show_record
from hcat.landing.spans import expand_spans

#: Records from which the head of a file tells what the file brings.
_HEAD = 1000
_SHOWN_NAMES = 12
# folders by which writers part files: a field and its value, or a date
_PARTITION = re.compile(r"[^=]+=.*|[0-9T:_-]+")
# anything else in a head is no name of a column: a file without a head has a record there
_NAME = re.compile(r"[\w .,()\[\]=%+&'#?/-]{1,100}")
_OTHER_FORMATS = tuple(CONTRACT["formats_not_read"].split())


# what every call brings, and its usual names
_CONTENT = {"a query": "query, question, user_input, input", "an answer": "answer, response, output, actual_output"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What the records of a file are."""

    entities: tuple[str, ...]
    #: (record, or call that was opened, and entity) -> records of that entity; None when a record is one
    expand: Callable[[Any, str], Iterator[dict[str, Any]]] | None = None
    formats: tuple[str, ...] = FORMATS


SHAPES: Mapping[str, Shape] = {
    **{name: Shape((name,)) for name in ENTITIES},
    CALLS: Shape(ENTITIES_OF_CALLS, calls.expand_opened, (*FORMATS, ".json")),
    datasets.CORPUS: Shape(("documents", "chunks"), datasets.expand_corpus),
    datasets.QUESTIONS: Shape(("queries", "relevance_judgements"), datasets.expand_question),
    datasets.JUDGEMENTS: Shape(("relevance_judgements",)),
    **dict.fromkeys(SCORES, Shape(("ratings",), expand_score, (*FORMATS, ".json"))),
    # exports of traces are one JSON document as often as JSON Lines
    SPANS: Shape((SPANS,), lambda record, _: expand_spans(record), (*FORMATS, ".json")),
}


def stem_of(path: Path) -> str | None:
    """Return the key of :data:`SHAPES` that a file belongs to; None for any other file."""
    folders = [name for name in path.parts[:-1] if not _PARTITION.fullmatch(name)]
    return _stem_of_folder(path) if folders else _stem_named(path.stem)


def _stem_of_folder(path: Path) -> str | None:
    """Return the stem that the folder of a file names; writers of many files name their folder like a file."""
    folder = next((Path(name) for name in path.parts[:-1] if not _PARTITION.fullmatch(name)), Path())
    return _stem_named(folder.stem if folder.suffix in FORMATS else folder.name)


def _stem_named(name: str) -> str | None:
    return next((stem for stem in SHAPES if name == stem or name.startswith(f"{stem}_")), None)


def read_partition(path: Path) -> dict[str, str]:
    """Return the fields that the folders of a file state (``name=value``), which the writer left out of its records."""
    pairs = (part.partition("=") for part in path.parts[:-1] if "=" in part)
    return {name: unquote(value) for name, _, value in pairs if value not in ("", "__HIVE_DEFAULT_PARTITION__")}


def find_files(folder: str | Path, entity_name: str) -> list[Path]:
    """Return the files of a folder of raw logs that hold records of an entity."""
    if folder == "":
        return []
    root = Path(folder)
    files: list[Path] = []
    folders: list[Path] = []
    for path in _walk(root):
        place, is_folder = path.relative_to(root), path.is_dir()
        stem = _stem_of_folder(place / "any") if is_folder else stem_of(place)
        if stem and entity_name in SHAPES[stem].entities and (is_folder or path.suffix in SHAPES[stem].formats):
            (folders if is_folder else files).append(path)
    # a folder in the place of a file, and one that cannot be opened, are said as files that cannot be read
    filled = {folder for path in files for folder in path.parents}
    unread = [path for path in folders if not _is_open(path) or (path.suffix in FORMATS and path not in filled)]
    return sorted([*files, *unread])


def _is_open(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK)


def _walk(root: Path) -> Iterator[Path]:
    """Yield what lies below a folder, in order; a folder that links lead to twice is entered once."""
    seen: set[tuple[int, int]] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        status = os.stat(folder)
        is_new = (status.st_dev, status.st_ino) not in seen
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if is_new and not name.startswith((".", "_")))
        shown = [name for name in files if is_new and not name.startswith((".", "_"))]
        yield from (Path(folder, name) for name in sorted([*folders, *shown]))


def expand_records(
    records: Iterable[RawRecord], stem: str, entity_names: Sequence[str]
) -> Iterator[tuple[str, RawRecord]]:
    """Yield the records of some entities that the records of a file hold; each call is opened once."""
    shape = SHAPES[stem]
    first = shape.entities[0]
    seen: Counter[str] = Counter()
    for row in records:
        number, record, note, _ = row
        if shape.expand is None or record is None:
            # an unreadable record is rejected once, as the first of its entities
            if first in entity_names:
                yield first, row
            continue
        split = {CALLS: calls.records_of, **dict.fromkeys(SCORES, scores_of)}.get(stem)
        for held in split(record) if split else [record]:
            try:
                opened: Any = calls.open_call(held, seen) if stem == CALLS else held
            except RecordError as problem:
                if first in entity_names:
                    yield first, (number, None, str(problem), show_record(held))
                continue
            for entity_name in entity_names:
                try:
                    items = list(shape.expand(opened, entity_name))
                except RecordError as problem:
                    yield entity_name, (number, None, str(problem), show_record(held))
                    continue
                for place, item in enumerate(items):
                    # a note is said once, on the first of its entities
                    yield entity_name, (number, item, note if entity_name == first and not place else None, None)


def join_messages(records: Iterable[RawRecord]) -> Iterator[RawRecord]:
    """Yield the messages of a file as one record a conversation, its events as one a run; other files as they are."""
    head, is_whole, rows = head_of(map(_unwrap, records))
    said = [record for _, record, _, _ in head if record is not None]
    only = None
    if not any(map(calls.conversation_of, said)):
        only = _key_of_lines(said) if is_whole else None
        if only is None:
            # the first record that can be read tells what the file holds
            yield from (join_events if read_event(next(iter(said), None))[1] else iter)(rows)
            return
    conversations: dict[str, list[RawRecord]] = {}
    for row in rows:
        key = only if only and row[1] else calls.conversation_of(row[1], is_step=True)
        if key is None:
            yield row
        else:
            conversations.setdefault(key, []).append(row)
    for key, held in conversations.items():
        note = next((note for _, _, note, _ in held if note), None)
        yield held[0][0], calls.join_conversation(key, [record for _, record, _, _ in held if record]), note, None


def _key_of_lines(said: Sequence[Mapping[str, Any]]) -> str | None:
    """Return a key of the one conversation that the records of a file are, if each question of it has its reply."""
    messages = None if any(calls.brings(record)[0] for record in said) else messages_of(said)
    spoken = [(role, each) for each in messages or () if (role := role_of(each)) in (USER, ASSISTANT) and text_of(each)]
    roles = [role for role, _ in spoken]
    if roles[:2] != [USER, ASSISTANT] or (USER, USER) in pairwise(roles):
        return None
    # the same while the file grows
    return "conversation_" + hash_text(json.dumps([each for _, each in spoken[:2]], default=str))[:16]


def _unwrap(row: RawRecord) -> RawRecord:
    """Return a message or an event with its fields beside those of the object around it, as exports of tables have."""
    number, record, note, shown = row
    inner = [value for value in (record or {}).values() if isinstance(value, Mapping | list)]
    whole = {**(record or {}), **inner[0]} if len(inner) == 1 and isinstance(inner[0], Mapping) else {}
    return (number, whole, note, shown) if _is_part(whole) and not _is_part(record) else row


def _is_part(record: Mapping[str, Any] | None) -> bool:
    return bool(read_event(record)[1] or calls.conversation_of(record))


def find_missing_content(head: Iterable[RawRecord], is_whole: bool) -> str | None:
    """Return what no call of a file brings, worded to follow the name of the file; None when nothing is missing."""
    read = [record for _, record, _, _ in head if record is not None]
    if not read:
        return None
    brought = [calls.brings(call, in_steps=True) for record in read for call in calls.records_of(record)]
    where = "any record" if is_whole else f"its first {len(read)} records"
    for place, (what, names) in enumerate(_CONTENT.items()):
        if not any(has[place] for has in brought):
            found = list_names(name for record in read for name in record)
            return f"brings no {what.split()[1]} in {where} (found: {found}; {what} is named {names}, ...)"
    return None


def list_names(names: Iterable[str]) -> str:
    """Return names once each, in the order of their first mention, the first dozen of them."""
    distinct = list(dict.fromkeys(names))
    shown = [name for name in distinct if _NAME.fullmatch(name)]
    others = len(distinct) - len(shown)
    parts = [", ".join(shown[:_SHOWN_NAMES])] if shown else []
    parts += [f"{len(shown) - _SHOWN_NAMES} more"] if len(shown) > _SHOWN_NAMES else []
    parts += [f"{others} that {'is no name' if others == 1 else 'are no names'}"] if others else []
    return " and ".join(parts)


def suggest(wrong: str, right: Iterable[str]) -> str | None:
    """Return the name that was probably meant."""
    found = difflib.get_close_matches(plain_name(wrong), list(right), n=1, cutoff=0.75)
    return found[0] if found else None


def find_unread_files(folder: str | Path) -> dict[str, str | None]:
    """Return the files of a folder of raw logs that are not read and may be meant -> the name that would be read."""
    unread: dict[str, str | None] = {}
    root = Path(folder)
    for path in _walk(root):
        place = path.relative_to(root)
        suffix = path.suffix.lower()
        own, first = stem_of(place), path.name.split(".")[0]
        is_data = suffix in (*FORMATS, *_OTHER_FORMATS)
        is_meant = is_data or _stem_of_folder(place) is not None
        if path.is_dir() and own is None and not _is_open(path):
            unread[f"{place.as_posix()}/"] = None
        if not path.is_file() or not is_meant or (own is not None and path.suffix in SHAPES[own].formats):
            continue
        ending = suffix if suffix in FORMATS else ".jsonl"
        stem = None if own else suggest(first, SHAPES)
        meant = f"{place.parent / first}{ending}" if own else f"{stem}{ending}"
        unread[place.as_posix()] = meant if is_data and (own or stem) else None
    return dict(sorted(unread.items()))


def explain_no_files(folder: str | Path) -> str:
    """Return why a folder holds no interactions, in one line, with what to do."""
    if folder == "":
        return "no logs are named: set HCAT_RAW_LOGS to a folder or hcat_raw_relations to tables (demo: HCAT_DEMO=1)"
    root = Path(folder)
    name = f"folder '{folder}' (HCAT_RAW_LOGS)"
    if not root.exists():
        return f"{name} does not exist"
    if not root.is_dir():
        return f"'{folder}' (HCAT_RAW_LOGS) is a file: name the folder that holds it, or {_say_import(root)}"
    unread = find_unread_files(root)
    meant = [f"{found}; did you mean {name}?" for found, name in unread.items() if name]
    found = meant[0] if meant else list_names(unread) or "nothing that could be read"
    file = next((root / found for found in unread if Path(found).suffix in SHAPES[CALLS].formats), None)
    advice = "" if file is None or meant else f"; {_say_import(file, len(unread) > 1)}"
    return f"{name} has no file interactions.*, calls.* or spans.* ({', '.join(FORMATS)}; found: {found}){advice}"


def _say_import(file: Path, are_many: bool = False) -> str:
    """Return the command that gives a file a name by which it is read."""
    try:
        records = [plain_record(record) for _, record, _, _ in islice(read_records(file), _HEAD) if record]
    except FILE_ERRORS:
        records = []
    shape = SPANS if any(map(calls.marks_of_spans, records)) else CALLS
    shown = shlex.quote(str(file)) if _NAME.fullmatch(file.name) else "FILE"
    more = f", or name a folder that holds the files in a folder {shape}" if are_many else ""
    return f"run `hcat import {shape} {shown} --output my_logs`{more}"


def names_of(records: Iterable[RawRecord]) -> list[str]:
    """Return the names of the fields of records, in the order of their first mention."""
    return list(dict.fromkeys(name for _, record, _, _ in records for name in record or ()))


def head_of(records: Iterable[RawRecord]) -> tuple[list[RawRecord], bool, Iterator[RawRecord]]:
    """Return the first records, whether they are all, and the records from the start."""
    iterator = iter(records)
    head = list(islice(iterator, _HEAD))
    return head, len(head) < _HEAD, chain(head, iterator)
