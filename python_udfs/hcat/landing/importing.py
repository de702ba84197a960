"""A file of a tool, put into a folder of raw logs under a name by which it is read."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hcat.engine.keys import hash_file
from hcat.engine.saying import say
from hcat.landing.aliases import CONTRACT
from hcat.landing.calls import CALLS, brings, records_of
from hcat.landing.files import FORMATS, find_fault, note_on, read_json, read_records
from hcat.landing.messages import messages_of
from hcat.landing.shapes import SHAPES, find_missing_content, head_of, join_messages, list_names, suggest

#: Tools whose files hold calls.
TOOLS = CONTRACT["tools_of_calls"].split()
_JSON = ".json"


def import_into(shape: str, file: Path, folder: Path) -> tuple[Path, int]:
    """Copy a file into a folder of raw logs; return where it lies and how many records it has, readable or not."""
    stem = CALLS if shape in TOOLS else shape
    if stem not in SHAPES:
        meant = suggest(shape, (*TOOLS, *SHAPES))
        question = f"; did you mean {meant}?" if meant else ""
        raise ValueError(f"unknown format '{shape}' (known: {', '.join((*TOOLS, *SHAPES))}{question})")
    if not file.is_file():
        raise ValueError(f"no file {file}")
    if file.suffix != _JSON and file.suffix not in FORMATS:
        packed = " is compressed: unpack it; a file" if file.suffix in (".gz", ".zst", ".zip", ".bz2") else ""
        raise ValueError(f"{file}{packed} must be {', '.join((_JSON, *FORMATS))}")
    folder.mkdir(parents=True, exist_ok=True)
    suffix = ".jsonl" if file.suffix == _JSON else file.suffix
    path = folder / f"{stem}_{hash_file(file)[:12]}{suffix}"
    # written beside its name first: a build must not read half of it
    partial = path.with_name(f".{path.name}")
    try:
        if file.suffix == _JSON:
            lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in _read_array(file, stem))
            with partial.open("w", encoding="utf-8") as handle:
                handle.writelines(lines)
        else:
            shutil.copyfile(file, partial)
        count = _check(stem, file, partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path, count


def _check(stem: str, file: Path, copy: Path) -> int:
    """Return the number of records; an error names the file that the user gave."""
    fault = find_fault(copy)
    records = read_records(copy)
    head, is_whole, records = head_of(join_messages(records) if stem == CALLS else records)
    if fault is None and stem == CALLS:
        fault = find_missing_content(head, is_whole)
    count = sum(1 for _ in records)
    if fault is None and not count:
        fault = "holds no record"
    if fault is not None:
        raise ValueError(f"{file} {fault}")
    return count


def _read_array(file: Path, stem: str) -> list[Mapping[str, Any]]:
    """Return the objects of a JSON file: its calls at any depth, those of an array, or of the only array in it."""
    try:
        value = read_json(file.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is not JSON: {error}") from None
    if note := note_on(value):
        say(f"hcat: {file}: {note}", is_error=True)
    if stem == CALLS and isinstance(value, list) and messages_of(value) is not None:
        # one conversation
        return [{"messages": value}]
    if isinstance(value, dict):
        if stem == CALLS and ((records := records_of(value)) != [value] or all(brings(value, in_steps=True))):
            return records
        arrays = [name for name, item in value.items() if isinstance(item, list) and item and isinstance(item[0], dict)]
        # one object of a tool, around its records
        value = value[arrays[0]] if len(arrays) == 1 else [value] if not arrays else value
    if isinstance(value, dict):
        raise ValueError(f"{file} holds several arrays: {list_names(arrays)}")
    if not isinstance(value, list) or not all(isinstance(record, dict) for record in value):
        raise ValueError(f"{file} must hold an array of objects")
    return value
