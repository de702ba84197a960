"""Alerts: what the last build found that somebody must know, once, to a webhook and to a file.

`send_alerts` reads gates, drift and findings of the published copy, which is there while the next build writes. Every
failing gate, drifting series and open finding is an event with a key and a state. An event is sent when it is new, when
its state changed, when it is over, and again after some days if nothing happened; never twice for the same state.

The file is channel and memory at once: a line is appended after the webhook has accepted the message. A kill between
the two sends the message again next time (at least once, never lost); so does a webhook that accepts a message and
loses the answer. What could not be delivered stays due.

The address of the webhook is a secret. It comes from the environment, and no text that is made here holds it: neither
what httpx says about a failure nor the answer of the server is shown, and the loggers of the HTTP client, which print
addresses, are silent while it works.

Alerts leave the warehouse: they hold names, counts and statistics and never a query, an answer, an interaction or a
person. Names of segments come from logs: what looks like an address or a number of a person is masked, control
characters are made visible, length is cut, and markup is escaped.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from hcat.engine.http import read_retry_after, silent_http_client
from hcat.engine.warehouse import Row, WarehouseError, open_warehouse
from hcat.language.display import clean_label

#: Environment variable with the address of the webhook.
WEBHOOK_VARIABLE: Final = "HCAT_ALERT_WEBHOOK"

KINDS: Final = ("build", "gate", "drift", "finding")
#: How a line of the file was delivered: accepted by the webhook, written without one, or not accepted.
DELIVERIES: Final = ("webhook", "file", "undelivered")

#: Characters of a name from logs or seeds.
NAME_CHARACTERS: Final = 60
#: Series that a message about drift lists; the others are counted. Slack takes 3,000 characters in a section.
MAXIMUM_SERIES: Final = 12
SECTION_CHARACTERS: Final = 2900
HEADER_CHARACTERS: Final = 150
#: Largest number of days or hours that a setting may name; beyond it lies a slip of the pen.
LONGEST_DAYS: Final = 10_000
#: Seconds that one answer of the webhook may take.
ANSWER_SECONDS: Final = 10.0

#: Statuses that a later attempt may change; all others are final.
PASSING_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})

_READS: Final = {"gates": "fct_threshold_gates", "drift": "fct_metric_drift", "findings": "fct_findings"}

_LIST_GATES = """
select run_id, gate_name, measurement, metric_name, dimension, segment, severity, burden, comparison, verdict,
    threshold, measured_value, lower_bound, upper_bound, n, minimum_n, is_passing, evaluated_at
from fct_threshold_gates
where run_id = (select run_id from fct_threshold_gates order by evaluated_at desc, run_id desc limit 1)
order by is_passing, severity, gate_name
"""

_LIST_DRIFT = """
select metric_name, dimension, segment, test, window_end, difference, q_value, count_reference, count_window,
    is_drifting
from fct_metric_drift
order by q_value nulls last, metric_name, dimension, segment, test, window_weeks
"""

_LIST_FINDINGS = """
select finding_id, metric_name, first_dimension, first_segment, second_dimension, second_segment, severity, status,
    measurement, difference, confirmed_difference
from fct_findings
where kind = 'confirmed'
order by finding_id
"""

# What may name or reach a person, in names that come from logs: mail addresses, IBANs, long numbers (phones, cards,
# accounts; a date has eight digits).
_PERSONAL = re.compile(
    r"[^\s@<>]+@[^\s@<>]+\.\w+"
    r"|\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?\b"
    r"|(?<![\d.,])\+?\(?\d(?:[ ()/-]{0,2}\d){8,}"
)
_MASK = "[masked]"

_VERDICT_SAYS = {
    ("failed", "prove_safe"): "The measured value misses the threshold.",
    ("failed", "prove_harm"): "The whole interval lies on the wrong side of the threshold.",
    (
        "undecided",
        "prove_safe",
    ): "Safety is not proven: the value meets the threshold, the bound of its interval does not.",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that somebody must know, or that is over.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    key : str
        32 hexadecimal digits of kind and subject; names from logs are not readable in it.
    state : str
        What is the case; another state is another alert.
    is_active : bool
        False when it is over: a gate that passes, a series that does not drift, a finding closed by the data.
    group : str
        Events of one group share a message.
    title : str
        One line.
    lines : tuple of str
        Facts, ready for Slack: every name is escaped.
    severity : str
        Of the gate or finding; ``info`` for others.
    """

    kind: str
    key: str
    state: str
    is_active: bool
    group: str
    title: str
    lines: tuple[str, ...] = ()
    severity: str = "info"


@dataclass(frozen=True, slots=True)
class Message:
    """One post to the webhook: the events that it tells and the JSON that is sent."""

    events: tuple[Event, ...]
    payload: dict[str, Any]

    def title(self) -> str:
        """Return the first line of the message, for people at a terminal."""
        return self.events[0].title


@dataclass(frozen=True, slots=True)
class Looked:
    """What `read_events` found: events, one (name, text) per source, and the build that they belong to."""

    events: tuple[Event, ...]
    lines: tuple[tuple[str, str], ...]
    run_id: str


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a webhook is tried.

    Parameters
    ----------
    attempts : int
        Posts of one message, at least 1.
    first_seconds : float
        Wait after the first failure; it doubles each time. ``Retry-After`` can only make it longer.
    longest_seconds : float
        Longest wait that doubling makes.
    total_seconds : float
        A wait that would end later than this after the first attempt is not begun: the message stays due.
    """

    attempts: int = 6
    first_seconds: float = 1.0
    longest_seconds: float = 30.0
    total_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of one message; ``reason`` never holds the address nor anything that the server said."""

    is_accepted: bool
    is_final: bool
    count_attempts: int
    reason: str


@dataclass(frozen=True, slots=True)
class Sent:
    """The last line of the file about an event."""

    state: str
    is_active: bool
    at: datetime


@dataclass(slots=True)
class Record:
    """The memory of alerts: by event key what was accepted by a webhook, and what was written at all."""

    accepted: dict[str, Sent] = field(default_factory=dict)
    written: dict[str, Sent] = field(default_factory=dict)
    count_unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Alerted:
    """What `send_alerts` did: lines for people, messages that were due, and how many of them are still due."""

    lines: tuple[tuple[str, str], ...]
    messages: tuple[Message, ...]
    count_undelivered: int


# ---------------------------------------------------------------------------------------------------------------------
# The whole


def send_alerts(
    warehouse: Path,
    *,
    record_path: Path | None = None,
    reminder_days: float = 7.0,
    maximum_age_hours: float | None = None,
    is_hiding_segments: bool = False,
    is_dry_run: bool = False,
    patience: Patience | None = None,
    now: datetime | None = None,
) -> Alerted:
    """Send what is due and return what was done.

    Parameters
    ----------
    warehouse : Path
        Folder of the warehouse, whose published copy is read, or a DuckDB file.
    record_path : Path, optional
        File of alerts; ``alerts.jsonl`` in the warehouse folder by default.
    reminder_days : float
        Days after which an unchanged event is sent again, above 0.
    maximum_age_hours : float, optional
        A last build older than this is an alert; None looks at no clock.
    is_hiding_segments : bool
        Show segments as hashes.
    is_dry_run : bool
        Post nothing, write nothing.
    patience : Patience, optional
        How long the webhook is tried.
    now : datetime, optional
        Time of the call, aware; the clock by default.

    Raises
    ------
    WarehouseError
        If there is no published copy, it has no gates, or another process sends alerts.
    ValueError
        If a setting or the address is unusable; the message does not hold the address.
    """
    if not 0 < reminder_days <= LONGEST_DAYS:
        raise ValueError(f"reminder days must lie in (0, {LONGEST_DAYS}], got {reminder_days}")
    if maximum_age_hours is not None and not 0 < maximum_age_hours <= LONGEST_DAYS:
        raise ValueError(f"maximum age in hours must lie in (0, {LONGEST_DAYS}], got {maximum_age_hours}")
    now = now or datetime.now(UTC)
    webhook = read_webhook(os.environ)
    folder = warehouse.parent if warehouse.is_file() else warehouse
    record_path = record_path or folder / "alerts.jsonl"
    looked = read_events(
        warehouse,
        maximum_age_hours=maximum_age_hours,
        is_hiding_segments=is_hiding_segments,
        now=now,
    )
    if is_dry_run:
        record = read_record(record_path.read_bytes() if record_path.exists() else b"")
        messages = _choose_messages(looked, record, webhook, now, reminder_days)
        lines = [*looked.lines, *_record_lines(record, record_path), ("alerts", f"{len(messages)} due, none sent")]
        return Alerted(tuple(lines), messages, 0)
    with _open_record(record_path) as descriptor:
        record = read_record(_read_whole(descriptor))
        messages = _choose_messages(looked, record, webhook, now, reminder_days)
        if webhook is None:
            for message in messages:
                _append(descriptor, _line_of(message, "file", looked.run_id, now))
            lines = [("alerts", f"{len(messages)} due, written to the file alone: {WEBHOOK_VARIABLE} is not set")]
            count_undelivered = 0
        else:
            lines, count_undelivered = _deliver_all(
                messages, webhook, patience or Patience(), descriptor, record, looked.run_id, now
            )
    return Alerted(
        (*looked.lines, *_record_lines(record, record_path), *lines), messages, count_undelivered=count_undelivered
    )


def read_webhook(environment: Mapping[str, str]) -> str | None:
    """Return the address of the webhook, or None when none is set.

    Raises
    ------
    ValueError
        If it is no https address; http is taken on this machine only, since the address is a secret on the wire too.
        The message does not hold it.
    """
    address = environment.get(WEBHOOK_VARIABLE, "").strip()
    if not address:
        return None
    scheme, host = "", None
    try:
        parts = urlsplit(address)
        scheme, host = parts.scheme, parts.hostname
        is_whole = bool(host) and parts.port != 0 and not re.search(r"[\s\x00-\x1f\x7f]", address)
    except ValueError:
        is_whole = False
    is_local = host in ("localhost", "127.0.0.1", "::1")
    if not is_whole or not (scheme == "https" or (scheme == "http" and is_local)):
        # outside the handler above: the error of urlsplit holds parts of the address
        raise ValueError(
            f"{WEBHOOK_VARIABLE} must be an https address (http on this machine only), got something else (not shown)"
        )
    return address


# ---------------------------------------------------------------------------------------------------------------------
# Events


def read_events(
    warehouse: Path,
    *,
    maximum_age_hours: float | None,
    is_hiding_segments: bool,
    now: datetime,
) -> Looked:
    """Return the events of the published copy and what was looked at.

    Raises
    ------
    WarehouseError
        If there is no published copy or it has no evaluated gate: then nothing can be said.
    """
    path = warehouse if warehouse.is_file() else warehouse / "published" / "hcat.duckdb"
    if not path.is_file():
        raise WarehouseError(f"no published copy at {path}: `dbt build` writes it, also when a gate fails")
    with open_warehouse(path) as source:
        gates = source.rows(_LIST_GATES, [_READS["gates"]])
        if not gates:
            raise WarehouseError(
                f"no evaluated gate in {path}: `dbt build` evaluates them, nothing can be said without"
            )
        drift = source.rows(_LIST_DRIFT, [_READS["drift"]])
        findings = source.rows(_LIST_FINDINGS, [_READS["findings"]])
        missing = source.lacks(*_READS.values())
    run_id, evaluated_at = str(gates[0]["run_id"]), _as_utc(gates[0]["evaluated_at"])
    name = _Names(is_hiding_segments)
    events = [
        *_build_events(evaluated_at, maximum_age_hours, now),
        *(_gate_event(row, name) for row in gates),
        *_drift_events(drift, name),
        *_finding_events(findings, name),
    ]
    active = {kind: sum(event.is_active for event in events if event.kind == kind) for kind in KINDS}
    ends = [row["window_end"] for row in drift if row["window_end"]]
    period = f" up to {max(ends)}" if ends else ""
    count_series = len({(row["metric_name"], row["dimension"], row["segment"]) for row in drift})
    said = {
        "gates": f"{len(gates)} of build {run_id}, {evaluated_at:%Y-%m-%d %H:%M} UTC: {active['gate']} do not pass",
        "drift": f"{count_series} series{period}: {active['drift']} drift",
        "findings": f"{len(findings)} confirmed: {active['finding']} open and not taken up",
    }
    lines = [("published copy", str(path))]
    for kind, text in said.items():
        absent = f"not looked at: the copy has no table {_READS[kind]}"
        lines.append((kind, absent if _READS[kind] in missing else text))
    return Looked(tuple(events), tuple(lines), run_id)


def _build_events(evaluated_at: datetime, maximum_age_hours: float | None, now: datetime) -> Iterator[Event]:
    """Yield whether the last build is too old: a build that dies before its gates fails none of them."""
    if maximum_age_hours is None:
        return
    is_old = now - evaluated_at > timedelta(hours=maximum_age_hours)
    since = f"{evaluated_at:%Y-%m-%d %H:%M} UTC"
    yield Event(
        kind="build",
        key=_key("build", "last"),
        state="stale" if is_old else "fresh",
        is_active=is_old,
        group="build",
        title="No build since " + since if is_old else "Builds run again: the last one started " + since,
        lines=(f"A build is due every {maximum_age_hours:g} hours; its log says what stopped it.",) if is_old else (),
        severity="error" if is_old else "info",
    )


def _gate_event(row: Row, name: _Names) -> Event:
    key = _key("gate", row["gate_name"])
    gate, verdict, severity = _plain(row["gate_name"]), str(row["verdict"]), str(row["severity"])
    is_active = not row["is_passing"]
    where = f" where {name.segments([(row['dimension'], row['segment'])])}" if row["dimension"] != "all" else ""
    of = f" of {_code(row['metric_name'])}" if row["metric_name"] else ""
    measured = f"{_code(row['measurement'])}{of}{where}: {_number(row['measured_value'])}"
    interval = _interval(row["lower_bound"], row["upper_bound"])
    comparison = str(row["comparison"]).replace("_", " ")
    return Event(
        kind="gate",
        key=key,
        state=f"{verdict} ({severity})",
        is_active=is_active,
        group=key,
        title=f"Gate {gate}: {verdict} ({severity})" if is_active else f"Gate {gate} passes again ({severity})",
        lines=(
            f"{measured}{interval}, n = {_number(row['n'])}",
            f"must be {comparison} {_number(row['threshold'])} ({_code(row['burden'])})",
            *((_explain_verdict(row),) if is_active else ()),
        ),
        severity=severity,
    )


def _explain_verdict(row: Row) -> str:
    """Return why the gate does not pass, without the free text of its reason."""
    said = _VERDICT_SAYS.get((row["verdict"], row["burden"]))
    if said is not None:
        return said
    if row["threshold"] is None:
        return "Not evaluated: there is no threshold, the decision is missing."
    if row["measured_value"] is None:
        return "Not evaluated: nothing was measured."
    if row["n"] is None or row["n"] < row["minimum_n"]:
        return f"Not evaluated: n lies below the minimum of {_number(row['minimum_n'])}."
    return "Not evaluated: fct_threshold_gates.reason says why."


def _drift_events(rows: Sequence[Row], name: _Names) -> Iterator[Event]:
    """Yield one event per series, the most certain drift first; all its tests and windows together are its state."""
    series: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        series.setdefault((row["metric_name"], row["dimension"], row["segment"]), []).append(row)
    for (metric, dimension, segment), tests in series.items():
        # in the order of their q values
        drifting = [row for row in tests if row["is_drifting"]]
        until = max((row["window_end"] for row in drifting or tests if row["window_end"]), default=None)
        where = name.segments([(dimension, segment)]) if segment != "all" else _code(dimension)
        what = f"{_code(metric)} of {where}" if metric else f"the mix of {where}"
        moved = drifting[0]["difference"] if drifting else None
        way = "" if not moved else " up" if moved > 0 else " down"
        facts = []
        if drifting:
            counts = f"n {_number(drifting[0]['count_window'])} against {_number(drifting[0]['count_reference'])}"
            words = dict.fromkeys(str(row["test"]).replace("_", " ") for row in drifting)
            facts = [f"by {_number(moved)}"] if moved is not None else []
            facts.append(f"{' and '.join(words)} ({counts})")
        yield Event(
            kind="drift",
            key=_key("drift", metric, dimension, segment),
            state=f"drifting{way}" if drifting else "not drifting",
            is_active=bool(drifting),
            group=f"drift {until} {bool(drifting)}",
            title=f"Drift up to {until}" if drifting else f"No drift any more up to {until}",
            lines=(what + (": " if facts else "") + ", ".join(facts),),
            severity="warn",
        )


def _finding_events(rows: Sequence[Row], name: _Names) -> Iterator[Event]:
    """Yield open findings, and those that the data closed; what somebody has taken up needs no alert."""
    for row in rows:
        if row["status"] not in ("open", "closed_by_data"):
            continue
        key = _key("finding", row["finding_id"])
        is_active = row["status"] == "open"
        severity = _plain(row["severity"]) if row["severity"] else "info"
        cell = [(row["first_dimension"], row["first_segment"]), (row["second_dimension"], row["second_segment"])]
        metric = _plain(row["metric_name"])
        # null when the last build that found it could not confirm it once more
        confirmed = row["confirmed_difference"]
        worse = _number(row["difference"] if confirmed is None else confirmed)
        where = (
            "sources held back from the search" if confirmed is not None else "all sources, confirmed by a build before"
        )
        yield Event(
            kind="finding",
            key=key,
            state=f"{row['status']} ({severity})",
            is_active=is_active,
            group=key,
            title=f"Confirmed weakness in {metric} ({severity})"
            if is_active
            else f"Weakness in {metric} closed by the data",
            lines=(
                f"{_code(row['metric_name'])} where {name.segments(cell)}",
                *((f"worse than the rest by {worse} ({_code(row['measurement'])}) on {where}",) if is_active else ()),
                f"finding {_code(row['finding_id'])}",
            ),
            severity=severity,
        )


def _key(kind: str, *subject: object) -> str:
    """Return the key of an event; a hash, so that names from logs are not in the file."""
    parts = json.dumps([kind, *(None if part is None else str(part) for part in subject)])
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


# ---------------------------------------------------------------------------------------------------------------------
# What is due


def choose_due(
    events: Iterable[Event], sent: Mapping[str, Sent], now: datetime, reminder_days: float
) -> tuple[Event, ...]:
    """Return the events to be sent, errors first.

    Parameters
    ----------
    events : iterable of Event
        As the build shows them.
    sent : mapping of str to Sent
        Event key -> what was sent last.
    now : datetime
        Time of the call, aware.
    reminder_days : float
        Days after which an unchanged active event is sent again.
    """
    due = []
    for event in events:
        last = sent.get(event.key)
        if not event.is_active:
            # nobody who was not told needs to hear that it is over
            is_due = last is not None and last.is_active
        elif last is None or last.state != event.state:
            is_due = True
        else:
            is_due = now - last.at >= timedelta(days=reminder_days)
        if is_due and last is not None:
            unchanged = "unchanged since" if last.state == event.state else f"before: {last.state},"
            event = replace(event, lines=(*event.lines, f"{unchanged} {last.at:%Y-%m-%d %H:%M} UTC"))
        if is_due:
            due.append(event)
    return tuple(sorted(due, key=lambda event: (not event.is_active, event.severity != "error")))


def compose_messages(events: Iterable[Event], run_id: str) -> tuple[Message, ...]:
    """Return one message per group of events, as JSON that Slack and what speaks its dialect take."""
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.group, []).append(event)
    return tuple(Message(tuple(group), _compose(group, run_id)) for group in groups.values())


def _compose(events: Sequence[Event], run_id: str) -> dict[str, Any]:
    first = events[0]
    shown = events[:MAXIMUM_SERIES]
    title = first.title if len(events) == 1 else f"{first.title}: {len(events)} series"
    lines = [line for event in shown for line in event.lines]
    if len(events) > len(shown):
        lines.append(f"and {len(events) - len(shown)} more: see fct_metric_drift")
    kept: list[str] = []
    for line in lines:
        if sum(len(one) + 1 for one in (*kept, line)) > SECTION_CHARACTERS:
            # whole lines only: half an escaped character would be another one
            kept.append("…")
            break
        kept.append(line)
    source = f"hcat, build {_plain(run_id)}"
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": _fit(title, HEADER_CHARACTERS), "emoji": False}}
    ]
    if kept:
        # verbatim: Slack makes no links and calls nobody by what looks like a name
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": "\n".join(kept), "verbatim": True}})
    blocks.append({"type": "context", "elements": [{"type": "plain_text", "text": source, "emoji": False}]})
    return {"text": "\n".join([title, *kept, source]), "blocks": blocks}


def _fit(text: str, length: int) -> str:
    """Return escaped text of at most ``length`` characters, cut between escaped characters."""
    while len(text) > length:
        text = re.sub(r"(?:&\w+;|.)…?$", "…", text, flags=re.DOTALL)
    return text


def _choose_messages(
    looked: Looked, record: Record, webhook: str | None, now: datetime, reminder_days: float
) -> tuple[Message, ...]:
    sent = record.written if webhook is None else record.accepted
    return compose_messages(choose_due(looked.events, sent, now, reminder_days), looked.run_id)


# ---------------------------------------------------------------------------------------------------------------------
# Delivery


def _deliver_all(
    messages: Sequence[Message],
    webhook: str,
    patience: Patience,
    descriptor: int,
    record: Record,
    run_id: str,
    now: datetime,
) -> tuple[list[tuple[str, str]], int]:
    """Post every message and write it down; a webhook that is down is not tried for the others."""
    if not messages:
        return [("alerts", "none due")], 0
    delivered, failures, is_down = 0, [], False
    with _open_client() as client:
        for message in messages:
            if not is_down:
                delivery = post(client, webhook, message.payload, patience)
                if delivery.is_accepted:
                    _append(descriptor, _line_of(message, "webhook", run_id, now))
                    delivered += 1
                    continue
                failures.append(("not delivered", f"{message.title()}: {delivery.reason}"))
                is_down = not delivery.is_final
            else:
                failures.append(("not tried", message.title()))
            # the file is a channel of its own: it tells what the webhook did not, once
            if any(not _is_written(record, event) for event in message.events):
                _append(descriptor, _line_of(message, "undelivered", run_id, now))
    stay = f"; {len(failures)} stay due" if failures else ""
    return [("alerts", f"{len(messages)} due, {delivered} delivered{stay}"), *failures], len(failures)


def _is_written(record: Record, event: Event) -> bool:
    written = record.written.get(event.key)
    return written is not None and written.state == event.state


def _open_client() -> Any:
    import httpx

    try:
        # no redirects: they would carry the message to an address that nobody set
        return httpx.Client(timeout=ANSWER_SECONDS, follow_redirects=False)
    except Exception as error:
        fault = type(error).__name__
    # outside the handler: a proxy's address may hold a password
    raise ValueError(f"proxy and certificates in the environment must be usable, the HTTP client says {fault}")


@dataclass(frozen=True, slots=True)
class _Attempt:
    is_accepted: bool
    is_worth_another: bool
    reason: str
    retry_after: float = 0.0


def post(
    client: Any,
    webhook: str,
    payload: Mapping[str, Any],
    patience: Patience,
    sleep: Callable[[float], None] = time.sleep,
) -> Delivery:
    """Return what became of ``payload``, posted until it is accepted, refused for good, or patience ends.

    Parameters
    ----------
    client : httpx.Client
        Client that follows no redirects.
    webhook : str
        Address; a secret.
    payload : mapping
        Message as JSON.
    patience : Patience
        Attempts and waits; a ``Retry-After`` of the server (seconds or a date) makes a wait longer.
    sleep : callable
        Waits that many seconds.
    """
    import tenacity

    doubling = tenacity.wait_exponential(multiplier=patience.first_seconds, max=patience.longest_seconds)

    def wait(state: tenacity.RetryCallState) -> float:
        attempt: _Attempt = state.outcome.result()  # type: ignore[union-attr]
        return max(doubling(state), attempt.retry_after)

    retrying = tenacity.Retrying(
        sleep=sleep,
        retry=tenacity.retry_if_result(lambda attempt: attempt.is_worth_another),
        wait=wait,
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(patience.attempts), tenacity.stop_before_delay(patience.total_seconds)
        ),
        # the last answer is the result: no error is raised that could carry the request
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
    )
    body = json.dumps(payload).encode()
    with silent_http_client():
        attempt: _Attempt = retrying(_post_once, client, webhook, body)
    count = int(retrying.statistics.get("attempt_number", 1))
    reason = attempt.reason
    if not attempt.is_accepted and attempt.is_worth_another:
        asked = f", which asks to wait {attempt.retry_after:.0f} s" if attempt.retry_after else ""
        reason = f"{reason}{asked} (attempt {count} of {patience.attempts}, at most {patience.total_seconds:g} s)"
    return Delivery(attempt.is_accepted, not attempt.is_worth_another, count, reason)


def _post_once(client: Any, webhook: str, body: bytes) -> _Attempt:
    """Return what one post led to. Nothing of the exception leaves: its text and its request may hold the address."""
    import httpx

    try:
        answer = client.post(webhook, content=body, headers={"Content-Type": "application/json; charset=utf-8"})
    except httpx.TimeoutException:
        return _Attempt(False, True, "the webhook did not answer in time")
    except httpx.TransportError as error:
        return _Attempt(False, True, f"no connection to the webhook ({type(error).__name__})")
    except Exception as error:
        return _Attempt(False, False, f"the webhook cannot be called ({type(error).__name__})")
    if answer.is_success:
        return _Attempt(True, False, "accepted")
    reason = f"the webhook answered {answer.status_code}"
    if answer.is_redirect:
        return _Attempt(False, False, f"{reason}: redirects are not followed")
    return _Attempt(
        False,
        answer.status_code in PASSING_STATUSES,
        reason,
        read_retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date")) or 0.0,
    )


# ---------------------------------------------------------------------------------------------------------------------
# The file


def read_record(content: bytes) -> Record:
    """Return the memory that a file of alerts holds.

    A line that cannot be read (a write cut off by a full disk) is counted and otherwise ignored: its events are sent
    once more, which is better than never.
    """
    record = Record()
    for line in content.split(b"\n"):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            at = _as_utc(datetime.fromisoformat(entry["sent_at"]))
            delivery, is_active = entry["delivery"], bool(entry["is_active"])
            sent = {str(event["event_key"]): Sent(str(event["state"]), is_active, at) for event in entry["events"]}
        except (ValueError, TypeError, KeyError, AttributeError):
            record.count_unreadable += 1
            continue
        record.written |= sent
        if delivery == "webhook":
            record.accepted |= sent
    return record


@contextmanager
def _open_record(path: Path) -> Iterator[int]:
    """Open the file for appending and hold it alone: two senders at once would each send everything."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
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


def _read_whole(descriptor: int) -> bytes:
    with open(os.dup(descriptor), "rb") as handle:
        handle.seek(0)
        return handle.read()


def _append(descriptor: int, entry: Mapping[str, Any]) -> None:
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


def _line_of(message: Message, delivery: str, run_id: str, now: datetime) -> dict[str, Any]:
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


def _record_lines(record: Record, path: Path) -> list[tuple[str, str]]:
    unreadable = f"; {record.count_unreadable} unreadable lines ignored" if record.count_unreadable else ""
    return [("file", f"{path}, {len(record.written)} events known{unreadable}")]


# ---------------------------------------------------------------------------------------------------------------------
# Text


def mask(text: object) -> str:
    """Return ``text`` with what may name or reach a person replaced: mail addresses, IBANs, numbers of nine digits."""
    return _PERSONAL.sub(_MASK, str(text))


@dataclass(frozen=True, slots=True)
class _Names:
    """How segments are shown."""

    is_hiding_segments: bool

    def segments(self, cell: Iterable[tuple[object, object]]) -> str:
        """Return the dimensions of a cell and their segments, escaped; dimensions that are null are left out."""
        return " and ".join(
            f"{_code(dimension)} is {self._segment(segment)}" for dimension, segment in cell if dimension is not None
        )

    def _segment(self, segment: object) -> str:
        if self.is_hiding_segments:
            return _code(f"segment {hashlib.sha256(str(segment).encode()).hexdigest()[:8]}")
        return _code(segment)


def _plain(text: object) -> str:
    """Return a name masked, cleaned, cut and escaped for Slack."""
    # no backtick: it would open or close code
    shown = clean_label(mask(text), NAME_CHARACTERS).replace("`", "\N{RIGHT SINGLE QUOTATION MARK}")
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _code(text: object) -> str:
    """Return a name as code: nothing in it is markup."""
    return f"`{_plain(text)}`"


def _number(value: float | None) -> str:
    if value is None or value != value:
        return "nothing"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _interval(lower: float | None, upper: float | None) -> str:
    if lower is None or upper is None or lower == upper:
        return ""
    return f" [{_number(lower)}, {_number(upper)}]"


def _as_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
