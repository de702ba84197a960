"""The journal: one line per finished interaction, on disk before the next query is sent."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hcat.engine.files import append, held_alone, replacing

JOURNAL: Final = "collection_journal.jsonl"
INTERACTIONS: Final = "interactions.jsonl"
RETRIEVALS: Final = "retrievals.jsonl"
FAILURES: Final = "collection_failures.jsonl"

ANSWERED: Final = "answered"
FAILED: Final = "failed"

#: The order of the files.
_ORDER: Final = ("application", "application_version", "query_id", "sample_index")
#: What every line holds.
_KEYS: Final = (*_ORDER, "interaction_id", "status", "query_hash", "endpoint_hash")


@dataclass(slots=True)
class Journal:
    """The finished interactions of a folder."""

    path: Path
    #: interaction_id -> its last line; an answer is never replaced.
    records: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Whether the last line was incomplete and dropped.
    is_torn: bool = False
    _descriptor: int = -1
    _length: int = 0

    def append(self, record: Mapping[str, Any]) -> None:
        """Add the line of a finished interaction; :meth:`sync` flushes it to the disk."""
        line = to_line(record)
        # a line added after an incomplete one would be lost with it
        append(self._descriptor, line)
        self._remember(record, len(line))

    def sync(self) -> None:
        """Wait until every line that was added before the call is on the disk."""
        os.fsync(self._descriptor)

    def _remember(self, record: Mapping[str, Any], length: int) -> None:
        known = self.records.get(record["interaction_id"])
        if known is None or known["status"] != ANSWERED:
            self.records[record["interaction_id"]] = record
        self._length += length


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """Open the journal of a folder for writing and yield it; an incomplete last line is cut off."""
    check_folder(folder)
    with held_alone(folder / JOURNAL, f"another process collects into {folder}: wait until it ends") as descriptor:
        journal = read_journal(folder)
        journal._descriptor = descriptor
        if journal.is_torn:
            os.ftruncate(descriptor, journal._length)
        _sync_folder(folder)
        yield journal


def read_journal(folder: Path) -> Journal:
    """Return the journal of a folder without opening it for writing; an empty journal if there is none."""
    journal = Journal(folder / JOURNAL)
    if not journal.path.exists():
        return journal
    with journal.path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                journal.is_torn = True
                break
            try:
                record = json.loads(line)
                is_whole = all(name in record for name in _KEYS)
            except (ValueError, TypeError):
                is_whole = False
            if not is_whole:
                raise ValueError(
                    f"{journal.path}: line {number} is not a finished interaction; restore the file, or delete that "
                    "line to send its query again"
                )
            journal._remember(record, len(line))
    return journal


def check_folder(folder: Path) -> None:
    """Raise an error if a folder holds interactions that were not collected into it and would be replaced."""
    for name in (INTERACTIONS, RETRIEVALS):
        if (folder / name).exists() and not (folder / JOURNAL).exists():
            raise ValueError(f"{folder} holds {name}, which was not collected into it: name another --output")


def write_files(journal: Journal) -> dict[str, int]:
    """Write interactions, retrievals and failures beside the journal, each file completely or not at all."""
    records = sorted(journal.records.values(), key=lambda record: tuple(record[name] for name in _ORDER))
    written = [record for record in records if "interaction" in record]
    folder = journal.path.parent
    # retrievals first: an interaction without its retrievals would mislead a build
    return {
        RETRIEVALS: _write(folder / RETRIEVALS, (row for record in written for row in record["retrievals"])),
        INTERACTIONS: _write(folder / INTERACTIONS, (record["interaction"] for record in written)),
        FAILURES: _write(folder / FAILURES, (record["failure"] for record in records if record["status"] == FAILED)),
    }


def to_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of JSON; halves of surrogate pairs stay escaped, because UTF-8 cannot hold them."""
    try:
        return json.dumps(record, ensure_ascii=False, sort_keys=True, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, sort_keys=True, allow_nan=False).encode() + b"\n"


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    lines = [to_line(row) for row in rows]
    # builds do not read files with such a name
    with replacing(path) as unfinished, unfinished.open("wb") as target:
        target.writelines(lines)
        target.flush()
        os.fsync(target.fileno())
    _sync_folder(path.parent)
    return len(lines)


def _sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
