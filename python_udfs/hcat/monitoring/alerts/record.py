"""The file of alerts: a line per message, which is at once what was told and what need not be told again."""

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


@dataclass(frozen=True, slots=True)
class Sent:
    """The last line of the file about an event."""

    state: str
    is_active: bool
    at: datetime


@dataclass(slots=True)
class Record:
    """Event key -> the last line about it: of those that a webhook accepted, and of all."""

    accepted: dict[str, Sent] = field(default_factory=dict)
    written: dict[str, Sent] = field(default_factory=dict)
    count_unreadable: int = 0


def read_record(content: bytes) -> Record:
    """Return the memory that a file of alerts holds."""
    record = Record()
    for line in filter(bytes.strip, content.split(b"\n")):
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
        if last is None:
            # nobody who was not told needs to hear that it is over
            due += [event] if event.is_active else []
            continue
        is_old = now - last.at >= timedelta(days=reminder_days)
        # what a clock ahead wrote would otherwise be sent again on that day alone
        is_due_again = event.is_active and (last.state != event.state or is_old or last.at - now > CLOCK_SKEW)
        if is_due_again or (last.is_active and not event.is_active):
            before = "unchanged since" if last.state == event.state else f"before: {last.state},"
            due.append(replace(event, lines=(*event.lines, f"{before} {last.at:%Y-%m-%d %H:%M} UTC")))
    return tuple(sorted(due, key=lambda event: (not event.is_active, event.severity != "error")))


@contextmanager
def open_record(path: Path) -> Iterator[int]:
    """Open the file for appending, hold it alone and yield its descriptor."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WarehouseError(f"another process sends alerts and holds {path}: wait until it ends") from None
        yield descriptor
    finally:
        os.close(descriptor)


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


def describe_message(
    events: tuple[Event, ...], payload: Mapping[str, Any], delivery: str, run_id: str, now: datetime
) -> dict[str, Any]:
    """Return the line of the file about a message."""
    return {
        "sent_at": now.astimezone(UTC).isoformat(timespec="seconds"),
        "delivery": delivery,
        "kind": events[0].kind,
        "severity": events[0].severity,
        "is_active": events[0].is_active,
        "run_id": run_id,
        "events": [{"event_key": event.key, "state": event.state} for event in events],
        "message": payload,
    }
