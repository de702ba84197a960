"""Events: the failing gates, drifting series and open findings of the last build, and those that are over."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from hcat.engine.warehouse import (
    CLOCK_SKEW,
    Place,
    Row,
    WarehouseError,
    candidate_database,
    find_database,
    open_warehouse,
    read_last_event,
)
from hcat.monitoring.alerts.naming import as_code, escape, escape_id, format_number, hide_segment, name_segments
from hcat.monitoring.decisions import DECISION_CHARACTERS, order_lines, read_decisions
from hcat.monitoring.words import repeat_reason

#: What an event is about: the last build, a release, a gate, a drifting series or a confirmed finding.
KINDS: Final = ("build", "decision", "gate", "drift", "finding")

_READS: Final = {
    "decisions": "fct_release_decisions",
    "gates": "fct_threshold_gates",
    "drift": "fct_metric_drift.leading_drift_id",
    "findings": "fct_findings.page_rank",
}

_LIST_GATES = """
select run_id, gate_name, measurement, metric_name, dimension, segment, severity, burden, comparison, verdict,
    threshold, measured_value, lower_bound, upper_bound, n, reason, is_passing, evaluated_at
from fct_threshold_gates
where build_number = (select max(build_number) from fct_threshold_gates)
order by is_passing, severity, gate_name
"""

_LIST_DRIFT = """
select metric_name, dimension, segment, window_end, difference, q_value, count_reference, count_window, is_drifting,
    leading_drift_id = metric_drift_id as is_leading
from fct_metric_drift
order by q_value nulls last, metric_name, dimension, segment, test, window_weeks
"""

_LIST_FINDINGS = """
select finding_id, metric_name, first_dimension, first_segment, second_dimension, second_segment, severity, status,
    measurement, difference, new_difference, kind
from fct_findings
where (kind = 'confirmed' or severity = 'severe') and (page_rank is not null or status <> 'open')
    and leading_finding_id = finding_id
order by kind, difference desc, finding_id
"""

_LAST_RUN: Final = """
select run_id, started_at, is_passing, count_gates > 0 and count_error_gates_not_passing = 0 as passes_gates
from dim_runs
order by build_number desc
limit 1
"""

#: Measurement of a finding -> what is worse in the cell than elsewhere; a share is said in points of a hundred.
_WORSE: Final = {
    "share_failing": "{points} more answers in a hundred fail",
    "share_failing_of_all": "{points} more answers in a hundred fail or are missing",
    "mean_score": "the mean is worse by {number}",
}


class Event(NamedTuple):
    """Something that somebody must know, or that is over."""

    kind: str
    key: str
    state: str
    is_active: bool
    group: str
    title: str
    lines: tuple[str, ...] = ()
    severity: str = "info"


def read_events(
    warehouse: Path | Place, *, maximum_age_hours: float | None, is_hiding_segments: bool, now: datetime
) -> tuple[list[Event], list[tuple[str, str]], str]:
    """Return the events of the last build, what was looked at, and that build; a copy that a failed one writes too."""
    path = candidate_database(warehouse)
    if not path.is_file():
        raise WarehouseError(f"no candidate copy at {path}: `dbt build` writes it, also when a gate fails")
    with open_warehouse(path) as source:
        gates = source.rows(_LIST_GATES, [_READS["gates"]])
        if not gates:
            raise WarehouseError(
                f"no evaluated gate in {path}: `dbt build` evaluates them, nothing can be said without"
            )
        decisions = read_decisions(source)
        drift = source.rows(_LIST_DRIFT, [_READS["drift"]])
        findings = source.rows(_LIST_FINDINGS, [_READS["findings"]])
        missing = source.lacks(*_READS.values())
    run_id, evaluated_at = str(gates[0]["run_id"]), as_utc(gates[0]["evaluated_at"])
    fate = _find_fate(warehouse, path, run_id)
    events = [
        *_build_events(evaluated_at, fate, maximum_age_hours, now),
        *(_decision_event(row, is_hiding_segments) for row in decisions),
        *(_gate_event(row, is_hiding_segments) for row in gates),
        *_drift_events(drift, is_hiding_segments),
        *_finding_events(findings, is_hiding_segments),
    ]
    active = {kind: sum(event.is_active for event in events if event.kind == kind) for kind in KINDS}
    ends = [row["window_end"] for row in drift if row["window_end"]]
    period = f" up to {max(ends)}" if ends else ""
    count_series = len({(row["metric_name"], row["dimension"], row["segment"]) for row in drift})
    said = {
        "decisions": f"{len(decisions)} applications: {active['decision']} may not go live as they are",
        "gates": f"{len(gates)} of build {run_id}, {evaluated_at:%Y-%m-%d %H:%M} UTC: {active['gate']} do not pass",
        "drift": f"{count_series} series{period}: {active['drift']} drift",
        "findings": f"{len(findings)} confirmed or severe: {active['finding']} open and not taken up",
    }
    lines = [
        ("copy", str(path)),
        ("last build", fate[1] if fate else "not looked at: the warehouse is not here, or is being written"),
    ]
    for kind, text in said.items():
        absent = f"not looked at: the copy has no {_READS[kind]}"
        lines.append((kind, absent if _READS[kind] in missing else text))
    return events, lines, run_id


def _find_fate(warehouse: Path | Place, published: Path, shown: str) -> tuple[str, str] | None:
    """Return what became of the last build, as a state and a line; a copy knows only the build ``shown``."""
    if isinstance(warehouse, Place) and not warehouse.is_local:
        return None
    try:
        if published.parent in find_database(warehouse).parents:
            return None
        with open_warehouse(warehouse) as source:
            event, runs = read_last_event(source), source.rows(_LAST_RUN, ["dim_runs"])
    except WarehouseError:
        return None
    if event is not None and event["event"] == "started":
        return "killed", f"The last build was killed; it started {event['logged_at']:%Y-%m-%d %H:%M} UTC"
    for run in runs:
        started = f"{run['started_at']:%Y-%m-%d %H:%M} UTC"
        if run["run_id"] != shown or run["passes_gates"] > run["is_passing"]:
            return "unpublished", f"The last build, of {started}, did not publish its tables"
        return "published", f"The last build, of {started}, ended, and the copy has its gates"
    return None


def _build_events(
    evaluated_at: datetime, fate: tuple[str, str] | None, maximum_age_hours: float | None, now: datetime
) -> Iterator[Event]:
    """Yield whether the last build is too old, dated in the future, or published nothing: none of it fails a gate."""
    found = []
    since = f"{evaluated_at:%Y-%m-%d %H:%M} UTC"
    if maximum_age_hours is not None:
        is_old = now - evaluated_at > timedelta(hours=maximum_age_hours)
        title = f"No build since {since}" if is_old else f"Builds run again: the last one started {since}"
        fact = f"A build is due every {maximum_age_hours:g} hours; its log says what stopped it."
        found.append(("last", "stale" if is_old else "fresh", is_old, title, fact))
    # without it nobody would hear of the end of builds until that day
    is_ahead = evaluated_at - now > CLOCK_SKEW
    title = f"The last build {'is dated in the future' if is_ahead else 'has a right date'}: {since}"
    fact = f"Now is {now:%Y-%m-%d %H:%M} UTC: the clock of that build, or of this machine, is wrong."
    found.append(("clock", "ahead" if is_ahead else "right", is_ahead, title, fact))
    if fate is not None:
        fact = "The published copy is of an earlier build. Run the build again; its log says what stopped it."
        found.append(("published", fate[0], fate[0] != "published", fate[1], fact))
    for subject, state, is_active, title, fact in found:
        yield Event(
            kind="build",
            key=hash_subject("build", subject),
            state=state,
            is_active=is_active,
            group=f"build {subject}",
            title=title,
            lines=(fact,) if is_active else (),
            severity="error" if is_active else "info",
        )


def _decision_event(row: Row, is_hiding_segments: bool) -> Event:
    """Return the release decision of one application: the lines that report and summary show."""
    # the reason of a gate may name a segment
    shown = row | {"reason": None, "worst_topic": None} if is_hiding_segments else row
    headline, *lines = (escape(line, DECISION_CHARACTERS) for line in order_lines(shown))
    is_active = row["decision"] != "go"
    return Event(
        kind="decision",
        key=hash_subject("decision", row["application"]),
        state=f"{row['decision']} {escape(row['candidate'])}",
        is_active=is_active,
        group=hash_subject("decision", row["application"]),
        title=headline,
        lines=tuple(lines),
        severity="error" if row["decision"] == "do_not_release" else "warn" if is_active else "info",
    )


def _gate_event(row: Row, is_hiding_segments: bool) -> Event:
    """Return the event of one gate of the last build."""
    key = hash_subject("gate", row["gate_name"])
    gate, verdict, severity = escape(row["gate_name"]), str(row["verdict"]), str(row["severity"])
    is_active = not row["is_passing"]
    said = escape(row["reason"], DECISION_CHARACTERS)
    if is_hiding_segments:
        # the sentence of the gate names segments
        is_named = row["segment"] not in (None, "all") and row["dimension"] != "population"
        shown = row | ({"segment": hide_segment(row["segment"])} if is_named else {})
        said = repeat_reason(said, shown, as_code)
    return Event(
        kind="gate",
        key=key,
        state=f"{verdict} ({severity})",
        is_active=is_active,
        group=key,
        title=f"Gate {gate}: {verdict} ({severity})" if is_active else f"Gate {gate} passes again ({severity})",
        lines=(said,),
        severity=severity,
    )


def _drift_events(rows: Sequence[Row], is_hiding_segments: bool) -> Iterator[Event]:
    """Yield one event per series that leads its weeks, the most certain first; all windows make up its state."""
    series: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        series.setdefault((row["metric_name"], row["dimension"], row["segment"]), []).append(row)
    for (metric, dimension, segment), tests in series.items():
        # in the order of their q values
        drifting = [row for row in tests if row["is_drifting"]]
        if drifting and not any(row["is_leading"] for row in drifting):
            continue
        until = max((row["window_end"] for row in drifting or tests if row["window_end"]), default=None)
        cell = [(dimension, segment)]
        where = name_segments(cell, is_hiding_segments) if segment != "all" else as_code(dimension)
        what = f"{as_code(metric)} of {where}" if metric else f"the mix of {where}"
        moved = drifting[0]["difference"] if drifting else None
        way = "" if not moved else " up" if moved > 0 else " down"
        facts = []
        if drifting:
            now, before = (format_number(drifting[0][name]) for name in ("count_window", "count_reference"))
            verb = "moved" if not moved else f"{'rose' if moved > 0 else 'fell'} by {format_number(abs(moved))}"
            facts = [f"{verb}, more than the weeks of the reference differ ({now} interactions against {before})"]
        yield Event(
            kind="drift",
            key=hash_subject("drift", metric, dimension, segment),
            state=f"drifting{way}" if drifting else "not drifting",
            is_active=bool(drifting),
            group=f"drift {until} {bool(drifting)}",
            title=f"Drift up to {until}" if drifting else f"No drift any more up to {until}",
            lines=(what + (": " if facts else "") + ", ".join(facts),),
            severity="warn",
        )


def _finding_events(rows: Sequence[Row], is_hiding_segments: bool) -> Iterator[Event]:
    """Yield open findings, and those that the data closed; what somebody has taken up needs no alert."""
    for row in rows:
        if row["status"] not in ("open", "closed_by_data"):
            continue
        key = hash_subject("finding", row["finding_id"])
        is_active = row["status"] == "open"
        severity = escape(row["severity"]) if row["severity"] else "info"
        cell = [(row["first_dimension"], row["first_segment"]), (row["second_dimension"], row["second_segment"])]
        metric = escape(row["metric_name"])
        is_confirmed = row["kind"] == "confirmed"
        difference = row["new_difference"] if is_confirmed else row["difference"]
        words = _WORSE[row["measurement"]]
        worse = words.replace("{points}", f"{100 * difference:.3g}").replace("{number}", format_number(difference))
        proof = "on clusters newer than the finding" if is_confirmed else "suspected, not yet confirmed on new clusters"
        title = f"{'Confirmed' if is_confirmed else 'Suspected'} weakness in {metric} ({severity})"
        said = f": {worse} than elsewhere; {proof}"
        fact = f"{as_code(row['metric_name'])} where {name_segments(cell, is_hiding_segments)}"
        identifier = f"finding {escape_id(row['finding_id'])}"
        yield Event(
            kind="finding",
            key=key,
            state=f"{row['status']} ({severity})",
            is_active=is_active,
            # suspected ones share a message: a build can bring many
            group=key if is_confirmed else f"suspected findings {is_active}",
            title=title if is_active else f"Weakness in {metric} closed by the data",
            lines=(f"{fact}{said if is_active else ''} ({identifier})",),
            severity=severity,
        )


def hash_subject(kind: str, *subject: object) -> str:
    """Return the key of an event: a hash, so that names from logs are not in the file."""
    parts = json.dumps([kind, *(None if part is None else str(part) for part in subject)])
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


def as_utc(moment: datetime) -> datetime:
    """Return a time in UTC; one without a time zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
