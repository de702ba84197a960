"""Alerts: what is told, to whom, how often, and what never leaves; against a real server that fails first."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcat import cli
from hcat.monitoring import alerts
from hcat.report import WarehouseError

SECRET = "T0123/B0456/this-token-is-a-secret"
BUILT_AT = datetime(2026, 11, 20, 2, 30, tzinfo=UTC)
#: Tries often and waits for nothing.
QUICK = alerts.Patience(attempts=4, first_seconds=0.001, longest_seconds=0.01, total_seconds=20)

GATES = """
create or replace table fct_threshold_gates (
    gate_result_id varchar, run_id varchar, gate_name varchar, measurement varchar, metric_name varchar,
    dimension varchar, segment varchar, severity varchar, burden varchar, comparison varchar, verdict varchar,
    reason varchar, expectation_results varchar, rationale varchar, threshold double, measured_value double,
    lower_bound double, upper_bound double, n bigint, minimum_n bigint, is_passing boolean, evaluated_at timestamp
)
"""
DRIFT = """
create or replace table fct_metric_drift (
    metric_drift_id varchar, metric_name varchar, dimension varchar, segment varchar, test varchar, status varchar,
    detail varchar, window_weeks bigint, count_reference bigint, count_window bigint, difference double,
    q_value double, is_drifting boolean, window_start date, window_end date
)
"""
FINDINGS = """
create or replace table fct_findings (
    finding_id varchar, kind varchar, metric_name varchar, first_dimension varchar, first_segment varchar,
    second_dimension varchar, second_segment varchar, first_seen_run varchar, first_seen_at timestamp,
    last_seen_run varchar, last_seen_at timestamp, status varchar, owner varchar, severity varchar,
    measurement varchar, difference double, confirmed_difference double
)
"""


def gate(**changes: Any) -> dict[str, Any]:
    """Return a gate that fails, changed."""
    return {
        "gate_result_id": "id",
        "run_id": "run_1",
        "gate_name": "groundedness_release",
        "measurement": "share_passing",
        "metric_name": "groundedness",
        "dimension": "all",
        "segment": "all",
        "severity": "error",
        "burden": "prove_safe",
        "comparison": "at_least",
        "verdict": "failed",
        "reason": "some reason",
        "expectation_results": "[]",
        "rationale": "some rationale",
        "threshold": 0.8,
        "measured_value": 0.75,
        "lower_bound": 0.7,
        "upper_bound": 0.8,
        "n": 1234,
        "minimum_n": 100,
        "is_passing": False,
        "evaluated_at": BUILT_AT.replace(tzinfo=None),
    } | changes


def passing(**changes: Any) -> dict[str, Any]:
    """Return a gate that passes, changed."""
    return gate(**{"verdict": "passed", "is_passing": True, "measured_value": 0.9} | changes)


def drift(**changes: Any) -> dict[str, Any]:
    """Return a row of drift, changed."""
    return {
        "metric_drift_id": "id",
        "metric_name": "support_words",
        "dimension": "topic",
        "segment": "cards",
        "window_end": "2026-11-15",
        "window_weeks": 1,
        "test": "mean_shift",
        "status": "tested",
        "difference": -0.125,
        "q_value": 0.001,
        "count_reference": 800,
        "count_window": 90,
        "is_drifting": True,
    } | changes


def finding(**changes: Any) -> dict[str, Any]:
    """Return an open finding, changed."""
    return {
        "finding_id": "f00d",
        "kind": "confirmed",
        "metric_name": "support_words",
        "first_dimension": "topic",
        "first_segment": "mortgages",
        "second_dimension": "system",
        "second_segment": "assistant 2",
        "status": "open",
        "owner": "Jane Private",
        "severity": "high",
        "measurement": "share_failing",
        "difference": 0.5,
        "confirmed_difference": 0.25,
    } | changes


def publish(
    warehouse: Path,
    gates: list[dict[str, Any]],
    drifts: list[dict[str, Any]] | None = None,
    findings: list[dict[str, Any]] | None = None,
) -> Path:
    """Write a small published copy; None leaves a table out."""
    (warehouse / "published").mkdir(parents=True, exist_ok=True)
    database = warehouse / "published" / "hcat.duckdb"
    database.unlink(missing_ok=True)
    with duckdb.connect(str(database)) as connection:
        for statement, table, rows in (
            (GATES, "fct_threshold_gates", gates),
            (DRIFT, "fct_metric_drift", drifts),
            (FINDINGS, "fct_findings", findings),
        ):
            if rows is None:
                continue
            connection.execute(statement)
            for row in rows:
                names, marks = ", ".join(row), ", ".join("?" * len(row))
                connection.execute(f"insert into {table} ({names}) values ({marks})", list(row.values()))
    return warehouse


@dataclass
class Server:
    """A webhook on loopback: it answers as its script says, then accepts."""

    script: list[Any] = field(default_factory=list)
    received: list[dict[str, Any]] = field(default_factory=list)
    count_posts: int = 0
    paths: set[str] = field(default_factory=set)
    port: int = 0

    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/services/{SECRET}"

    def titles(self) -> list[str]:
        return [payload["text"].splitlines()[0] for payload in self.received]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Webhook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.count_posts += 1
            state.paths.add(self.path)
            step = state.script.pop(0) if state.script else 200
            if step == "reset":
                # no orderly end: the client sees "connection reset by peer"
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
                return
            status, headers = step if isinstance(step, tuple) else (step, {})
            if status == 200:
                state.received.append(json.loads(body))
            answer = f"{status} for {self.path}".encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *arguments: object) -> None:
            del format, arguments

        def finish(self) -> None:
            # the socket may have been closed on purpose
            with contextlib.suppress(OSError, ValueError):
                super().finish()

    with ThreadingHTTPServer(("127.0.0.1", 0), Webhook) as running:
        state.port = running.server_address[1]
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(alerts.WEBHOOK_VARIABLE, state.address())
        yield state
        running.shutdown()
        thread.join()


def send(warehouse: Path, **settings: Any) -> alerts.Alerted:
    return alerts.send_alerts(warehouse, **{"patience": QUICK, "now": BUILT_AT + timedelta(hours=1)} | settings)


def lines_of(warehouse: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (warehouse / "alerts.jsonl").read_text(encoding="utf-8").splitlines()]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the program and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["hcat", *arguments])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return int(stopped.value.code or 0)


# ---------------------------------------------------------------------------------------------------------------------
# Delivery


def test_a_failing_webhook_is_tried_until_it_accepts(tmp_path: Path, server: Server) -> None:
    server.script = [500, (429, {"Retry-After": "1"}), "reset"]
    publish(tmp_path, [gate(), passing(gate_name="other")], [], [])
    alerted = send(tmp_path)
    assert alerted.count_undelivered == 0
    assert server.count_posts == 4
    assert server.paths == {f"/services/{SECRET}"}
    assert server.titles() == ["Gate groundedness_release: failed (error)"]
    assert dict(alerted.lines)["alerts"] == "1 due, 1 delivered"
    (line,) = lines_of(tmp_path)
    assert (line["delivery"], line["kind"], line["severity"], line["run_id"]) == ("webhook", "gate", "error", "run_1")
    assert line["message"] == server.received[0]


def test_waits_double_and_the_server_makes_them_longer(server: Server) -> None:
    server.script = [503, (429, {"Retry-After": "7"}), "reset", (500, {"Retry-After": "1"}), 502]
    waited: list[float] = []
    patience = alerts.Patience(attempts=6, first_seconds=1.0, longest_seconds=8.0, total_seconds=1000)
    with httpx.Client() as client:
        delivery = alerts.post(client, server.address(), {"text": "a"}, patience, sleep=waited.append)
    assert waited == [1.0, 7.0, 4.0, 8.0, 8.0]
    assert (delivery.is_accepted, delivery.count_attempts) == (True, 6)
    assert server.received == [{"text": "a"}]


def test_what_cannot_be_delivered_stays_due_and_is_in_the_file_once(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate(), gate(gate_name="second", severity="warn")], [], [])
    server.script = [500] * 8
    first, second = send(tmp_path), send(tmp_path)
    # a webhook that is down is not tried for the second message
    assert server.count_posts == 8
    assert first.count_undelivered == second.count_undelivered == 2
    said = dict(first.lines)
    assert said["alerts"] == "2 due, 0 delivered; 2 stay due"
    assert said["not delivered"] == (
        "Gate groundedness_release: failed (error): the webhook answered 500 (attempt 4 of 4, at most 20 s)"
    )
    assert said["not tried"] == "Gate second: failed (warn)"
    assert [line["delivery"] for line in lines_of(tmp_path)] == ["undelivered", "undelivered"]
    assert send(tmp_path).count_undelivered == 0
    assert server.titles() == ["Gate groundedness_release: failed (error)", "Gate second: failed (warn)"]
    assert [line["delivery"] for line in lines_of(tmp_path)][2:] == ["webhook", "webhook"]
    assert send(tmp_path).messages == ()


def test_a_server_that_asks_for_more_patience_than_there_is(server: Server) -> None:
    server.script = [(429, {"Retry-After": "3600"})]
    waited: list[float] = []
    with httpx.Client() as client:
        delivery = alerts.post(client, server.address(), {}, alerts.Patience(), sleep=waited.append)
    assert waited == []
    assert not delivery.is_accepted
    assert not delivery.is_final
    assert delivery.reason == ("the webhook answered 429, which asks to wait 3600 s (attempt 1 of 6, at most 120 s)")


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (404, "the webhook answered 404"),
        (400, "the webhook answered 400"),
        ((302, {"Location": "/elsewhere"}), "the webhook answered 302: redirects are not followed"),
    ],
)
def test_a_refusal_is_final_and_does_not_stop_the_others(
    step: Any, reason: str, tmp_path: Path, server: Server
) -> None:
    publish(tmp_path, [gate(), gate(gate_name="second", severity="warn")])
    server.script = [step]
    alerted = send(tmp_path)
    assert server.count_posts == 2
    assert server.paths == {f"/services/{SECRET}"}
    assert server.titles() == ["Gate second: failed (warn)"]
    assert dict(alerted.lines)["not delivered"] == f"Gate groundedness_release: failed (error): {reason}"
    assert alerted.count_undelivered == 1


def test_a_server_that_is_not_there(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv(alerts.WEBHOOK_VARIABLE, f"http://127.0.0.1:{taken.getsockname()[1]}/{SECRET}")
        publish(tmp_path, [gate()])
        alerted = send(tmp_path)
    assert "no connection to the webhook (ConnectError)" in dict(alerted.lines)["not delivered"]
    assert server.count_posts == 0


# ---------------------------------------------------------------------------------------------------------------------
# The secret


@pytest.mark.parametrize("script", [[], [500] * 9, [404], ["reset"] * 9, [(302, {"Location": "/services/" + SECRET})]])
def test_the_address_is_nowhere(
    script: list[Any],
    tmp_path: Path,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    publish(tmp_path, [gate()], [drift()], [finding()])
    server.script = list(script)
    monkeypatch.setattr(alerts.Patience, "__init__", lambda self: None)
    for name in ("attempts", "first_seconds", "longest_seconds", "total_seconds"):
        monkeypatch.setattr(alerts.Patience, name, getattr(QUICK, name))
    was_disabled = logging.getLogger("httpx").disabled
    with caplog.at_level(logging.DEBUG):
        for name in ("httpx", "httpcore", "httpcore.http11", "httpcore.connection"):
            caplog.set_level(logging.DEBUG, logger=name)
        run(monkeypatch, "alert", "--warehouse", str(tmp_path), "--dry-run")
        code = run(monkeypatch, "alert", "--warehouse", str(tmp_path))
    assert server.count_posts > 0
    assert code == (1 if script else 0)
    shown = capsys.readouterr()
    written = "".join(path.read_text(errors="replace") for path in tmp_path.glob("*") if path.is_file())
    for text in (shown.out, shown.err, caplog.text, written):
        assert "secret" not in text
        assert "T0123" not in text
        assert str(server.port) not in text
    assert logging.getLogger("httpx").disabled == was_disabled


@pytest.mark.parametrize(
    "address",
    [
        f"http://hooks.example.com/{SECRET}",
        f"ftp://hooks.example.com/{SECRET}",
        f"https:///{SECRET}",
        SECRET,
        f"https://hooks.example.com:secret/{SECRET}",
        f"https://[secret/{SECRET}",
        f"https://hooks.example.com/{SECRET}\nX-Header: 1",
    ],
)
def test_an_unusable_address_is_not_repeated(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(tmp_path, [gate()])
    monkeypatch.setenv(alerts.WEBHOOK_VARIABLE, address)
    assert run(monkeypatch, "alert", "--warehouse", str(tmp_path)) == 2
    error = capsys.readouterr().err
    assert error == (
        "hcat: HCAT_ALERT_WEBHOOK must be an https address (http on this machine only), "
        "got something else (not shown)\n"
    )
    with pytest.raises(ValueError, match="not shown") as caught:
        alerts.read_webhook({alerts.WEBHOOK_VARIABLE: address})
    # nor on the way: a debugger and an error collector follow the chain
    assert caught.value.__context__ is None


def test_an_address_from_a_file_with_a_line_end_is_usable() -> None:
    assert alerts.read_webhook({alerts.WEBHOOK_VARIABLE: " https://hooks.example.com/x\n"}) == (
        "https://hooks.example.com/x"
    )
    assert alerts.read_webhook({alerts.WEBHOOK_VARIABLE: "  "}) is None
    assert alerts.read_webhook({}) is None


def test_a_proxy_password_is_not_shown(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path, [gate()])
    monkeypatch.setenv("ALL_PROXY", "gopher://user:proxy-password@proxy.example.com:70")
    with pytest.raises(ValueError, match="proxy and certificates in the environment must be usable") as caught:
        send(tmp_path)
    assert "password" not in str(caught.value)
    assert caught.value.__context__ is None
    assert server.count_posts == 0


# ---------------------------------------------------------------------------------------------------------------------
# Once


def test_an_event_is_told_once_until_it_changes(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate(), passing(gate_name="fine")], [], [finding()])
    send(tmp_path)
    assert server.titles() == [
        "Gate groundedness_release: failed (error)",
        "Confirmed weakness in support_words (high)",
    ]
    server.received.clear()

    # another build with the same verdicts
    publish(tmp_path, [gate(run_id="run_2"), passing(run_id="run_2", gate_name="fine")], [], [finding()])
    assert send(tmp_path).messages == ()
    assert server.received == []

    # another verdict, and the finding was taken up
    publish(tmp_path, [gate(verdict="undecided")], [], [finding(status="accepted")])
    send(tmp_path, now=BUILT_AT + timedelta(days=1))
    assert server.titles() == ["Gate groundedness_release: undecided (error)"]
    assert "before: failed (error), 2026-11-20 03:30 UTC" in server.received[0]["text"]
    server.received.clear()

    # over: told once, and only of what was told
    publish(tmp_path, [passing(), passing(gate_name="fine")], [], [finding(status="closed_by_data")])
    send(tmp_path)
    send(tmp_path)
    assert server.titles() == [
        "Gate groundedness_release passes again (error)",
        "Weakness in support_words closed by the data",
    ]
    server.received.clear()

    # and again
    publish(tmp_path, [gate(verdict="undecided")], [], [finding()])
    send(tmp_path)
    assert server.titles() == [
        "Gate groundedness_release: undecided (error)",
        "Confirmed weakness in support_words (high)",
    ]


def test_silence_is_broken_after_the_reminder_days(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate()], [drift()], [])
    send(tmp_path, now=BUILT_AT)
    assert len(server.received) == 2
    # the next week drifts too: nothing new
    publish(tmp_path, [gate()], [drift(window_end="2026-11-22")], [])
    assert send(tmp_path, now=BUILT_AT + timedelta(days=6, hours=23)).messages == ()
    server.received.clear()
    send(tmp_path, now=BUILT_AT + timedelta(days=7))
    assert server.titles() == ["Gate groundedness_release: failed (error)", "Drift up to 2026-11-22"]
    assert "unchanged since 2026-11-20 02:30 UTC" in server.received[0]["text"]
    assert send(tmp_path, now=BUILT_AT + timedelta(days=8)).messages == ()
    assert len(send(tmp_path, now=BUILT_AT + timedelta(days=8), reminder_days=0.5).messages) == 2


def test_without_a_webhook_the_file_is_the_channel(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(alerts.WEBHOOK_VARIABLE)
    publish(tmp_path, [gate()])
    alerted = send(tmp_path)
    assert dict(alerted.lines)["alerts"] == "1 due, written to the file alone: HCAT_ALERT_WEBHOOK is not set"
    assert [line["delivery"] for line in lines_of(tmp_path)] == ["file"]
    assert send(tmp_path).messages == ()
    # whoever sets a webhook later is told what is still the case
    monkeypatch.setenv(alerts.WEBHOOK_VARIABLE, server.address())
    send(tmp_path)
    assert server.titles() == ["Gate groundedness_release: failed (error)"]
    assert send(tmp_path).messages == ()


def test_a_kill_between_post_and_record_tells_twice_and_loses_nothing(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate()])
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from hcat.monitoring import alerts\n"
        "alerts._append = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)\n"
        "alerts.send_alerts(Path(sys.argv[1]))\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert len(server.received) == 1
    assert lines_of(tmp_path) == []
    send(tmp_path)
    assert server.titles() == ["Gate groundedness_release: failed (error)"] * 2
    assert len(lines_of(tmp_path)) == 1
    assert send(tmp_path).messages == ()


def test_a_line_cut_off_by_a_kill_harms_no_other(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate(), gate(gate_name="second")])
    send(tmp_path)
    whole = (tmp_path / "alerts.jsonl").read_bytes()
    (tmp_path / "alerts.jsonl").write_bytes(whole[:-40])
    server.received.clear()
    alerted = send(tmp_path)
    assert server.titles() == ["Gate second: failed (error)"]
    assert dict(alerted.lines)["file"].endswith("1 events known; 1 unreadable lines ignored")
    assert json.loads((tmp_path / "alerts.jsonl").read_bytes().splitlines()[-1])["delivery"] == "webhook"
    assert send(tmp_path).messages == ()


@pytest.mark.parametrize("line", [b"[]", b"1", b"{}", b"\xff\xfe", b'{"sent_at": 3}', b'{"sent_at": "2026-11-20"}'])
def test_lines_of_another_kind_are_counted_and_ignored(line: bytes) -> None:
    record = alerts.read_record(b"\n" + line + b"\n")
    assert (record.written, record.count_unreadable) == ({}, 1)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path, [gate()])
    write = os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:10]))
        with pytest.raises(OSError, match="the disk is full"):
            send(tmp_path)
    assert (tmp_path / "alerts.jsonl").read_bytes() == b""
    send(tmp_path)
    assert len(server.received) == 2


def test_two_senders_do_not_work_at_once(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(tmp_path, [gate()])
    with alerts._open_record(tmp_path / "alerts.jsonl"):
        assert run(monkeypatch, "alert", "--warehouse", str(tmp_path)) == 2
    assert capsys.readouterr().err == (
        f"hcat: another process sends alerts and holds {tmp_path / 'alerts.jsonl'}: wait until it ends\n"
    )
    assert server.count_posts == 0


# ---------------------------------------------------------------------------------------------------------------------
# What is told


def test_a_gate_says_what_was_measured_against_what(tmp_path: Path, server: Server) -> None:
    publish(
        tmp_path,
        [
            gate(),
            gate(gate_name="a_segment", dimension="topic", segment="cards", severity="warn", verdict="undecided"),
            gate(gate_name="harm", burden="prove_harm", comparison="at_most", severity="warn"),
            gate(gate_name="no_decision", verdict="not_evaluated", threshold=None, severity="warn"),
            gate(gate_name="small", verdict="not_evaluated", n=12, severity="warn"),
            gate(gate_name="nothing", verdict="not_evaluated", measured_value=None, severity="warn", n=None),
        ],
    )
    send(tmp_path)
    texts = dict(zip(server.titles(), [payload["text"] for payload in server.received], strict=True))
    assert texts["Gate groundedness_release: failed (error)"].splitlines() == [
        "Gate groundedness_release: failed (error)",
        "`share_passing` of `groundedness`: 0.75 [0.7, 0.8], n = 1,234",
        "must be at least 0.8 (`prove_safe`)",
        "The measured value misses the threshold.",
        "hcat, build run_1",
    ]
    assert "where `topic` is `cards`" in texts["Gate a_segment: undecided (warn)"]
    assert "Safety is not proven" in texts["Gate a_segment: undecided (warn)"]
    assert "The whole interval lies on the wrong side" in texts["Gate harm: failed (warn)"]
    assert "there is no threshold" in texts["Gate no_decision: not_evaluated (warn)"]
    assert "n lies below the minimum of 100" in texts["Gate small: not_evaluated (warn)"]
    assert "nothing was measured" in texts["Gate nothing: not_evaluated (warn)"]
    assert server.titles()[0] == "Gate groundedness_release: failed (error)"


def test_only_the_gates_of_the_last_build_count(tmp_path: Path, server: Server) -> None:
    later = (BUILT_AT + timedelta(hours=1)).replace(tzinfo=None)
    publish(tmp_path, [gate(run_id="z_first"), passing(run_id="a_last", evaluated_at=later)])
    alerted = send(tmp_path)
    assert alerted.messages == ()
    assert dict(alerted.lines)["gates"] == "1 of build a_last, 2026-11-20 03:30 UTC: 0 do not pass"
    assert server.count_posts == 0


def test_series_that_drift_in_one_week_share_a_message(tmp_path: Path, server: Server) -> None:
    series = [
        *(drift(segment=f"topic {number:02}") for number in range(30)),
        drift(segment="topic 07", test="kolmogorov_smirnov", q_value=0.00001, difference=-0.5),
        drift(segment="topic 07", test="population_stability", is_drifting=False, q_value=0.5),
        drift(segment="calm", is_drifting=False),
        drift(segment="no week", is_drifting=False, window_end=None, status="no_timestamps", q_value=None),
        # a segment whose last questions are older
        drift(dimension="all", segment="all", window_end="2026-11-08", difference=None),
        drift(
            metric_name=None, segment="all", test="mix_shift", difference=0.25, detail="cards 10 % to 35 %", q_value=0.0
        ),
    ]
    publish(tmp_path, [passing()], series, [])
    alerted = send(tmp_path)
    assert server.titles() == ["Drift up to 2026-11-15: 31 series", "Drift up to 2026-11-08"]
    last, before = (payload["text"].splitlines() for payload in server.received)
    assert before[1] == "`support_words` of `all`: mean shift (n 90 against 800)"
    # the most certain first
    assert last[1] == "the mix of `topic`: by 0.25, mix shift (n 90 against 800)"
    assert last[2] == (
        "`support_words` of `topic` is `topic 07`: by -0.5, kolmogorov smirnov and mean shift (n 90 against 800)"
    )
    assert len(last) == alerts.MAXIMUM_SERIES + 3
    assert last[-2] == "and 19 more: see fct_metric_drift"
    assert dict(alerted.lines)["drift"] == "34 series up to 2026-11-15: 32 drift"

    # one series more, one that turned round and one that is over
    series[0]["difference"] = 0.125
    series[1]["is_drifting"] = False
    publish(tmp_path, [passing()], [*series, drift(segment="late")], [])
    server.received.clear()
    send(tmp_path)
    assert server.titles() == ["Drift up to 2026-11-15: 2 series", "No drift any more up to 2026-11-15"]
    assert server.received[0]["text"].splitlines()[1:-1] == [
        "`support_words` of `topic` is `late`: by -0.125, mean shift (n 90 against 800)",
        "`support_words` of `topic` is `topic 00`: by 0.125, mean shift (n 90 against 800)",
        "before: drifting down, 2026-11-20 03:30 UTC",
    ]
    assert "`topic 01`" in server.received[1]["text"]


def test_a_finding_says_where_and_how_much(tmp_path: Path, server: Server) -> None:
    marginal = finding(
        finding_id="beef", second_dimension=None, second_segment=None, severity=None, confirmed_difference=None
    )
    suspected = finding(finding_id="cafe", kind="suspected", confirmed_difference=None)
    taken_up = [finding(finding_id=name, status=name) for name in ("accepted", "in_progress")]
    publish(tmp_path, [passing()], [], [finding(), marginal, suspected, *taken_up])
    alerted = send(tmp_path)
    assert server.titles() == [
        "Confirmed weakness in support_words (info)",
        "Confirmed weakness in support_words (high)",
    ]
    assert server.received[0]["text"].splitlines()[1:3] == [
        "`support_words` where `topic` is `mortgages`",
        "worse than the rest by 0.5 (`share_failing`) on all sources, confirmed by a build before",
    ]
    assert server.received[1]["text"].splitlines()[1:4] == [
        "`support_words` where `topic` is `mortgages` and `system` is `assistant 2`",
        "worse than the rest by 0.25 (`share_failing`) on sources held back from the search",
        "finding `f00d`",
    ]
    assert dict(alerted.lines)["findings"] == "4 confirmed: 2 open and not taken up"


def test_missing_tables_are_named(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate()])
    said = dict(send(tmp_path).lines)
    assert said["published copy"] == str(tmp_path / "published" / "hcat.duckdb")
    assert said["gates"] == "1 of build run_1, 2026-11-20 02:30 UTC: 1 do not pass"
    assert said["drift"] == "not looked at: the copy has no table fct_metric_drift"
    assert said["findings"] == "not looked at: the copy has no table fct_findings"
    assert len(server.received) == 1


def test_nothing_to_look_at_is_no_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(alerts.WEBHOOK_VARIABLE, raising=False)
    database = tmp_path / "published" / "hcat.duckdb"
    assert run(monkeypatch, "alert", "--warehouse", str(tmp_path)) == 2
    assert capsys.readouterr().err == (
        f"hcat: no published copy at {database}: `dbt build` writes it, also when a gate fails\n"
    )
    publish(tmp_path, [], [drift()])
    assert run(monkeypatch, "alert", "--warehouse", str(tmp_path)) == 2
    assert capsys.readouterr().err == (
        f"hcat: no evaluated gate in {database}: `dbt build` evaluates them, nothing can be said without\n"
    )
    with duckdb.connect(str(database)) as connection:
        connection.execute("alter table fct_metric_drift drop column is_drifting")
        connection.execute("drop table fct_threshold_gates")
    publish_gates(database)
    assert run(monkeypatch, "alert", "--warehouse", str(tmp_path)) == 2
    assert "does not fit this version of hcat" in capsys.readouterr().err


def publish_gates(database: Path) -> None:
    with duckdb.connect(str(database)) as connection:
        connection.execute(GATES)
        row = gate()
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        connection.execute(f"insert into fct_threshold_gates ({names}) values ({marks})", list(row.values()))


def test_a_build_that_stopped_coming_is_an_alert(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [passing()])
    assert send(tmp_path, now=BUILT_AT + timedelta(days=30)).messages == ()
    assert send(tmp_path, now=BUILT_AT + timedelta(hours=36), maximum_age_hours=36).messages == ()
    send(tmp_path, now=BUILT_AT + timedelta(hours=37), maximum_age_hours=36)
    assert server.titles() == ["No build since 2026-11-20 02:30 UTC"]
    publish(tmp_path, [passing(evaluated_at=datetime(2026, 11, 22, 2, 30))])
    send(tmp_path, now=BUILT_AT + timedelta(days=2), maximum_age_hours=36)
    assert server.titles()[1:] == ["Builds run again: the last one started 2026-11-22 02:30 UTC"]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("reminder_days", 0),
        ("reminder_days", float("nan")),
        ("maximum_age_hours", -1),
        ("maximum_age_hours", float("inf")),
    ],
)
def test_settings_out_of_range_say_both_sides(setting: str, value: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"must lie in .+, got {value}"):
        send(tmp_path, **{setting: value})


def test_a_dry_run_prints_and_leaves_no_trace(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(tmp_path, [gate()], [drift()], [finding()])
    assert run(monkeypatch, "alert", "--warehouse", str(tmp_path), "--dry-run") == 0
    shown = capsys.readouterr().out.splitlines()
    payloads = [json.loads(line) for line in shown if line.startswith("{")]
    assert [payload["text"].splitlines()[0] for payload in payloads] == [
        "Gate groundedness_release: failed (error)",
        "Drift up to 2026-11-15",
        "Confirmed weakness in support_words (high)",
    ]
    assert " ".join(shown[-1].split()) == "alerts 3 due, none sent"
    assert server.count_posts == 0
    assert not (tmp_path / "alerts.jsonl").exists()


# ---------------------------------------------------------------------------------------------------------------------
# Private and hostile text


def test_no_text_of_customers_leaves_the_warehouse(tmp_path: Path, server: Server) -> None:
    private = "What is the balance of Jane Private?"
    publish(
        tmp_path,
        [gate(reason=private, rationale=private, expectation_results=private)],
        [drift(status=private)],
        [finding(owner="Jane Private")],
    )
    with duckdb.connect(str(tmp_path / "published" / "hcat.duckdb")) as connection:
        connection.execute("create table fct_interactions as select ? as query_text, ? as answer", [private, private])
    send(tmp_path)
    assert len(server.received) == 3
    everything = json.dumps(server.received) + (tmp_path / "alerts.jsonl").read_text()
    assert "Jane" not in everything
    assert "balance" not in everything


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("mortgages", "mortgages"),
        ("2026-11-16", "2026-11-16"),
        ("assistant 2.1.0", "assistant 2.1.0"),
        ("branch 1234567", "branch 1234567"),
        ("jane.private@example.com", "[masked]"),
        ("mail of jane.private@example.com here", "mail of [masked] here"),
        ("DE89 3704 0044 0532 0130 00", "[masked]"),
        ("GB29NWBK60161331926819", "[masked]"),
        ("+41 (0)79 123 45 67", "[masked]"),
        ("4111-1111-1111-1111", "[masked]"),
        ("account 123456789", "account [masked]"),
    ],
)
def test_what_may_reach_a_person_is_masked(name: str, shown: str) -> None:
    assert alerts.mask(name) == shown


def test_segments_can_be_hidden(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate(dimension="branch", segment="Jane Private")], [drift(segment="Jane Private")], [])
    send(tmp_path, is_hiding_segments=True)
    assert len(server.received) == 2
    everything = json.dumps(server.received) + (tmp_path / "alerts.jsonl").read_text()
    assert "Jane" not in everything
    assert "`branch` is `segment " in everything
    # the same event, however it is shown
    assert send(tmp_path).messages == ()


def check_payload(payload: Mapping[str, Any]) -> None:
    """Assert that nothing in a message is markup, and that it fits Slack's limits."""
    assert json.loads(json.dumps(payload)) == payload
    header, section, context = payload["blocks"]
    texts = [payload["text"], header["text"]["text"], section["text"]["text"], context["elements"][0]["text"]]
    for text in texts:
        assert not re.search(r"[<>]", text)
        assert not re.search(r"&(?!amp;|lt;|gt;)", text)
        hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
        assert all(character == "\n" or unicodedata.category(character) not in hidden for character in text)
        assert all(line.count("`") % 2 == 0 for line in text.splitlines())
    assert 0 < len(header["text"]["text"]) <= 150
    assert 0 < len(section["text"]["text"]) <= 3000
    assert "\n" not in header["text"]["text"]


HOSTILE = '<!channel> *b* `x` </script>\n@here &lt; \u202e\x1b[31m "}], <https://example.com|click>'


def test_hostile_names_have_no_power(tmp_path: Path, server: Server) -> None:
    publish(
        tmp_path,
        [gate(gate_name=HOSTILE, dimension=HOSTILE, segment=HOSTILE, metric_name=HOSTILE, measurement=HOSTILE)],
        [drift(segment=HOSTILE * 9 + str(number), dimension=HOSTILE, metric_name=HOSTILE) for number in range(40)],
        [finding(finding_id=HOSTILE, first_segment=HOSTILE, metric_name=HOSTILE, severity=HOSTILE)],
    )
    send(tmp_path)
    assert len(server.received) == 3
    for payload in server.received:
        check_payload(payload)
        assert "&lt;!channel&gt;" in payload["text"]


@given(
    st.text(max_size=200),
    st.text(min_size=1, max_size=200),
    st.floats(allow_nan=True),
    st.integers(0, 2**62),
    st.integers(1, 30),
)
def test_any_name_and_number_makes_a_safe_message(
    gate_name: str, segment: str, value: float, count: int, number: int
) -> None:
    row = gate(gate_name=gate_name, dimension=segment, segment=gate_name, measured_value=value, n=count)
    names = alerts._Names(False)
    events = [alerts._gate_event(row, names)]
    week = datetime(2026, 11, 15).date()
    rows = [drift(segment=f"{segment}{index}", window_end=week, difference=value) for index in range(number)]
    events += [*alerts._drift_events(rows, names), *alerts._finding_events([finding(first_segment=segment)], names)]
    messages = alerts.compose_messages(events, "run_1")
    assert len(messages) == 3
    for message in messages:
        check_payload(message.payload)


@given(st.text(max_size=40), st.text(max_size=40))
def test_keys_tell_subjects_apart(one: str, other: str) -> None:
    same = one == other
    assert (alerts._key("gate", one) == alerts._key("gate", other)) is same
    assert (alerts._key("drift", one, other) == alerts._key("drift", other, one)) is same
    assert alerts._key("gate", one) != alerts._key("finding", one)
    assert alerts._key("drift", None) != alerts._key("drift", "None")


def test_the_warehouse_itself_is_not_opened(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate()])
    # a build holds the warehouse: alerts read the published copy
    (tmp_path / "hcat.duckdb").write_bytes(b"held by a writer")
    send(tmp_path)
    assert len(server.received) == 1
    with pytest.raises(WarehouseError, match="cannot be opened"):
        send(tmp_path / "hcat.duckdb")
