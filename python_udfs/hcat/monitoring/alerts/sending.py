"""Sending alerts: each event of the last build once, to a webhook and to a file (docs/operations.md).

The file is channel and memory at once: a line is appended after the webhook has accepted the message, so that delivery
is at least once. What could not be delivered stays due.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from hcat.engine.files import append, held_alone
from hcat.engine.warehouse import CLOCK_SKEW, Place, as_place
from hcat.monitoring.alerts.delivery import WEBHOOK_VARIABLE, Patience, open_client, post, read_webhook
from hcat.monitoring.alerts.events import Event, as_utc, read_events
from hcat.monitoring.alerts.messages import Message, compose_messages

#: Largest number of days or hours that a setting may hold; a larger one is a typing error.
LONGEST_DAYS: Final = 10_000


class Alerted(NamedTuple):
    """Lines for a terminal, the messages that were due, and how many of them still are."""

    lines: tuple[tuple[str, str], ...]
    messages: tuple[Message, ...]
    count_undelivered: int


def send_alerts(
    warehouse: Path | Place,
    *,
    record_path: Path | None = None,
    reminder_days: float = 7.0,
    maximum_age_hours: float | None = None,
    is_hiding_segments: bool = False,
    is_dry_run: bool = False,
    patience: Patience | None = None,
    now: datetime | None = None,
) -> Alerted:
    """Return what was due and what became of it, after sending it."""
    for name, value in (("reminder days", reminder_days), ("maximum age in hours", maximum_age_hours)):
        if value is not None and not 0 < value <= LONGEST_DAYS:
            raise ValueError(f"{name} must lie in (0, {LONGEST_DAYS}], got {value}")
    now = now or datetime.now(UTC)
    webhook = read_webhook(os.environ)
    place = as_place(warehouse)
    path = record_path or place.folder / "alerts.jsonl"
    events, looked, run_id = read_events(
        warehouse, maximum_age_hours=maximum_age_hours, is_hiding_segments=is_hiding_segments, now=now
    )

    def choose() -> tuple[Record, tuple[Message, ...]]:
        record = read_record(path.read_bytes() if path.exists() else b"")
        # without a webhook, what the file holds counts as sent
        sent = record.written if webhook is None else record.accepted
        return record, compose_messages(choose_due(events, sent, now, reminder_days), run_id)

    if is_dry_run:
        record, messages = choose()
        lines, count_undelivered = [("alerts", f"{len(messages)} due, none sent")], 0
    else:
        with held_alone(path, f"another process sends alerts and holds {path}: wait until it ends") as descriptor:
            record, messages = choose()

            def write(message: Message, delivery: str) -> None:
                first = message.events[0]
                entry = {
                    "sent_at": now.astimezone(UTC).isoformat(timespec="seconds"),
                    "delivery": delivery,
                    "kind": first.kind,
                    "severity": first.severity,
                    "is_active": first.is_active,
                    "run_id": run_id,
                    "events": [{"event_key": event.key, "state": event.state} for event in message.events],
                    "message": message.payload,
                }
                append_line(descriptor, entry)

            lines, count_undelivered = _deliver(messages, webhook, patience or Patience(), record, write)
    unreadable = f"; {record.count_unreadable} unreadable lines ignored" if record.count_unreadable else ""
    known = ("file", f"{path}, {len(record.written)} events known{unreadable}")
    return Alerted((*looked, known, *lines), messages, count_undelivered)


def _deliver(
    messages: Sequence[Message],
    webhook: str | None,
    patience: Patience,
    record: Record,
    write: Callable[[Message, str], None],
) -> tuple[list[tuple[str, str]], int]:
    """Return lines about the delivery and the number of messages that stay due."""
    if webhook is None:
        for message in messages:
            write(message, "file")
        return [("alerts", f"{len(messages)} due, written to the file alone: {WEBHOOK_VARIABLE} is not set")], 0
    if not messages:
        return [("alerts", "none due")], 0
    failures: list[tuple[str, str]] = []
    is_down = False
    with open_client(webhook) as client:
        for message in messages:
            if is_down:
                failures.append(("not tried", message.events[0].title))
            else:
                delivery = post(client, webhook, message.payload, patience)
                if delivery.is_accepted:
                    write(message, "webhook")
                    continue
                failures.append(("not delivered", f"{message.events[0].title}: {delivery.reason}"))
                is_down = not delivery.is_final
            # the file is a channel of its own: it tells what the webhook did not, once
            told = [record.written.get(event.key) for event in message.events]
            if any(one is None or one.state != event.state for one, event in zip(told, message.events, strict=True)):
                write(message, "undelivered")
    stay = f"; {len(failures)} stay due" if failures else ""
    delivered = len(messages) - len(failures)
    return [("alerts", f"{len(messages)} due, {delivered} delivered{stay}"), *failures], len(failures)


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
