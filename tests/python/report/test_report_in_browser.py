"""The report of 5,000 interactions in a browser: small, without a complaint of the console, without a request.

What a page asks of the network is read from Chromium's own log of it. The browser's requests on its own behalf (time,
updates) stand there too and have no origin; a page that does ask proves that the test would see it.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
import test_report
from test_report import HOSTILE, parse
from test_report_calibration import make_calibrated
from test_report_evidence import add_evidence

from hcat import report
from hcat.report.document import SECTIONS
from hcat.report.pdf import print_pdf

SEEDS = Path(__file__).resolve().parents[3] / "seeds"
PAIRS = (("topic", "query_type"), ("topic", "system"), ("query_type", "system"), ("topic", "language"))

#: The report of 5,000 interactions stays below it.
MAXIMUM_BYTES = 2_000_000
#: Chromium: of a request that no page made.
NO_PAGE = "not an origin"

ASKING_PAGE = """<!doctype html><html><head><link rel="stylesheet" href="http://127.0.0.1:9/a.css"></head>
<body><img src="http://127.0.0.1:9/a.png" alt=""><script>undefinedFunction();</script></body></html>"""


class Visit(NamedTuple):
    """What the browser said about a page: complaints of the console, addresses asked for, the page as it became."""

    complaints: list[str]
    requests: list[str]
    page: str


def visit(path: Path, folder: Path) -> Visit:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("chromium is not installed: the report is not looked at by a browser")
    log = folder / "network.json"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += ["--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}"]
    shown = subprocess.run(
        [*command, "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=300, check=True
    )
    logged = json.loads(log.read_text(encoding="utf-8"))
    started = logged["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [event.get("params", {}) for event in logged["events"] if event["type"] == started]
    return Visit(
        [line for line in shown.stderr.splitlines() if "CONSOLE" in line],
        [one["url"] for one in asked if "url" in one and one.get("initiator") != NO_PAGE],
        shown.stdout,
    )


def list_metrics() -> list[tuple[object, ...]]:
    """All metrics of the shipped catalogue with the shipped decisions, as test_report makes them."""
    with (SEEDS.parent / "decisions" / "threshold_decisions.csv").open(encoding="utf-8") as file:
        decided = {row["metric_name"]: float(row["threshold"]) for row in csv.DictReader(file)}
    with (SEEDS / "metric_catalog.csv").open(encoding="utf-8") as file:
        return [
            (
                row["metric_name"],
                row["family"],
                row["unit"],
                float(row["range_low"]),
                decided.get(row["metric_name"]),
                row["is_primary"] == "true",
                row["requires"],
            )
            for row in csv.DictReader(file)
        ]


@pytest.fixture(scope="module")
def large_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of 5,000 long interactions in 400 topics and 40 systems, all metrics and pairs, with hostile names everywhere."""
    folder = tmp_path_factory.mktemp("large")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_report, "METRICS", list_metrics())
        patch.setattr(test_report, "PAIRS", PAIRS)
        warehouse = make_calibrated(
            folder, text=HOSTILE, count=5000, count_topics=400, count_systems=40, answer="a long answer " * 150
        )
    return report.write_report(add_evidence(warehouse, HOSTILE), folder / "report.html")


def test_the_report_of_five_thousand_interactions_is_small(large_report: Path) -> None:
    assert large_report.stat().st_size < MAXIMUM_BYTES


def test_a_browser_shows_it_without_a_complaint_and_without_a_request(large_report: Path, tmp_path: Path) -> None:
    seen = visit(large_report, tmp_path)
    assert seen.complaints == []
    assert seen.requests == []
    tags = parse(seen.page).tags
    # without a comparison of people, one section is left out
    assert tags.count("section") == len(SECTIONS) - 1
    assert tags.count("svg") >= 10
    assert not {"script", "img", "iframe"} & set(tags)


def test_a_page_that_asks_and_fails_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "asking.html"
    page.write_text(ASKING_PAGE, encoding="utf-8")
    seen = visit(page, tmp_path)
    assert sorted(seen.requests) == ["http://127.0.0.1:9/a.css", "http://127.0.0.1:9/a.png"]
    assert "undefinedFunction is not defined" in "".join(seen.complaints)


def test_the_policy_of_the_report_stops_what_asks(large_report: Path, tmp_path: Path) -> None:
    # the same report with an image smuggled in: the browser complains and asks for nothing
    page = tmp_path / "smuggled.html"
    text = large_report.read_text(encoding="utf-8")
    page.write_text(text.replace("<main>", '<main><img src="http://127.0.0.1:9/a.png" alt="">', 1), encoding="utf-8")
    seen = visit(page, tmp_path)
    assert seen.requests == []
    assert "Content Security Policy" in "".join(seen.complaints)


def test_the_pdf_has_what_is_folded_only_in_full(tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed: nothing prints the report")
    page = tmp_path / "page.html"
    page.write_text(f"<html><body><details>{'<p>line</p>' * 300}</details></body></html>", encoding="utf-8")
    for is_full in (False, True):
        printed = print_pdf(page, page.with_suffix(".pdf"), is_full=is_full)
        count = len(re.findall(rb"/Type /Page\b", printed.read_bytes()))
        assert (count > 5) if is_full else (count == 1)
    assert not list(tmp_path.glob("*.writing"))


def test_without_a_browser_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"^no browser prints the PDF: install Chromium"):
        print_pdf(tmp_path / "page.html", tmp_path / "page.pdf")
    browser = tmp_path / "chromium"
    browser.write_text("#!/bin/sh\necho cannot start >&2\n", encoding="utf-8")
    browser.chmod(0o755)
    with pytest.raises(ValueError, match=r"chromium printed no PDF, it said: cannot start$"):
        print_pdf(tmp_path / "page.html", tmp_path / "page.pdf")
