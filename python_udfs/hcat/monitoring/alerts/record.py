"""The file of alerts: a line per message, which is at once what was told and what need not be told again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from hcat.engine.files import append
from hcat.engine.warehouse import CLOCK_SKEW
from hcat.monitoring.alerts.events import Event, as_utc


class Sent(NamedTuple):
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
            due.append(event._replace(lines=(*event.lines, f"{before} {last.at:%Y-%m-%d %H:%M} UTC")))
    return tuple(sorted(due, key=lambda event: (not event.is_active, event.severity != "error")))


def append_line(descriptor: int, entry: Mapping[str, Any]) -> None:
    """Append one line and bring it to the disk."""
    size = os.fstat(descriptor).st_size
    # a line that a killed write left open must not swallow this one
    is_open = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    append(descriptor, (b"\n" if is_open else b"") + json.dumps(entry).encode() + b"\n")
    os.fsync(descriptor)
