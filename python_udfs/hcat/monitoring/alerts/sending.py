"""Sending alerts: each event of the last build once, to a webhook and to a file.

:func:`send_alerts` reads gates, drift and findings of the published copy, which stays readable while the next build
writes. Every failing gate, drifting series and open finding is an event with a key and a state. An event is sent when
it is new, when its state has changed and when it is over. After some days without a change it is sent again. The same
state is never sent twice otherwise.

The file is channel and memory at once: a line is appended after the webhook has accepted the message. A kill between
the two sends the message again next time: delivery is at least once, never lost. The same holds for a webhook that
accepts a message and whose answer is lost. What could not be delivered stays due.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hcat.engine.warehouse import Place, place_of
from hcat.monitoring.alerts.delivery import WEBHOOK_VARIABLE, Patience, open_client, post, read_webhook
from hcat.monitoring.alerts.events import Looked, read_events
from hcat.monitoring.alerts.messages import Message, compose_messages
from hcat.monitoring.alerts.record import (
    Record,
    append_line,
    choose_due,
    describe_message,
    describe_record,
    is_written,
    open_record,
    read_record,
    read_whole,
)

#: Largest number of days or hours that a setting may hold; a larger one is a typing error.
LONGEST_DAYS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Alerted:
    """What :func:`send_alerts` did.

    Parameters
    ----------
    lines : tuple of (str, str)
        Name and text of each line that a terminal shows.
    messages : tuple of Message
        Messages that were due.
    count_undelivered : int
        How many of them are still due.
    """

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
    if not 0 < reminder_days <= LONGEST_DAYS:
        raise ValueError(f"reminder days must lie in (0, {LONGEST_DAYS}], got {reminder_days}")
    if maximum_age_hours is not None and not 0 < maximum_age_hours <= LONGEST_DAYS:
        raise ValueError(f"maximum age in hours must lie in (0, {LONGEST_DAYS}], got {maximum_age_hours}")
    now = now or datetime.now(UTC)
    webhook = read_webhook(os.environ)
    place = warehouse if isinstance(warehouse, Place) else place_of(warehouse)
    record_path = record_path or place.folder / "alerts.jsonl"
    looked = read_events(
        warehouse,
        maximum_age_hours=maximum_age_hours,
        is_hiding_segments=is_hiding_segments,
        now=now,
    )
    if is_dry_run:
        record = read_record(record_path.read_bytes() if record_path.exists() else b"")
        messages = _choose_messages(looked, record, webhook, now, reminder_days)
        lines = [*looked.lines, *describe_record(record, record_path), ("alerts", f"{len(messages)} due, none sent")]
        return Alerted(tuple(lines), messages, 0)
    with open_record(record_path) as descriptor:
        record = read_record(read_whole(descriptor))
        messages = _choose_messages(looked, record, webhook, now, reminder_days)
        if webhook is None:
            for message in messages:
                append_line(descriptor, describe_message(message, "file", looked.run_id, now))
            lines = [("alerts", f"{len(messages)} due, written to the file alone: {WEBHOOK_VARIABLE} is not set")]
            count_undelivered = 0
        else:
            lines, count_undelivered = _deliver_all(
                messages, webhook, patience or Patience(), descriptor, record, looked.run_id, now
            )
    return Alerted(
        (*looked.lines, *describe_record(record, record_path), *lines), messages, count_undelivered=count_undelivered
    )


def _choose_messages(
    looked: Looked, record: Record, webhook: str | None, now: datetime, reminder_days: float
) -> tuple[Message, ...]:
    """Return the messages that are due; without a webhook, what the file holds counts as sent."""
    sent = record.written if webhook is None else record.accepted
    return compose_messages(choose_due(looked.events, sent, now, reminder_days), looked.run_id)


def _deliver_all(
    messages: Sequence[Message],
    webhook: str,
    patience: Patience,
    descriptor: int,
    record: Record,
    run_id: str,
    now: datetime,
) -> tuple[list[tuple[str, str]], int]:
    """Return lines about the delivery and the number of messages that stay due."""
    if not messages:
        return [("alerts", "none due")], 0
    delivered, failures, is_down = 0, [], False
    with open_client(webhook) as client:
        for message in messages:
            if not is_down:
                delivery = post(client, webhook, message.payload, patience)
                if delivery.is_accepted:
                    append_line(descriptor, describe_message(message, "webhook", run_id, now))
                    delivered += 1
                    continue
                failures.append(("not delivered", f"{message.title()}: {delivery.reason}"))
                is_down = not delivery.is_final
            else:
                failures.append(("not tried", message.title()))
            # the file is a channel of its own: it tells what the webhook did not, once
            if any(not is_written(record, event) for event in message.events):
                append_line(descriptor, describe_message(message, "undelivered", run_id, now))
    stay = f"; {len(failures)} stay due" if failures else ""
    return [("alerts", f"{len(messages)} due, {delivered} delivered{stay}"), *failures], len(failures)
