"""Run a collection: plan the interactions, send those without an answer, write the raw logs."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hcat.collection import journal as journals
from hcat.collection.endpoint import Endpoint, fill
from hcat.collection.journal import ANSWERED, FAILED, FAILURES, INTERACTIONS, RETRIEVALS, Journal
from hcat.collection.queries import Query
from hcat.collection.sending import Answered, Failed, Planned, Sender
from hcat.engine.http import Redactor
from hcat.engine.keys import hash_text
from hcat.engine.saying import Progress

MAXIMUM_SAMPLES: Final = 1000
#: Columns of a retrieval in which a secret may stand.
_TEXTS: Final = ("chunk_id", "text")


@dataclass(frozen=True, slots=True)
class Collected:
    """Result of :func:`collect`."""

    folder: Path
    count_planned: int
    count_known: int
    count_answered: int
    count_failed: int
    #: failures that are a reply of the application
    count_empty: int
    count_unsent: int
    count_requests: int
    is_torn: bool
    rows: dict[str, int]

    @property
    def is_complete(self) -> bool:
        """Whether every interaction of the plan is answered."""
        return self.count_known + self.count_answered == self.count_planned

    def describe(self) -> list[tuple[str, str]]:
        """Return a summary as pairs of label and text."""
        done = self.count_known + self.count_answered
        before = f", {self.count_known:,} of them before this run" if self.count_known else ""
        missing = f"{self.count_failed - self.count_empty:,} without a reply of the application are missing"
        failed = f"{self.count_empty:,} replies count as empty answers, {missing}: see {self.folder / FAILURES}"
        again = "run it again: what is answered is not asked again"
        lines = [
            (True, "answered", f"{done:,} of {self.count_planned:,}{before}"),
            (self.count_failed, "failed", failed),
            (
                self.count_unsent,
                "not sent",
                f"{self.count_unsent:,}: too many failed in a row (limits.stop_after_failures)",
            ),
            (True, "requests", f"{self.count_requests:,}"),
            (self.is_torn, "dropped", "a line of the journal that a killed run could not finish"),
            (True, "interactions", f"{self.rows[INTERACTIONS]:,} in {self.folder / INTERACTIONS}"),
            (True, "retrievals", f"{self.rows[RETRIEVALS]:,} in {self.folder / RETRIEVALS}"),
            (True, "next", f"HCAT_RAW_LOGS={self.folder} dbt build" if self.is_complete else again),
        ]
        return [(label, text) for is_said, label, text in lines if is_said]


def identify(query_id: str, application: str, application_version: str, sample_index: int) -> str:
    """Return the interaction_id, which depends on query, application, version and sample only."""
    key = json.dumps([query_id, application, application_version, sample_index], ensure_ascii=False)
    return hash_text("interaction", key)


def plan(endpoint: Endpoint, queries: Sequence[Query], samples: int) -> list[Planned]:
    """Return the interactions of a test set, ordered by sample and then as in the test set."""
    if not 1 <= samples <= MAXIMUM_SAMPLES:
        raise ValueError(f"samples must lie in 1 to {MAXIMUM_SAMPLES}, got {samples}")
    return [
        Planned(
            identify(query.query_id, endpoint.application, endpoint.application_version, sample_index),
            query,
            sample_index,
            hash_text(query.text),
        )
        for sample_index in range(samples)
        for query in queries
    ]


def collect(
    endpoint: Endpoint, queries: Sequence[Query], folder: Path, *, samples: int = 1, sender: Sender | None = None
) -> Collected:
    """Return the summary of a run that sends all queries without an answer and writes the raw logs of a folder."""
    planned = plan(endpoint, queries, samples)
    sender = sender or Sender(endpoint)
    redactor = Redactor(endpoint.secrets, endpoint.hidden)
    with journals.open_journal(folder) as journal:
        pending = find_pending(endpoint, planned, journal)
        progress = Progress("interactions collected", len(pending))
        counts: Counter[str] = Counter()

        async def keep(done: Answered | Failed) -> None:
            record = _make_record(endpoint, done, redactor)
            journal.append(record)
            # in a thread, so that other queries continue while the disk writes
            await asyncio.to_thread(journal.sync)
            counts[record["status"]] += 1
            counts["written"] += "interaction" in record
            progress.advance(1)

        try:
            asyncio.run(sender.send(pending, keep))
        finally:
            # also after Ctrl-C, so that finished interactions are not lost
            rows = journals.write_files(journal)
    progress.finish()
    return Collected(
        folder=folder,
        count_planned=len(planned),
        count_known=len(planned) - len(pending),
        count_answered=counts[ANSWERED],
        count_failed=counts[FAILED],
        count_empty=counts["written"] - counts[ANSWERED],
        count_unsent=len(pending) - counts[ANSWERED] - counts[FAILED],
        count_requests=sender.count_requests,
        is_torn=journal.is_torn,
        rows=rows,
    )


def find_pending(endpoint: Endpoint, planned: Sequence[Planned], journal: Journal) -> list[Planned]:
    """Return the planned interactions without an answer; failures of earlier runs are sent again."""
    version = (endpoint.application, endpoint.application_version)
    for record in journal.records.values():
        is_of_version = (record["application"], record["application_version"]) == version
        if is_of_version and record["status"] == ANSWERED and record["endpoint_hash"] != endpoint.endpoint_hash:
            raise ValueError(
                f"{journal.path} holds answers of {' '.join(version)} that were asked or read in another way: "
                "name another --output or another application_version"
            )
    pending: list[Planned] = []
    for item in planned:
        known = journal.records.get(item.interaction_id)
        if known is None or known["status"] != ANSWERED:
            pending.append(item)
        elif known["query_hash"] != item.query_hash:
            raise ValueError(
                f"query {item.query.query_id!r} was answered with another text: "
                "name another query_id or another --output"
            )
    return pending


def describe_first_request(
    endpoint: Endpoint, queries: Sequence[Query], folder: Path, samples: int = 1
) -> list[tuple[str, str]]:
    """Return the first request as pairs of label and text, without sending or writing anything."""
    planned = plan(endpoint, queries, samples)
    journals.check_folder(folder)
    pending = find_pending(endpoint, planned, journals.read_journal(folder))
    counts = f"{len(queries):,} queries x {samples} samples, {len(planned) - len(pending):,} answered"
    lines = [("plan", f"{counts}, {len(pending):,} to send")]
    if not pending:
        return lines
    request, values = endpoint.request, pending[0].values(endpoint)
    lines.append(("request", f"{request.method} {request.url}"))
    # as JSON, so that a terminal does not obey control characters of a hostile query
    lines += [("parameter", f"{name}={json.dumps(fill(each, values))}") for name, each in request.parameters.items()]
    lines += [("header", f"{name}: {fill(template, values)}") for name, template in request.headers.items()]
    if request.body is not None:
        lines.append(("body", json.dumps(fill(request.body, values), indent=2)))
    return lines


def _make_record(endpoint: Endpoint, done: Answered | Failed, redactor: Redactor) -> dict[str, Any]:
    """Return the line of the journal: the keys that a later run needs, and the rows of the raw contract."""
    item = done.item
    keys = item.values(endpoint)
    text = keys.pop("query")
    record: dict[str, Any] = keys | {
        "query_hash": item.query_hash,
        "endpoint_hash": endpoint.endpoint_hash,
        "attempts": done.attempts,
    }
    interaction = keys | dict(item.query.carried)
    interaction |= {"run_id": f"{endpoint.application}_{endpoint.application_version}", "query_text": text}
    if isinstance(done, Failed):
        failure = {"failure": done.failure, "reason": done.reason, "status": done.status, "attempts": done.attempts}
        failed_at = _format(done.failed_at)
        record |= {"status": FAILED, "failure": keys | failure | {"failed_at": failed_at}}
        if done.is_reply:
            # left out, the queries that an application cannot answer would make it look better
            interaction |= {"answer": "", "asked_at": failed_at, "tags": {"failed_with": done.failure}}
            record |= {"interaction": interaction, "retrievals": []}
        return record
    interaction |= {"answer": redactor.value(done.reply.answer), "asked_at": _format(done.asked_at)}
    if done.reply.is_refused:
        interaction["tags"] = {"refused_by_service": "true"}
    retrievals = [
        {"interaction_id": item.interaction_id, **each, **{name: redactor.value(each[name]) for name in _TEXTS}}
        for each in done.reply.retrievals
    ]
    if done.reply.is_retrieval_reported:
        interaction["count_retrieved"] = len(retrievals)
    return record | {
        "status": ANSWERED,
        "seconds": round(done.seconds, 3),
        "interaction": interaction,
        "retrievals": retrievals,
    }


def _format(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
