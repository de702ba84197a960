"""The journal: one line per finished interaction, on disk before the next query is sent.

The journal is the only state of a collection. A killed process loses queries without a reply and no finished
interaction; an incomplete last line is dropped. The files that a build reads are written from the journal, always in
the same order.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from hcat.engine.files import replacing

JOURNAL: Final = "collection_journal.jsonl"
INTERACTIONS: Final = "interactions.jsonl"
RETRIEVALS: Final = "retrievals.jsonl"
FAILURES: Final = "collection_failures.jsonl"

ANSWERED: Final = "answered"
FAILED: Final = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept in memory of a line.

    Parameters
    ----------
    status : {"answered", "failed"}
        How the interaction ended.
    order : tuple
        Application, version, query_id, sample_index: the sort key of the files.
    query_hash, endpoint_hash : str
        Hashes of the text that was sent, and of how it was sent and its reply read.
    offset, length : int
        Place of the line in the journal, in bytes.
    """

    status: str
    order: tuple[str, str, str, int]
    query_hash: str
    endpoint_hash: str
    offset: int
    length: int


@dataclass(slots=True)
class Journal:
    """An open journal.

    Parameters
    ----------
    path : Path
        The file.
    entries : dict of str to Entry
        interaction_id -> its last line; an answer is never replaced.
    count_torn : int
        1 if the last line was incomplete and dropped, otherwise 0.
    """

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    count_torn: int = 0
    _descriptor: int = -1
    _length: int = 0

    def append(self, record: Mapping[str, Any]) -> None:
        """Add the line of a finished interaction; :meth:`sync` flushes it to the disk."""
        line = to_line(record)
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError:
            # a line added after an incomplete one would be lost with it
            os.ftruncate(self._descriptor, self._length)
            raise
        self._remember(record, len(line))

    def sync(self) -> None:
        """Wait until every line that was added before the call is on the disk."""
        os.fsync(self._descriptor)

    def _remember(self, record: Mapping[str, Any], length: int) -> None:
        known = self.entries.get(record["interaction_id"])
        if known is None or known.status != ANSWERED:
            self.entries[record["interaction_id"]] = Entry(
                record["status"],
                (record["application"], record["application_version"], record["query_id"], record["sample_index"]),
                record["query_hash"],
                record["endpoint_hash"],
                self._length,
                length,
            )
        self._length += length


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """Open the journal of a folder for writing and yield it; an incomplete last line is cut off."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / JOURNAL
    check_folder(folder)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        try:
            # the lock ends with the process, even if it is killed
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"another process collects into {folder}: wait until it ends") from None
        journal = read_journal(folder)
        journal._descriptor = descriptor
        if journal.count_torn:
            os.ftruncate(descriptor, journal._length)
        _sync_folder(folder)
        yield journal
    finally:
        os.close(descriptor)


def read_journal(folder: Path) -> Journal:
    """Return the journal of a folder without opening it for writing; an empty journal if there is none."""
    journal = Journal(folder / JOURNAL)
    if not journal.path.exists():
        return journal
    with journal.path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                journal.count_torn = 1
                break
            try:
                journal._remember(json.loads(line), len(line))
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"{journal.path}: line {number} is not a finished interaction; restore the file, or delete that "
                    "line to send its query again"
                ) from None
    return journal


def check_folder(folder: Path) -> None:
    """Raise an error if a folder holds interactions that were not collected into it and would be replaced."""
    for name in (INTERACTIONS, RETRIEVALS):
        if (folder / name).exists() and not (folder / JOURNAL).exists():
            raise ValueError(f"{folder} holds {name}, which was not collected into it: name another --output")


def write_files(journal: Journal) -> dict[str, int]:
    """Write interactions, retrievals and failures beside the journal, each file completely or not at all."""
    places = sorted(journal.entries.values(), key=lambda entry: entry.order)
    answered = [entry for entry in places if entry.status == ANSWERED]
    failed = [entry for entry in places if entry.status == FAILED]
    folder = journal.path.parent
    if not journal.path.exists():
        return {RETRIEVALS: 0, INTERACTIONS: 0, FAILURES: 0}
    with journal.path.open("rb") as source:
        # retrievals first: an interaction without its retrievals would mislead a build
        return {
            RETRIEVALS: _write(folder / RETRIEVALS, source, answered, lambda record: record["retrievals"]),
            INTERACTIONS: _write(folder / INTERACTIONS, source, answered, lambda record: [record["interaction"]]),
            FAILURES: _write(folder / FAILURES, source, failed, lambda record: [record["failure"]]),
        }


def to_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of JSON; halves of surrogate pairs stay escaped, because UTF-8 cannot hold them."""
    try:
        return json.dumps(record, ensure_ascii=False, sort_keys=True, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, sort_keys=True, allow_nan=False).encode() + b"\n"


def _write(
    path: Path, source: BinaryIO, entries: list[Entry], extract: Callable[[dict[str, Any]], list[dict[str, Any]]]
) -> int:
    count = 0
    # builds do not read files with such a name
    with replacing(path) as unfinished, unfinished.open("wb") as target:
        for entry in entries:
            source.seek(entry.offset)
            for row in extract(json.loads(source.read(entry.length))):
                target.write(to_line(row))
                count += 1
        target.flush()
        os.fsync(target.fileno())
    _sync_folder(path.parent)
    return count


def _sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
