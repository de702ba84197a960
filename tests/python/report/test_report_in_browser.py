"""The report of 5,000 interactions in a browser: small, without a complaint of the console, without a request."""

import csv
import re
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import test_report
from desks import Visit
from loopback import Loopback, start_server
from test_report import HOSTILE, parse
from test_report_calibration import make_calibrated
from test_report_evidence import add_evidence

from hcat import report
from hcat.report.document import SECTIONS
from hcat.report.pdf import print_pdf

SEEDS = Path(__file__).resolve().parents[3] / "seeds"
PAIRS = (("topic", "query_type"), ("topic", "system"), ("query_type", "system"), ("topic", "language"))

#: The report of 5,000 interactions stays below it.
MAXIMUM_BYTES = 1_000_000


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


def test_a_browser_shows_it_without_a_complaint_and_without_a_request(large_report: Path, browser: Any) -> None:
    seen = Visit(browser.new_page(), large_report)
    assert (seen.complaints, seen.requests) == ([], [])
    tags = parse(seen.page.content()).tags
    # without a comparison of people, one section is left out
    assert tags.count("section") == len(SECTIONS) - 1
    assert tags.count("svg") >= 7
    assert not {"script", "img", "iframe"} & set(tags)


def test_the_policy_of_the_report_stops_what_asks(large_report: Path, tmp_path: Path, browser: Any) -> None:
    # the same report with an image smuggled in: the browser complains, and the server is not asked
    page = tmp_path / "smuggled.html"
    with ExitStack() as stack:
        server = start_server(stack, Loopback(lambda *request: (200, {}, b"")))
        smuggled = f'<main><img src="{server.url}/a.png" alt="">'
        page.write_text(large_report.read_text(encoding="utf-8").replace("<main>", smuggled, 1), encoding="utf-8")
        seen = Visit(browser.new_page(), page)
    assert server.requests == []
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
