"""The webhook of alerts, against a real server that fails first: attempts, waits, and an address never shown."""

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from alert_materials import QUICK, SECRET, Hcat, Server, lines_of, publish, run, send
from marts import drift, finding, gate

from hcat.monitoring.alerts.delivery import WEBHOOK_VARIABLE, Patience, post, read_webhook


def test_waits_double_and_the_server_makes_them_longer(server: Server) -> None:
    server.script = [503, (429, {"Retry-After": "7"}), "reset", (500, {"Retry-After": "1"}), 502]
    waited: list[float] = []
    patience = Patience(attempts=6, first_seconds=1.0, longest_seconds=8.0, total_seconds=1000)
    with httpx.Client() as client:
        delivery = post(client, server.address(), {"text": "a"}, patience, sleep=waited.append)
    assert waited == [1.0, 7.0, 4.0, 8.0, 8.0]
    assert delivery.is_accepted
    assert server.received == [{"text": "a"}]
    assert {request.path for request in server.requests} == {f"/services/{SECRET}"}


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
    delivered = lines_of(tmp_path)[2:]
    assert [line["delivery"] for line in delivered] == ["webhook", "webhook"]
    assert [line["message"] for line in delivered] == server.received
    names = ("kind", "severity", "run_id")
    assert [delivered[0][name] for name in names] == ["gate", "error", "run_1"]
    assert send(tmp_path).messages == ()


def test_a_server_that_asks_for_more_patience_than_there_is(server: Server) -> None:
    server.script = [(429, {"Retry-After": "3600"})]
    waited: list[float] = []
    with httpx.Client() as client:
        delivery = post(client, server.address(), {}, Patience(), sleep=waited.append)
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
    assert {request.path for request in server.requests} == {f"/services/{SECRET}"}
    assert server.titles() == ["Gate second: failed (warn)"]
    assert dict(alerted.lines)["not delivered"] == f"Gate groundedness_release: failed (error): {reason}"
    assert alerted.count_undelivered == 1


@pytest.mark.parametrize("script", [[], ["reset"] * 9, [(302, {"Location": "/services/" + SECRET})]])
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
    monkeypatch.setattr(Patience, "__init__", lambda self: None)
    for name in ("attempts", "first_seconds", "longest_seconds", "total_seconds"):
        monkeypatch.setattr(Patience, name, getattr(QUICK, name))
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
        assert str(server.server_port) not in text
    assert logging.getLogger("httpx").disabled == was_disabled


@pytest.mark.parametrize(
    "address",
    [
        f"http://hooks.example.com/{SECRET}",
        f"http://localhost.example.com/{SECRET}",
        f"http://2130706433/{SECRET}",
        f"ftp://hooks.example.com/{SECRET}",
        f"https:///{SECRET}",
        SECRET,
        f"https://hooks.example.com:secret/{SECRET}",
        f"https://[secret/{SECRET}",
        f"https://hooks.example.com/{SECRET}\nX-Header: 1",
    ],
)
def test_an_unusable_address_is_not_repeated(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hcat: Hcat
) -> None:
    publish(tmp_path, [gate()])
    monkeypatch.setenv(WEBHOOK_VARIABLE, address)
    assert hcat("alert", "--warehouse", tmp_path, code=2) == (
        "hcat: HCAT_ALERT_WEBHOOK must be an https address (http on this machine only), "
        "got something else (not shown)\n"
    )
    with pytest.raises(ValueError, match="not shown") as caught:
        read_webhook({WEBHOOK_VARIABLE: address})
    # nor on the way: a debugger and an error collector follow the chain
    assert caught.value.__context__ is None


def test_a_proxy_password_is_not_shown(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path, [gate()])
    monkeypatch.setenv("ALL_PROXY", "gopher://user:proxy-password@proxy.example.com:70")
    # what goes to this machine has no proxy
    monkeypatch.setenv(WEBHOOK_VARIABLE, "https://hooks.example.com/x")
    with pytest.raises(ValueError, match="proxy and certificates in the environment must be usable") as caught:
        send(tmp_path)
    assert "password" not in str(caught.value)
    assert caught.value.__context__ is None
    assert server.count_posts == 0
