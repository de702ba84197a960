"""Collection: what is sent, what counts as an answer, and that nothing is lost, doubled, guessed or told."""

import asyncio
import errno
import json
import logging
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from alert_materials import Hcat
from builds import load_service
from loopback import Loopback, start_server

from hcat.collection.endpoint import Endpoint, read_endpoint
from hcat.collection.journal import FAILURES, INTERACTIONS, JOURNAL, open_journal, read_journal
from hcat.collection.paths import PathError, ReplyError, parse_path
from hcat.collection.queries import Query, read_queries
from hcat.collection.replies import read_reply
from hcat.collection.run import collect, describe_first_request, identify
from hcat.collection.sending import Sender
from hcat.engine.http import REDACTED, is_plain_on_this_machine, keeps_secrets, read_retry_after
from hcat.landing.reading import read_entity

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLE = REPOSITORY / "examples" / "rag_service"
SECRET = 'sk-"tell/nobody"+4711'

HOSTILE = (
    'She said "no" \\ and \\" again',
    "first line\nsecond line\r\n\tthird",
    "{{query}} {{ query_id }} {% raw %} ${RAG_SERVICE_TOKEN} $(id) `id`",
    '"}, "sample": 7, {"question": "',
    "{} [] $.answer {{{{",
    "\u202eevil\u2066 \u0000 \x1b[31m zero\u200bwidth",
    "Füße, 你好, مرحبا, 🙂 e\u0301",
    "'; drop table interactions; --",
    "<script>alert(1)</script> [bold]x[/bold] =cmd|'/c calc'!A0",
    "\ufeffbyte order mark",
)


rag_service = load_service()

Responder = Callable[[str, str, Mapping[str, str], bytes], tuple[int, dict[str, str], bytes]]
#: What starts the example with faults, what starts a server that replies, and what writes a description of one.
Serve = Callable[..., Any]
Record = Callable[[Responder], Loopback]
Describe = Callable[..., tuple[Path, Path]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(shares: Mapping[str, float] | None = None, token: str = "", **settings: Any) -> Any:
            faults = rag_service.Faults(shares or {}, **settings)
            retriever = rag_service.BM25(rag_service.read_chunks())
            return start_server(stack, rag_service.Service(("127.0.0.1", 0), retriever, faults=faults, token=token))

        yield start


@pytest.fixture
def record() -> Iterator[Record]:
    with ExitStack() as stack:
        yield lambda respond: start_server(stack, Loopback(respond))


def url_of(server: Any, path: str = "/ask") -> str:
    return f"http://127.0.0.1:{server.server_address[1]}{path}"


def describe(url: str = "http://127.0.0.1:9/ask", **changes: Any) -> dict[str, Any]:
    described = yaml.safe_load((EXAMPLE / "endpoint.yml").read_text(encoding="utf-8"))
    described["request"]["url"] = url
    # unit tests do not wait
    described["limits"] |= {"backoff_seconds": 0}
    for section, values in changes.items():
        if isinstance(values, dict):
            described[section] = {**described.get(section, {}), **values}
        else:
            described[section] = values
    return described


def make_endpoint(folder: Path, url: str, **changes: Any) -> Endpoint:
    path = folder / "endpoint.yml"
    path.write_text(yaml.safe_dump(describe(url, **changes), allow_unicode=True), encoding="utf-8")
    return read_endpoint(path, {"RAG_SERVICE_TOKEN": SECRET})


def make_queries(count: int = 3) -> list[Query]:
    return [Query(f"q{number:04d}", f"What does card number {number} cost?", {}) for number in range(count)]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def reply(answer: str = "Yes.", **fields: Any) -> bytes:
    return json.dumps({"answer": answer, "contexts": [], "refused": False} | fields).encode()


class Waits:
    """Stands in for the clock's sleep: notes how long it was to take, and takes no time."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("application: harbourlight-example", "", "application must be given, got nothing"),
        ('version: "1.0"', "version: 1.0", "application_version must be a text in quotes, got the number 1.0"),
        ("method: POST", "method: FETCH", "request.method must be one of GET, POST, PUT, got 'FETCH'"),
        ("method: POST", "method: GET", "request.body must be left out with the method GET, got an object"),
        ("http://127.0.0.1:8321/ask", "127.0.0.1/ask", "request.url must be an http or https URL with a host"),
        ("http://127.0.0.1:8321/ask", "http://h/a?key=1", "request.url must be without a query string"),
        ("http://127.0.0.1:8321/ask", "http://a:b@h/ask", "request.url must be without user and password"),
        ("http://127.0.0.1:8321/ask", "'http://h/{{query}}'", "request.url must be without placeholders"),
        ("Bearer ${RAG_SERVICE_TOKEN}", "Bearer abc", "Authorization must be taken from the environment with ${NAME}"),
        ("${RAG_SERVICE_TOKEN}", "${RAG SERVICE}", "must be a text with ${NAME} of an environment variable"),
        ("Authorization:", "Content-Length:", "request.headers.Content-Length must be left to the transport"),
        ("Bearer ${RAG_SERVICE_TOKEN}", "'{{query}}'", "must be one of the placeholders {{interaction_id}}"),
        ('"{{query}}"', "{{query}}", 'a key must be a text; a placeholder needs quotes: "{{query}}"'),
        ('"{{query}}"', '"Q: {{query}}"', "request.body.question must be one placeholder and nothing else"),
        ('"{{query}}"', '"{{question}}"', "request.body.question must be one of the placeholders {{application}}"),
        ('"{{query}}"', '"${RAG_SERVICE_TOKEN}"', "request.body.question must be without ${...}"),
        ('"{{query}}"', "hello", "must hold {{query}}, got {{sample_index}}"),
        ("top: 4", "top: 2026-01-01", "request.body.top must be a JSON value; a date needs quotes, got date"),
        ("answer: $.answer", "answer: answer", "response.answer must be a JSON path such as $.answer, got 'answer'"),
        ("answer: $.answer", "answer: $.answers[*]", "such as $.answer, without [*], got '$.answers[*]'"),
        ("answer: $.answer", "answer: $..answer", "got '$..answer': nothing can be read from character 2 on"),
        ("$.contexts[*].text", "$.contexts", "such as $.contexts[*].text, with [*], got '$.contexts'"),
        ("$.contexts[*].text", "$.a[*].b[*]", "at most one [*] is possible"),
        ("concurrency: 8", "concurrency: 0", "limits.concurrency must be an integer from 1 to 256, got the number 0"),
        ("attempts: 6", "attempts: 6\n  attempts: 7", "line 29: the key attempts stands here twice"),
        ("attempts: 6", "retries: 6", "limits knows the keys concurrency, timeout_seconds, attempts"),
    ],
)
def test_a_wrong_description_names_file_key_and_both_sides(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (EXAMPLE / "endpoint.yml").read_text(encoding="utf-8")
    assert text.count(old) == 1 or old in ("${RAG_SERVICE_TOKEN}", "answer: $.answer")
    path = tmp_path / "mine.yml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        read_endpoint(path, {"RAG_SERVICE_TOKEN": SECRET})
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"- 1\n", b"\xff\xfe", b"&a [*a]", b"a: \x00"])
def test_what_is_no_description_is_said_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.yml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"must be|special characters|unacceptable") as raised:
        read_endpoint(path, {})
    assert "\n" not in str(raised.value)


def test_secrets_go_to_another_machine_over_https_only() -> None:
    for host in ("localhost", "LOCALHOST:8080", "127.8.9.10:80", "[::1]:8080"):
        assert keeps_secrets(f"http://{host}/ask")
        assert is_plain_on_this_machine(f"http://{host}/ask")
        assert not is_plain_on_this_machine(f"https://{host}/ask")
    # names that only look like this machine
    looks = ("localhost.example.com", "127.0.0.1.example.com", "mylocalhost", "localhost@rag.example.com", "0x7f000001")
    for host in (*looks, "rag.example.com", "2130706433", "0.0.0.0", "10.0.0.1", "[fe80::1]"):
        assert not keeps_secrets(f"http://{host}/ask")
        assert keeps_secrets(f"HTTPS://{host}/ask")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"headers": {"Authorization": "Bearer ${RAG_SERVICE_TOKEN}"}}, "headers.Authorization"),
        ({"headers": {"X-Tenant": "${RAG_SERVICE_TOKEN}"}}, "headers.X-Tenant"),
        ({"headers": {}, "parameters": {"key": "${RAG_SERVICE_TOKEN}"}}, "parameters.key"),
        ({"headers": {}, "url": "http://rag.example.com/hooks/${RAG_SERVICE_TOKEN}"}, "the path of the URL"),
    ],
)
def test_a_description_that_would_show_a_secret_on_the_way_is_refused(
    tmp_path: Path, changes: dict[str, Any], place: str
) -> None:
    description = describe("http://rag.example.com/ask")
    description["request"] |= changes
    path = tmp_path / "mine.yml"
    for is_safe in (False, True):
        text = yaml.safe_dump(description)
        path.write_text(text.replace("http://", "https://") if is_safe else text, encoding="utf-8")
        if is_safe:
            read_endpoint(path, {"RAG_SERVICE_TOKEN": "token-of-a-test"})
        else:
            with pytest.raises(ValueError, match="is http") as raised:
                read_endpoint(path, {"RAG_SERVICE_TOKEN": "token-of-a-test"})
            assert str(raised.value) == (
                f"{path}: request.url is http, and {place} could be read on the way: use https (http works to this"
                " machine only)"
            )


def test_a_proxy_does_not_see_what_goes_to_this_machine(
    tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = record(lambda *request: (200, {}, reply("From the proxy.")))
    service = record(lambda *request: (200, {}, reply("Yes.")))
    monkeypatch.setenv("HTTP_PROXY", url_of(proxy))
    monkeypatch.setenv("NO_PROXY", "")
    collect(make_endpoint(tmp_path, url_of(service)), make_queries(1), tmp_path / "out")
    assert (len(service.requests), len(proxy.requests)) == (1, 0)


@pytest.mark.parametrize("value", ["", "two\nlines-of-secret", "ends with a blank ", "Füße-and-more"])
def test_a_secret_that_is_missing_or_cannot_be_sent_is_not_shown(tmp_path: Path, value: str) -> None:
    with pytest.raises(ValueError, match=r"request\.headers\.Authorization") as raised:
        read_endpoint(EXAMPLE / "endpoint.yml", {"RAG_SERVICE_TOKEN": value})
    assert not value or value not in str(raised.value)


def test_a_literal_secret_is_not_repeated_in_the_message(tmp_path: Path) -> None:
    for header in ("Authorization", "X-Api-Key", "Cookie", "my-token"):
        path = tmp_path / "endpoint.yml"
        path.write_text(
            yaml.safe_dump(describe() | {"request": {**describe()["request"], "headers": {header: "hunter2"}}})
        )
        with pytest.raises(ValueError, match="with \\$\\{NAME\\}, got a literal value") as raised:
            read_endpoint(path, {})
        assert "hunter2" not in str(raised.value)


def test_variables_fill_url_and_version_and_values_are_not_looked_into(tmp_path: Path) -> None:
    path = tmp_path / "endpoint.yml"
    described = describe("${RAG_URL}/ask", application_version="${RAG_VERSION}")
    path.write_text(yaml.safe_dump(described), encoding="utf-8")
    environment = {
        "RAG_URL": "https://rag.example",
        "RAG_VERSION": "${RAG_SERVICE_TOKEN}",
        "RAG_SERVICE_TOKEN": "{{query}}",
    }
    endpoint = read_endpoint(path, environment)
    assert endpoint.url == "https://rag.example/ask"
    assert endpoint.application_version == "${RAG_SERVICE_TOKEN}"
    assert endpoint.headers == {"Authorization": "Bearer {{query}}"}


DOCUMENT = {"a": {"b-c": [1, [2, 3]]}, "d e": "f", "list": [{"x": 1}, {"x": None}, {}]}


@pytest.mark.parametrize(
    ("path", "found"), [("$", DOCUMENT), ("$.a.b-c[0]", 1), ("$.a.b-c[-1][1]", 3), ("$['d e']", "f")]
)
def test_paths_find_their_place(path: str, found: Any) -> None:
    assert parse_path(path).read(DOCUMENT) == found


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("$.missing", "$.missing is missing"),
        ("$.list.b", "$.list must be an object, got a list"),
        ("$.a.b-c[2]", "$.a.b-c[2] is missing: the list has 2 elements"),
        ("$['d e'][0]", "$.d e must be a list, got a text"),
        # an element without its field is never skipped
        ("$.list[*].x", "$.list[2].x is missing"),
    ],
)
def test_a_place_that_is_not_there_is_named(path: str, message: str) -> None:
    parsed = parse_path(path)
    with pytest.raises(PathError) as raised:
        (parsed.read_each if parsed.is_list else parsed.read)(DOCUMENT)
    assert str(raised.value) == message


def read(body: bytes, tmp_path: Path, **response: Any) -> Any:
    return read_reply(body, make_endpoint(tmp_path, "https://h/", response=response).response)


CONTEXTS = [{"text": "One.", "chunk_id": "c1", "score": 0.5}, {"text": "Two.", "chunk_id": 2, "score": None}]


def test_a_reply_is_read_in_the_order_of_its_contexts(tmp_path: Path) -> None:
    found = read(reply("Yes.", contexts=CONTEXTS), tmp_path)
    assert (found.answer, found.is_refused) == ("Yes.", False)
    assert [(item["chunk_id"], item["text"], item["retrieval_score"]) for item in found.retrievals] == [
        ("c1", "One.", 0.5),
        ("2", "Two.", None),
    ]
    for error in (None, False, 0, "", [], {}):
        assert read(reply("", error=error), tmp_path).answer == ""
    paths = {"contexts": "$.texts[*]", "chunk_ids": "$.ids[*]", "scores": None}
    assert len(read(reply(texts=["a", "b"], ids=["1", "2"]), tmp_path, **paths).retrievals) == 2
    with pytest.raises(ReplyError, match="got 2 contexts, 1 chunk_ids"):
        read(reply(texts=["a", "b"], ids=["1"]), tmp_path, **paths)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (reply("Yes.", contexts=CONTEXTS)[:60], "the body must be JSON, got: "),
        (b'{"answer": "\xff"}', "the body must be UTF-8"),
        (b'{"answer": NaN}', "NaN is no JSON value"),
        (b"[" * 100_000, "the body must be JSON, got: RecursionError"),
        (b"[]", "$ must be an object, got a list"),
        (b'{"contexts": []}', "$.answer is missing"),
        (b'{"answer": null, "contexts": []}', "the answer at $.answer must be a text, got null"),
        (b'{"answer": "Yes."}', "$.contexts is missing"),
        (reply(contexts=[{"chunk_id": "c", "score": 1}]), "$.contexts[0].text is missing"),
        (reply(contexts=[{"text": 5, "chunk_id": "c", "score": 1}]), "context 1 must be a text, got a number"),
        (reply(contexts=[{"text": "T", "chunk_id": "c", "score": "0.5"}]), "score 1 must be a number, got a text"),
        (reply(contexts=[{"text": "T", "chunk_id": "c", "score": 10**400}]), "score 1 must be finite"),
        (reply(contexts=[{"text": None, "chunk_id": None, "score": 1}]), "must have a text or a chunk id"),
        (reply(error={"code": 7}), '$.error says: {"code": 7}'),
        (reply(error="quota\nis over"), "$.error says: quota is over"),
    ],
)
def test_what_is_not_as_described_is_no_answer(tmp_path: Path, body: bytes, message: str) -> None:
    with pytest.raises(ReplyError) as raised:
        read(body, tmp_path)
    assert raised.value.failure == ("service_error" if message.startswith("$.error") else "malformed_reply")
    assert message in str(raised.value)


def test_a_refusal_of_the_service_needs_its_text(tmp_path: Path) -> None:
    declined = json.dumps({"refused": True, "answer": "I cannot help.", "contexts": CONTEXTS}).encode()
    assert (read(declined, tmp_path).answer, read(declined, tmp_path).is_refused) == ("I cannot help.", True)
    assert len(read(declined, tmp_path).retrievals) == 2
    bare = b'{"refused": true}'
    with pytest.raises(ReplyError, match=r"\$\.answer is missing"):
        read(bare, tmp_path)
    stated = read(bare, tmp_path, refusal={"path": "$.refused", "text": "The service declined."})
    assert (stated.answer, stated.retrievals) == ("The service declined.", ())
    elsewhere = {"path": "$.finish", "equals": "content_filter", "answer": "$.message"}
    assert read(b'{"finish": "content_filter", "message": "No."}', tmp_path, refusal=elsewhere).answer == "No."
    # 1 is not true: what is not the mark is read as an answer
    with pytest.raises(ReplyError, match=r"\$\.answer is missing"):
        read(b'{"refused": 1, "message": "No."}', tmp_path, refusal={"path": "$.refused", "text": "Declined."})


MONDAY = "Mon, 04 May 2026"


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        (" 7 ", None, 7.0),
        (f"{MONDAY} 10:00:30 GMT", None, 30.0),
        # the service's clock runs two minutes late; its own Date tells
        (f"{MONDAY} 10:00:30 GMT", f"{MONDAY} 09:58:30 GMT", 120.0),
        (f"{MONDAY} 09:00:00 GMT", None, 0.0),
        *(
            (value, None, None)
            for value in ("soon", "-5", "٣", "1.5", "1e9", "Fri, 99 Nov 2026 99:99:99 GMT", "", None)
        ),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, date: str | None, seconds: float | None) -> None:
    assert read_retry_after(value, date, datetime(2026, 5, 4, 10, tzinfo=UTC)) == seconds


def test_requests_are_paced_by_the_clock_that_they_are_given(tmp_path: Path, serve: Serve) -> None:
    service = serve({"server_error": 1.0}, faulty_attempts=1)
    endpoint = make_endpoint(tmp_path, url_of(service), limits={"requests_per_second": 4, "concurrency": 3})
    waits = Waits()
    # a clock that stands still: every request waits its whole turn
    sender = Sender(endpoint, sleep=waits, clock=lambda: 0.0)
    collected = collect(endpoint, make_queries(5), tmp_path / "out", sender=sender)
    # each query fails once: attempts are requests and have their turns too
    assert (collected.count_answered, collected.count_requests) == (5, 10)
    assert sorted(wait for wait in waits.seconds if wait > 0) == [0.25 * turn for turn in range(1, 10)]


@pytest.mark.parametrize(
    ("fault", "failure", "status", "reason"),
    [
        ("too_many_requests", "http_status", 429, "status 429 Too Many Requests"),
        ("server_error", "http_status", 500, 'status 500 Internal Server Error: {"error": "out of order"}'),
        ("slow", "timeout", None, "no whole reply within 0.3 s"),
        ("truncated", "malformed_reply", 200, "the body must be JSON, got: "),
        ("wrong_types", "malformed_reply", 200, "the answer at $.answer must be a text, got a list"),
        ("missing_answer", "malformed_reply", 200, "$.answer is missing"),
        ("reset", "connection", None, "Error"),
    ],
)
def test_each_fault_is_tried_again_and_ends_as_a_failure_with_its_reason(
    tmp_path: Path, serve: Serve, fault: str, failure: str, status: int | None, reason: str
) -> None:
    settings = {"retry_after": "0", "slow_seconds": 1.5}
    limits = {"attempts": 3, "timeout_seconds": 0.3 if fault == "slow" else 10}
    passing = serve({fault: 1.0}, faulty_attempts=2, **settings)
    collected = collect(make_endpoint(tmp_path, url_of(passing), limits=limits), make_queries(2), tmp_path / "passing")
    assert (collected.count_answered, collected.count_failed, collected.count_requests) == (2, 0, 6)
    assert collected.is_complete
    assert read_lines(tmp_path / "passing" / FAILURES) == []

    lasting = serve({fault: 1.0}, faulty_attempts=3, **settings)
    collected = collect(make_endpoint(tmp_path, url_of(lasting), limits=limits), make_queries(2), tmp_path / "lasting")
    assert (collected.count_answered, collected.count_failed, collected.count_requests) == (0, 2, 6)
    assert not collected.is_complete
    # a reply of the application is an empty answer; what the network or a gateway does is none
    is_reply = failure == "malformed_reply" or status == 500
    assert [row["answer"] for row in read_lines(tmp_path / "lasting" / INTERACTIONS)] == ([""] * 2 if is_reply else [])
    assert collected.count_empty == 2 * is_reply
    rows = read_lines(tmp_path / "lasting" / FAILURES)
    assert [row["query_id"] for row in rows] == ["q0000", "q0001"]
    for row in rows:
        assert (row["failure"], row["status"], row["attempts"]) == (failure, status, 3)
        assert reason in row["reason"]

    # failures are asked again by the next run, and the service has recovered
    collected = collect(make_endpoint(tmp_path, url_of(lasting), limits=limits), make_queries(2), tmp_path / "lasting")
    assert (collected.count_answered, collected.count_requests, collected.is_complete) == (2, 2, True)
    assert all(row["answer"] for row in read_lines(tmp_path / "lasting" / INTERACTIONS))
    assert read_lines(tmp_path / "lasting" / FAILURES) == []


def test_retry_after_is_waited_and_longer_than_back_off(tmp_path: Path, serve: Serve) -> None:
    service = serve({"too_many_requests": 1.0}, faulty_attempts=3, retry_after="7")
    endpoint = make_endpoint(tmp_path, url_of(service), limits={"backoff_seconds": 4, "backoff_maximum_seconds": 10})
    waits = Waits()
    collected = collect(endpoint, make_queries(1), tmp_path / "out", sender=Sender(endpoint, sleep=waits))
    assert collected.is_complete
    # back-off alone would be 4, 8, 10
    assert waits.seconds == [7.0, 8.0, 10.0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 302])
def test_what_will_not_get_better_is_asked_once(tmp_path: Path, record: Record, status: int) -> None:
    server = record(lambda *request: (status, {"Location": "http://127.0.0.1:9/"}, b'{"error": "no"}'))
    collected = collect(make_endpoint(tmp_path, url_of(server)), make_queries(2), tmp_path / "out")
    assert (collected.count_failed, len(server.requests)) == (2, 2)
    (row, _) = read_lines(tmp_path / "out" / FAILURES)
    assert (row["failure"], row["status"], row["attempts"]) == ("http_status", status, 1)
    assert collected.count_empty == (2 if status in (400, 422) else 0)


def test_a_service_that_is_not_there_ends_the_run_early(tmp_path: Path) -> None:
    limits = {"attempts": 2, "concurrency": 2, "stop_after_failures": 5}
    endpoint = make_endpoint(tmp_path, "http://127.0.0.1:9/ask", limits=limits)
    collected = collect(endpoint, make_queries(50), tmp_path / "out")
    # the one under way beside the fifth is finished
    assert 5 <= collected.count_failed <= 6
    assert collected.count_unsent == 50 - collected.count_failed
    assert not collected.is_complete
    assert dict(collected.describe())["not sent"].startswith(f"{collected.count_unsent}: too many failed in a row")
    assert {row["failure"] for row in read_lines(tmp_path / "out" / FAILURES)} == {"connection"}


def test_a_body_without_end_is_given_up(tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hcat.collection.sending.MAXIMUM_BODY_BYTES", 1000)
    server = record(lambda *request: (200, {}, reply("x" * 2000)))
    collected = collect(make_endpoint(tmp_path, url_of(server)), make_queries(1), tmp_path / "out")
    assert collected.count_failed == 1
    assert "a reply must have at most 1000 bytes, got more" in (tmp_path / "out" / FAILURES).read_text()


def test_a_reply_that_drips_ends_at_the_timeout(tmp_path: Path, record: Record) -> None:
    def drip(*request: Any) -> tuple[int, dict[str, str], bytes]:
        time.sleep(0.05)
        return 200, {"Content-Length": "1000000"}, b'{"answer": "Yes.'

    endpoint = make_endpoint(tmp_path, url_of(record(drip)), limits={"timeout_seconds": 0.3, "attempts": 1})
    assert collect(endpoint, make_queries(1), tmp_path / "out").count_failed == 1
    assert read_lines(tmp_path / "out" / FAILURES)[0]["failure"] == "timeout"


def test_never_more_at_once_than_allowed(tmp_path: Path, record: Record) -> None:
    free, highest = threading.Semaphore(4), 0

    def respond(*request: Any) -> tuple[int, dict[str, str], bytes]:
        nonlocal highest
        assert free.acquire(blocking=False)
        highest = max(highest, 4 - free._value)
        time.sleep(0.01)
        free.release()
        return 200, {}, reply()

    endpoint = make_endpoint(tmp_path, url_of(record(respond)), limits={"concurrency": 4})
    assert collect(endpoint, make_queries(40), tmp_path / "out").count_requests == 40
    assert highest >= 2


def test_hostile_texts_arrive_unchanged_and_come_back_unchanged(tmp_path: Path, serve: Serve) -> None:
    service = serve()
    queries = [Query(f"q{number}", text, {"population": "test_set"}) for number, text in enumerate(HOSTILE)]
    path = tmp_path / "queries.jsonl"
    path.write_text("".join(json.dumps({"query_id": query.query_id, "text": query.text}) + "\n" for query in queries))
    assert read_queries(path) == queries
    assert collect(make_endpoint(tmp_path, url_of(service)), queries, tmp_path / "out").is_complete
    assert sorted(question for question, _, _ in service.received) == sorted(HOSTILE)
    sent = {row["query_id"]: row["query_text"] for row in read_lines(tmp_path / "out" / INTERACTIONS)}
    assert sent == {query.query_id: query.text for query in queries}
    assert {row["population"] for row in read_lines(tmp_path / "out" / INTERACTIONS)} == {"test_set"}


def test_a_body_is_json_of_the_values(tmp_path: Path, record: Record) -> None:
    server = record(lambda *request: (200, {}, reply()))
    body = {
        "input": {"messages": [{"role": "user", "content": "{{query}}"}]},
        "n": "{{sample_index}}",
        "id": "{{query_id}}",
    }
    endpoint = make_endpoint(
        tmp_path,
        url_of(server),
        request={
            "body": body,
            "headers": {"Idempotency-Key": "{{interaction_id}}"},
            "parameters": {"v": 2, "on": True},
        },
    )
    (query,) = [Query('q"1', HOSTILE[0] + HOSTILE[2], {})]
    collect(endpoint, [query], tmp_path / "out", samples=2)
    for method, path, headers, content in server.requests:
        received = json.loads(content)
        identity = identify(query.query_id, "harbourlight-example", "1.0", received["n"])
        assert (method, path) == ("POST", "/ask?on=true&v=2")
        assert received["input"] == {"messages": [{"role": "user", "content": query.text}]}
        assert (headers["Idempotency-Key"], headers["Content-Type"]) == (identity, "application/json")
    assert sorted(json.loads(content)["n"] for *_, content in server.requests) == [0, 1]


def test_get_sends_the_query_as_a_parameter(tmp_path: Path, record: Record) -> None:
    from urllib.parse import parse_qs, urlsplit

    server = record(lambda *request: (200, {}, reply()))
    request = {
        "method": "GET",
        "body": None,
        "headers": {},
        "parameters": {"q": "{{query}}", "key": "${RAG_SERVICE_TOKEN}"},
    }
    endpoint = make_endpoint(tmp_path, url_of(server), request=request)
    collect(endpoint, [Query("q1", "a&b=c #d ü\n+%", {})], tmp_path / "out")
    ((method, path, _, content),) = server.requests
    assert (method, content) == ("GET", b"")
    assert parse_qs(urlsplit(path).query) == {"q": ["a&b=c #d ü\n+%"], "key": [SECRET]}


def test_cookies_do_not_make_a_conversation(tmp_path: Path, record: Record) -> None:
    server = record(lambda *request: (200, {"Set-Cookie": "session=abc; Path=/"}, reply()))
    collect(make_endpoint(tmp_path, url_of(server), limits={"concurrency": 1}), make_queries(3), tmp_path / "out")
    assert len(server.requests) == 3
    assert not any("cookie" in name.lower() for _, _, headers, _ in server.requests for name in headers)


def test_secrets_are_in_no_file_log_or_message(
    tmp_path: Path, record: Record, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def respond(method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        seen = headers["Authorization"]
        kind = json.loads(body)["question"]
        if kind == "status":
            # the cut of an excerpt falls into the secret
            return 500, {}, b"x" * 178 + seen.encode()
        if kind == "error":
            return 200, {}, reply(error=f"the header was {seen}")
        contexts = [{"text": f"You sent {seen}", "chunk_id": SECRET, "score": 1}]
        return 200, {"X-Echo": seen}, reply(f"Your header is {seen}.", contexts=contexts)

    server = record(respond)
    endpoint = make_endpoint(
        tmp_path, url_of(server), request={"parameters": {"token": "${RAG_SERVICE_TOKEN}"}}, limits={"attempts": 1}
    )
    queries = [Query(kind, kind, {}) for kind in ("status", "error", "answer")]
    with caplog.at_level(logging.DEBUG):
        shown = describe_first_request(endpoint, queries, tmp_path / "out")
        collected = collect(endpoint, queries, tmp_path / "out")
    assert (collected.count_answered, collected.count_failed) == (1, 2)
    printed = capsys.readouterr()
    files = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    said = [caplog.text, printed.out, printed.err, str(shown), str(collected.describe()), repr(endpoint), files]
    escaped = json.dumps(SECRET)[1:-1]
    # nor any longer piece of it
    for text in said:
        assert "tell/nobody" not in text
        assert "tell%2Fnobody" not in text
        assert SECRET not in text
        assert escaped not in text
    row = read_lines(tmp_path / "out" / INTERACTIONS)[0]
    assert row["answer"] == f"Your header is Bearer {REDACTED}."
    reasons = {row["query_id"]: row["reason"] for row in read_lines(tmp_path / "out" / FAILURES)}
    assert f"Bearer {REDACTED}" in reasons["error"]


def test_a_second_run_sends_nothing_and_writes_the_same_bytes(tmp_path: Path, serve: Serve) -> None:
    service = serve()
    endpoint, out = make_endpoint(tmp_path, url_of(service)), tmp_path / "out"
    collect(endpoint, make_queries(20), out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    collected = collect(endpoint, make_queries(20), out)
    assert (collected.count_requests, collected.count_known, collected.is_complete) == (0, 20, True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    # more samples and more queries go beside what is there
    collected = collect(endpoint, make_queries(21), out, samples=2)
    assert (collected.count_known, collected.count_answered) == (20, 22)
    rows = read_lines(out / INTERACTIONS)
    assert [(row["query_id"], row["sample_index"]) for row in rows] == [
        (f"q{number:04d}", sample) for number in range(21) for sample in (0, 1)
    ]
    assert len({row["interaction_id"] for row in rows}) == 42
    # pinned: another derivation would ask everything again
    assert identify("q1", "app", "1.0", 0) == "05da1d531ab2e8f11dc09ff6c4458004"
    # a smaller test set takes nothing away
    collect(endpoint, make_queries(1), out)
    assert len(read_lines(out / INTERACTIONS)) == 42


def test_an_answer_is_never_mixed_with_another_question_or_description(tmp_path: Path, serve: Serve) -> None:
    service, out = serve(), tmp_path / "out"
    endpoint = make_endpoint(tmp_path, url_of(service))
    collect(endpoint, [Query("q1", "What does it cost?", {})], out)
    with pytest.raises(ValueError, match="query 'q1' was answered with another text"):
        collect(endpoint, [Query("q1", "What did it cost?", {})], out)
    other = make_endpoint(tmp_path, url_of(service), response={"scores": None})
    with pytest.raises(
        ValueError, match=r"answers of harbourlight-example 1\.0 that were asked or read in another way"
    ):
        collect(other, [Query("q2", "What does it cost?", {})], out)
    # limits, headers and the address are no evidence
    moved = make_endpoint(
        tmp_path, url_of(service, "/ask"), limits={"concurrency": 1}, request={"headers": {"X-Trace": "1"}}
    )
    assert collect(moved, [Query("q2", "What does it cost?", {})], out).is_complete
    assert len(service.received) == 2


def test_a_torn_last_line_is_dropped_and_asked_again(tmp_path: Path, serve: Serve) -> None:
    service, out = serve(), tmp_path / "out"
    endpoint = make_endpoint(tmp_path, url_of(service), limits={"concurrency": 1})
    collect(endpoint, make_queries(5), out)
    (out / JOURNAL).write_bytes((out / JOURNAL).read_bytes()[:-1])
    collected = collect(endpoint, make_queries(5), out)
    assert (collected.is_torn, collected.count_requests, collected.count_known) == (True, 1, 4)
    assert "dropped" in dict(collected.describe())
    assert len((out / JOURNAL).read_bytes().splitlines()) == 5
    assert not read_journal(out).is_torn


def test_a_broken_line_in_the_middle_stops_the_run(tmp_path: Path, serve: Serve) -> None:
    service, out = serve(), tmp_path / "out"
    endpoint = make_endpoint(tmp_path, url_of(service))
    collect(endpoint, make_queries(3), out)
    lines = (out / JOURNAL).read_bytes().splitlines(keepends=True)
    for broken in (b"\n", b"[]\n", b'{"a": 1}\n', lines[1][:50] + b"\n"):
        (out / JOURNAL).write_bytes(lines[0] + broken + lines[2])
        with pytest.raises(ValueError, match="line 2 is not a finished interaction"):
            collect(endpoint, make_queries(3), out)
    assert len(service.received) == 3


def test_a_full_disk_ends_the_run_and_leaves_whole_lines(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, out = serve(), tmp_path / "out"
    endpoint = make_endpoint(tmp_path, url_of(service), limits={"concurrency": 4})
    write, count = os.write, 0

    def fill_the_disk(descriptor: int, content: bytes) -> int:
        nonlocal count
        count += 1
        if count == 4:
            return write(descriptor, content[:40])
        if count > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, content)

    monkeypatch.setattr(os, "write", fill_the_disk)
    with pytest.raises(OSError, match="No space left"):
        collect(endpoint, make_queries(20), out)
    monkeypatch.setattr(os, "write", write)
    assert len(read_lines(out / JOURNAL)) == 3
    assert len(read_lines(out / INTERACTIONS)) == 3
    assert collect(endpoint, make_queries(20), out).is_complete


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        open_journal(tmp_path / "out"),
        pytest.raises(ValueError, match="another process collects into"),
        open_journal(tmp_path / "out"),
    ):
        pass
    # the lock goes with its owner
    with open_journal(tmp_path / "out") as journal:
        assert journal.records == {}


def test_logs_of_others_are_not_replaced(tmp_path: Path, serve: Serve) -> None:
    out = tmp_path / "logs"
    out.mkdir()
    (out / INTERACTIONS).write_text('{"interaction_id": "mine", "answer": "Yes."}\n')
    endpoint = make_endpoint(tmp_path, url_of(serve()))
    for attempt in (
        lambda: collect(endpoint, make_queries(1), out),
        lambda: describe_first_request(endpoint, make_queries(1), out),
    ):
        with pytest.raises(ValueError, match=r"logs holds interactions\.jsonl, which was not collected into it"):
            attempt()
    assert sorted(path.name for path in out.iterdir()) == [INTERACTIONS]


def test_half_a_surrogate_pair_in_an_answer_is_kept_escaped(tmp_path: Path, record: Record) -> None:
    server = record(lambda *request: (200, {}, b'{"answer": "broken \\ud83d here", "contexts": []}'))
    out = tmp_path / "out"
    assert collect(make_endpoint(tmp_path, url_of(server)), make_queries(1), out).is_complete
    assert read_lines(out / INTERACTIONS)[0]["answer"] == "broken \ud83d here"
    (row,) = [row for batch in read_entity("interactions", out) for row in batch.to_pylist()]
    assert row["read_error"] is None
    assert row["answer"] == "broken   here"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.txt", "", r"a file \*\.jsonl or \*\.csv, got"),
        ("q.jsonl", "", "holds no queries"),
        ("q.jsonl", '{"query_id": "a"}', "row 1: text must be a text, got nothing"),
        ("q.jsonl", '{"query_id": "a", "text": "T"}\n{"query_id', "row 2: malformed JSON"),
        (
            "q.jsonl",
            '{"query_id": "a", "text": "T"}\n{"query_id": "a", "text": "U"}',
            "row 2: the same query_id stands before with another",
        ),
        ("q.jsonl", '{"query_id": "a", "text": "\\ud800"}', "row 1: text cannot be encoded in UTF-8"),
        ("q.jsonl", "5\n" * 9, "row 3: not a JSON object but .* and 6 more"),
        ("q.csv", "query_id,text\na,b,c\n", "row 1: 3 fields where the header has 2"),
        ("q.csv", "key,text\na,b\n", "row 1: query_id must be a text, got nothing"),
    ],
)
def test_a_test_set_that_cannot_be_sent_whole_is_not_sent(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_queries(tmp_path / name)


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Describe:
    monkeypatch.setenv("RAG_SERVICE_TOKEN", SECRET)

    def write(url: str, **changes: Any) -> tuple[Path, Path]:
        make_endpoint(tmp_path, url, **changes)
        queries = tmp_path / "queries.jsonl"
        queries.write_text(
            "".join(json.dumps({"query_id": q.query_id, "text": q.text}) + "\n" for q in make_queries(3))
        )
        return tmp_path / "endpoint.yml", queries

    return write


def test_a_dry_run_shows_the_request_and_touches_nothing(
    tmp_path: Path, serve: Serve, described: Describe, hcat: Hcat
) -> None:
    service = serve()
    endpoint, queries = described(url_of(service))
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as warehouse:
        warehouse.execute(
            "create table base_queries as select query_id, text as query_text, 'staged' as record_status,"
            " null as parent_query_id, 'original' as variant_type"
            f" from read_json('{queries}')"
        )
    # by default the queries of the warehouse
    command = ("collect", endpoint, "--warehouse", tmp_path, "--output", tmp_path / "out", "--samples", 2, "--dry-run")
    shown = hcat(*command)
    assert "3 queries x 2 samples, 0 answered, 6 to send" in shown
    assert f"POST {url_of(service)}" in shown
    assert "Authorization: Bearer ${RAG_SERVICE_TOKEN}" in shown
    assert '"question": "What does card number 0 cost?"' in shown
    assert SECRET not in shown
    assert service.received == []
    assert not (tmp_path / "out").exists()


def test_exit_codes(tmp_path: Path, serve: Serve, described: Describe, hcat: Hcat) -> None:
    service = serve({"server_error": 1.0}, faulty_attempts=2)
    endpoint, queries = described(url_of(service), limits={"attempts": 2})
    command = ("collect", endpoint, "--queries", queries, "--output", tmp_path / "out")
    lines = [" ".join(line.split()) for line in hcat(*command, code=1).splitlines()]
    failed = "failed 3 replies count as empty answers, 0 without a reply of the application are missing"
    assert lines[:3] == ["answered 0 of 3", f"{failed}: see {tmp_path / 'out' / FAILURES}", "requests 6"]
    assert lines[-1] == "next run it again: what is answered is not asked again"
    lines = [" ".join(line.split()) for line in hcat(*command).splitlines()]
    assert lines[0] == "answered 3 of 3"
    assert lines[-1] == f"next HCAT_RAW_LOGS={tmp_path / 'out'} dbt build"
    for arguments, message in (
        (("collect", tmp_path / "none.yml", *command[2:]), f"hcat: cannot use {tmp_path / 'none.yml'}: No such file"),
        ((*command[:3], tmp_path / "none.jsonl", *command[4:]), f"hcat: cannot use {tmp_path / 'none.jsonl'}: No such"),
        ((*command, "--samples", 0), "hcat: samples must lie in 1 to 1000, got 0"),
        (("collect", endpoint, "--warehouse", tmp_path, "--output", tmp_path / "out"), "hcat: no warehouse at"),
    ):
        assert hcat(*arguments, code=2).startswith(message)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt: a test run in the background of a shell inherits that it is ignored."""
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, record: Record) -> None:
    count = 0

    def respond(*request: Any) -> tuple[int, dict[str, str], bytes]:
        nonlocal count
        count += 1
        if count > 5:
            time.sleep(30)
        return 200, {}, reply()

    server = record(respond)
    endpoint = make_endpoint(tmp_path, url_of(server), limits={"concurrency": 1, "timeout_seconds": 60})
    out = tmp_path / "out"
    sender = Sender(endpoint)

    def interrupt() -> None:
        while count <= 5:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        collect(endpoint, make_queries(20), out, sender=sender)
    assert len(read_lines(out / INTERACTIONS)) == 5
