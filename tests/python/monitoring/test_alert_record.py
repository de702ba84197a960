"""The file of alerts: each event is told once, and a kill or a full disk loses nothing."""

import errno
import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from alert_materials import Hcat, Server, lines_of, passing, publish, send
from marts import BUILT_AT, drift, finding, gate

from hcat.engine.files import held_alone
from hcat.monitoring.alerts.delivery import WEBHOOK_VARIABLE
from hcat.monitoring.alerts.sending import read_record


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
    monkeypatch.delenv(WEBHOOK_VARIABLE)
    publish(tmp_path, [gate()])
    alerted = send(tmp_path)
    assert dict(alerted.lines)["alerts"] == "1 due, written to the file alone: HCAT_ALERT_WEBHOOK is not set"
    assert [line["delivery"] for line in lines_of(tmp_path)] == ["file"]
    assert send(tmp_path).messages == ()
    # whoever sets a webhook later is told what is still the case
    monkeypatch.setenv(WEBHOOK_VARIABLE, server.address())
    send(tmp_path)
    assert server.titles() == ["Gate groundedness_release: failed (error)"]
    assert send(tmp_path).messages == ()


def test_a_kill_between_post_and_record_tells_twice_and_loses_nothing(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate()])
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from hcat.monitoring.alerts import sending\n"
        "sending.append_line = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sending.send_alerts(Path(sys.argv[1]))\n"
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
    record = read_record(b"\n" + line + b"\n")
    assert (record.written, record.count_unreadable) == ({}, 1)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path, [gate()])
    write = os.write
    with monkeypatch.context() as full:

        def fill_the_disk(descriptor: int, data: bytes) -> int:
            if len(data) < 100:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(descriptor, data[:-50])

        full.setattr(os, "write", fill_the_disk)
        with pytest.raises(OSError, match="No space left"):
            send(tmp_path)
    assert (tmp_path / "alerts.jsonl").read_bytes() == b""
    send(tmp_path)
    assert len(server.received) == 2


def test_two_senders_do_not_work_at_once(tmp_path: Path, server: Server, hcat: Hcat) -> None:
    publish(tmp_path, [gate()])
    with held_alone(tmp_path / "alerts.jsonl", ""):
        error = hcat("alert", "--warehouse", tmp_path, code=2)
    assert error == f"hcat: another process sends alerts and holds {tmp_path / 'alerts.jsonl'}: wait until it ends\n"
    assert server.count_posts == 0
