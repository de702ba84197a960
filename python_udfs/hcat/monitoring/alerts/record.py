"""The file of alerts: one line per message, and by it what was told and what is due.

Each line is a JSON object with the time, the delivery, the events and the message itself. Only one process may hold the
file at a time.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hcat.engine.warehouse import CLOCK_SKEW, WarehouseError
from hcat.monitoring.alerts.events import Event, as_utc
from hcat.monitoring.alerts.messages import Message


@dataclass(frozen=True, slots=True)
class Sent:
    """The last line of the file about an event.

    Parameters
    ----------
    state : str
        State that was told.
    is_active : bool
        False when it told that the event is over.
    at : datetime
        Time of the line, UTC.
    """

    state: str
    is_active: bool
    at: datetime


@dataclass(slots=True)
class Record:
    """The memory of alerts.

    Parameters
    ----------
    accepted : dict of str to Sent
        Event key -> last line that a webhook accepted.
    written : dict of str to Sent
        Event key -> last line of any delivery.
    count_unreadable : int
        Lines that could not be read.
    """

    accepted: dict[str, Sent] = field(default_factory=dict)
    written: dict[str, Sent] = field(default_factory=dict)
    count_unreadable: int = 0


def read_record(content: bytes) -> Record:
    """Return the memory that a file of alerts holds."""
    record = Record()
    for line in content.split(b"\n"):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            at = as_utc(datetime.fromisoformat(entry["sent_at"]))
            delivery, is_active = entry["delivery"], bool(entry["is_active"])
            sent = {str(event["event_key"]): Sent(str(event["state"]), is_active, at) for event in entry["events"]}
        except (ValueError, TypeError, KeyError, AttributeError):
            record.count_unreadable += 1
            continue
        record.written |= sent
        if delivery == "webhook":
            record.accepted |= sent
    return record


def choose_due(
    events: Iterable[Event], sent: Mapping[str, Sent], now: datetime, reminder_days: float
) -> tuple[Event, ...]:
    """Return the events to be sent: active ones first, and errors first among them."""
    due = []
    for event in events:
        last = sent.get(event.key)
        if not event.is_active:
            # nobody who was not told needs to hear that it is over
            is_due = last is not None and last.is_active
        elif last is None or last.state != event.state:
            is_due = True
        else:
            # what a clock ahead wrote would otherwise be sent again on that day alone
            is_due = now - last.at >= timedelta(days=reminder_days) or last.at - now > CLOCK_SKEW
        if is_due and last is not None:
            unchanged = "unchanged since" if last.state == event.state else f"before: {last.state},"
            event = replace(event, lines=(*event.lines, f"{unchanged} {last.at:%Y-%m-%d %H:%M} UTC"))
        if is_due:
            due.append(event)
    return tuple(sorted(due, key=lambda event: (not event.is_active, event.severity != "error")))


def is_written(record: Record, event: Event) -> bool:
    """Return whether the last line about an event, of any delivery, tells its present state."""
    written = record.written.get(event.key)
    return written is not None and written.state == event.state


@contextmanager
def open_record(path: Path) -> Iterator[int]:
    """Open the file for appending, hold it alone and yield its descriptor."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_held = True
        else:
            is_held = False
        if is_held:
            raise WarehouseError(f"another process sends alerts and holds {path}: wait until it ends")
        yield descriptor
    finally:
        os.close(descriptor)


def read_whole(descriptor: int) -> bytes:
    """Return everything that the file of a descriptor holds."""
    with open(os.dup(descriptor), "rb") as handle:
        handle.seek(0)
        return handle.read()


def append_line(descriptor: int, entry: Mapping[str, Any]) -> None:
    """Append one line in one write and bring it to the disk; a write that is cut off is taken back."""
    size = os.fstat(descriptor).st_size
    # a line that a killed write left open must not swallow this one
    is_open = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    data = (b"\n" if is_open else b"") + json.dumps(entry).encode() + b"\n"
    try:
        if os.write(descriptor, data) != len(data):
            raise OSError("the disk is full: the file of alerts cannot be written")
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def describe_message(message: Message, delivery: str, run_id: str, now: datetime) -> dict[str, Any]:
    """Return the line of the file about a message."""
    first = message.events[0]
    return {
        "sent_at": now.astimezone(UTC).isoformat(timespec="seconds"),
        "delivery": delivery,
        "kind": first.kind,
        "severity": first.severity,
        "is_active": first.is_active,
        "run_id": run_id,
        "events": [{"event_key": event.key, "state": event.state} for event in message.events],
        "message": message.payload,
    }


def describe_record(record: Record, path: Path) -> list[tuple[str, str]]:
    """Return the lines that a terminal shows about the file."""
    unreadable = f"; {record.count_unreadable} unreadable lines ignored" if record.count_unreadable else ""
    return [("file", f"{path}, {len(record.written)} events known{unreadable}")]
