"""The journal: one line per finished interaction, on disk before the next query takes its place.

It is the only state of a collection. A process that is killed loses what was under way and nothing that was finished; a
line that it could not finish is dropped. The files that a build reads are written from it, in one order, as often as
one likes.
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

JOURNAL: Final = "collection_journal.jsonl"
INTERACTIONS: Final = "interactions.jsonl"
RETRIEVALS: Final = "retrievals.jsonl"
FAILURES: Final = "collection_failures.jsonl"

ANSWERED: Final = "answered"
FAILED: Final = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is remembered of a line.

    Parameters
    ----------
    status : {"answered", "failed"}
        How the interaction ended.
    order : tuple
        Application, version, query_id, sample_index: the order of the files.
    query_hash, endpoint_hash : str
        Of the text that was sent, and of how it was sent and read.
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
        1 when the last line was cut off and dropped.
    """

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    count_torn: int = 0
    _descriptor: int = -1
    _length: int = 0

    def append(self, record: Mapping[str, Any]) -> None:
        """Write the line of a finished interaction; :meth:`sync` puts it on the disk.

        Raises
        ------
        OSError
            If it cannot be written whole; then nothing of it stands in the file.
        """
        line = to_line(record)
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError:
            # whatever comes after a torn line would be lost with it
            os.ftruncate(self._descriptor, self._length)
            raise
        self._remember(record, len(line))

    def sync(self) -> None:
        """Return when everything that was appended before the call lies on the disk."""
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
    """Open the journal of a folder for writing and yield it; a torn last line is cut off.

    Raises
    ------
    ValueError
        If another process writes it, a line cannot be read, or the folder holds interactions that are not its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / JOURNAL
    check_folder(folder)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        try:
            # the lock goes with the process, also when that is killed
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
    """Return what the journal of a folder holds, without opening it for writing; an empty one when there is none.

    Raises
    ------
    ValueError
        If a line that is not the last one cannot be read.
    """
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
                    f"{journal.path} must hold one finished interaction per line, got something else in line {number}: "
                    "restore the file, or delete that line to ask its query again"
                ) from None
    return journal


def check_folder(folder: Path) -> None:
    """Refuse a folder whose interactions were not collected into it: they would be replaced.

    Raises
    ------
    ValueError
        If there are such files.
    """
    for name in (INTERACTIONS, RETRIEVALS):
        if (folder / name).exists() and not (folder / JOURNAL).exists():
            raise ValueError(f"the output must be a folder of its own, got {folder}, whose {name} was not collected")


def write_files(journal: Journal) -> dict[str, int]:
    """Write interactions, retrievals and failures beside the journal, each whole or not at all.

    Returns
    -------
    dict of str to int
        File name -> rows. Rows are in the order of application, version, query_id and sample_index, whatever the order
        in which they were answered, so that the same journal gives the same bytes.
    """
    places = sorted(journal.entries.values(), key=lambda entry: entry.order)
    answered = [entry for entry in places if entry.status == ANSWERED]
    failed = [entry for entry in places if entry.status == FAILED]
    folder = journal.path.parent
    if not journal.path.exists():
        return {RETRIEVALS: 0, INTERACTIONS: 0, FAILURES: 0}
    with journal.path.open("rb") as source:
        # retrievals first: one whose interaction is still to come waits, an interaction without its retrievals misleads
        return {
            RETRIEVALS: _write(folder / RETRIEVALS, source, answered, lambda record: record["retrievals"]),
            INTERACTIONS: _write(folder / INTERACTIONS, source, answered, lambda record: [record["interaction"]]),
            FAILURES: _write(folder / FAILURES, source, failed, lambda record: [record["failure"]]),
        }


def to_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of JSON; halves of surrogate pairs, which UTF-8 cannot hold, stay escaped."""
    try:
        return json.dumps(record, ensure_ascii=False, sort_keys=True, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, sort_keys=True, allow_nan=False).encode() + b"\n"


def _write(
    path: Path, source: BinaryIO, entries: list[Entry], extract: Callable[[dict[str, Any]], list[dict[str, Any]]]
) -> int:
    # a name that no build reads
    temporary = path.with_name(f".{path.name}.writing")
    count = 0
    with temporary.open("wb") as target:
        for entry in entries:
            source.seek(entry.offset)
            for row in extract(json.loads(source.read(entry.length))):
                target.write(to_line(row))
                count += 1
        target.flush()
        os.fsync(target.fileno())
    temporary.replace(path)
    _sync_folder(path.parent)
    return count


def _sync_folder(folder: Path) -> None:
    """Put the names of a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
