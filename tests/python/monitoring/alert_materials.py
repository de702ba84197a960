"""Made gates, drift and findings, a webhook that fails by a script, and calls of the alerts."""

import json
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from loopback import Loopback, Reply
from marts import BUILT_AT, create_marts, gate, insert

from hcat import cli
from hcat.monitoring.alerts.delivery import Patience
from hcat.monitoring.alerts.sending import Alerted, send_alerts

SECRET = "T0123/B0456/this-token-is-a-secret"


#: What the fixture `hcat` is.
Hcat = Callable[..., str]
#: Tries often and waits for nothing.
QUICK = Patience(attempts=4, first_seconds=0.001, longest_seconds=0.01, total_seconds=20)


def passing(**changes: Any) -> dict[str, Any]:
    return gate(**{"verdict": "passed", "is_passing": True, "measured_value": 0.9} | changes)


def publish(
    warehouse: Path,
    gates: list[dict[str, Any]],
    drifts: list[dict[str, Any]] | None = None,
    findings: list[dict[str, Any]] | None = None,
    decisions: list[dict[str, Any]] | None = None,
) -> Path:
    """Write a small copy of the last build; None leaves a table out."""
    database = warehouse / "published" / "candidate" / "hcat.duckdb"
    database.parent.mkdir(parents=True, exist_ok=True)
    database.unlink(missing_ok=True)
    with duckdb.connect(str(database)) as connection:
        for table, rows in (
            ("fct_threshold_gates", gates),
            ("fct_metric_drift", drifts),
            ("fct_findings", findings),
            ("fct_release_decisions", decisions),
        ):
            if rows is not None:
                create_marts(connection, table)
                insert(connection, table, rows)
    return warehouse


class Server(Loopback):
    """A webhook: it answers as its script says, then accepts."""

    def __init__(self) -> None:
        self.script: list[Any] = []
        self.received: list[dict[str, Any]] = []
        super().__init__(self.play)

    def play(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        step = self.script.pop(0) if self.script else 200
        status, more = step if isinstance(step, tuple) else (0 if step == "reset" else step, {})
        if status == 200:
            self.received.append(json.loads(body))
        return status, more, f"{status} for {path}".encode()

    @property
    def count_posts(self) -> int:
        return len(self.requests)

    def address(self) -> str:
        return f"{self.url}/services/{SECRET}"

    def titles(self) -> list[str]:
        return [payload["text"].splitlines()[0] for payload in self.received]


def send(warehouse: Path, **settings: Any) -> Alerted:
    return send_alerts(warehouse, **{"patience": QUICK, "now": BUILT_AT + timedelta(hours=1)} | settings)


def lines_of(warehouse: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (warehouse / "alerts.jsonl").read_text(encoding="utf-8").splitlines()]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["hcat", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return int(stopped.value.code or 0)
