"""Gates decide the exit code and what is published: a good build, one that fails, one with nothing to measure."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as parquet
import pytest
from builds import COUNT_SMALL, SETTINGS, Build, Dbt, copy_build, query, write_lines

from hcat.engine.publication import ALWAYS_PUBLISHED
from hcat.monitoring.alerts.sending import send_alerts
from hcat.report import summarise, write_report

COUNT_GOOD = COUNT_SMALL
COUNT_BLANK = 60


@pytest.fixture(scope="module")
def good(small: Build, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Interactions alone: no ratings, documents, references or retrievals."""
    return copy_build(small, tmp_path_factory.mktemp("good"))


@pytest.fixture(scope="module")
def published_by_good(good: Build) -> dict[str, list[tuple[Any, ...]]]:
    """What the good build published, read before the next build."""
    return read_published(good.warehouse / "published" / "hcat.duckdb")


@pytest.fixture(scope="module")
def behind(dbt: Dbt, good: Build, published_by_good: object) -> Build:
    """A build of the same warehouse whose clock is behind: that of the good build was 400 days ahead."""
    times = {
        "hcat_builds": "logged_at",
        "dim_runs": "started_at",
        "fct_threshold_gates": "evaluated_at",
        "fct_run_metrics": "measured_at",
    }
    with duckdb.connect(str(good.warehouse / "hcat.duckdb")) as connection:
        for table, time in times.items():
            connection.execute(f"update {table} set {time} = {time} + interval 400 day")
    return dbt("build", good.raw, good.warehouse)


@pytest.fixture(scope="module")
def bad(dbt: Dbt, good: Build, behind: Build) -> Build:
    """The next build of the same warehouse, which was told to go on: most answers are blank."""
    # every query its own: siblings of one query would count as one source
    blank = [
        {"interaction_id": f"blank_{number}", "query_text": f"What is rate {number}?", "answer": " "}
        for number in range(COUNT_BLANK)
    ]
    write_lines(good.raw / "interactions_later.jsonl", blank)
    return dbt("build", good.raw, good.warehouse, variables=SETTINGS)


@pytest.fixture(scope="module")
def empty(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """A file with a header and no rows."""
    raw, warehouse = tmp_path_factory.mktemp("empty_logs"), tmp_path_factory.mktemp("empty_warehouse")
    (raw / "interactions.csv").write_text("interaction_id,query_text,answer\n")
    return dbt("build", raw, warehouse)


def read_published(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    marts = [name for (name,) in query(database, "select table_name from information_schema.tables")]
    return {name: sorted(query(database, f'select * from "{name}"'), key=str) for name in marts}


def test_interactions_alone_pass(good: Build) -> None:
    assert good.exit_code == 0, good.output


def test_statuses_say_what_is_missing(good: Build) -> None:
    rows = good.query(
        "select metric_name, score_status, detail from fct_evaluations where interaction_id = 'good_0'"
        " and metric_name in ('answered', 'answer_relevancy__mean', 'groundedness_similarity__mean', 'rouge_l',"
        " 'recall_at_5', 'completeness_similarity__weighted')"
    )
    assert {name: (status, detail) for name, status, detail in rows if status != "scored"} == {
        "groundedness_similarity__mean": ("missing_input", "missing: context"),
        "completeness_similarity__weighted": ("missing_input", "missing: context"),
        "rouge_l": ("missing_input", "missing: reference answer"),
        "recall_at_5": ("missing_input", "missing: retrieved chunk ids with known relevance"),
    }
    assert {name for name, status, _ in rows if status == "scored"} == {"answered", "answer_relevancy__mean"}


def test_a_gate_of_severity_warn_does_not_stop_the_build(good: Build) -> None:
    lines = good.gate_lines()
    assert lines
    assert all("(warn)" in line for line in lines)
    assert good.query("select count(*) > 0 from gate_verdicts where severity = 'warn' and not is_passing") == [(True,)]
    assert (good.warehouse / "published" / "fct_evaluations.parquet").exists()


def test_a_clock_behind_the_last_build_stops_the_build_before_a_model_runs(behind: Build) -> None:
    assert behind.exit_code == 2
    said = [line.strip() for line in behind.output.splitlines() if "the clock is behind the last build" in line]
    assert len(said) == 1
    assert said[0].endswith("build once with --vars '{hcat_clock_was_ahead: true}'")
    assert " OK created " not in behind.output


def test_every_reader_takes_the_build_of_the_largest_number_for_the_newest(bad: Build) -> None:
    times = "select started_at from dim_runs order by build_number"
    (first,), (last,) = bad.query(times)
    assert last < first, "the clock of the first build was ahead"
    summary = dict(summarise(bad.warehouse))
    assert summary["build"].startswith("Failed: ")
    assert "do not release" in summary["release"]
    page = write_report(bad.warehouse, bad.warehouse / "report.html").read_text("utf-8")
    assert "do not release" in page
    titles = [message.events[0].title for message in send_alerts(bad.warehouse, is_dry_run=True).messages]
    assert "Gate answers_present: failed (error)" in titles
    # and the age of the newest build is known again
    late = datetime.now(UTC) + timedelta(days=3)
    aged = send_alerts(bad.warehouse, is_dry_run=True, maximum_age_hours=36, now=late).messages
    assert any(message.events[0].title.startswith("No build since") for message in aged)


def test_a_build_that_could_not_publish_passes_nowhere_and_says_why_in_one_line(
    dbt: Dbt, small: Build, tmp_path: Path
) -> None:
    build = copy_build(small, tmp_path)
    # nothing can be written under this name
    blocked = build.warehouse / "published" / "candidate" / ".dim_runs.parquet.writing"
    blocked.mkdir()
    again = "build --exclude-resource-type test --select fct_threshold_gates+"
    broken = dbt(again, build.raw, build.warehouse)
    assert broken.exit_code == 1, broken.output
    assert "Traceback" not in broken.output
    (said,) = [line.strip() for line in broken.output.splitlines() if line.strip().startswith("hcat: cannot use ")]
    assert said.endswith(f"published/candidate/{blocked.name}: Is a directory")
    passing = "select is_passing from dim_runs order by build_number"
    assert broken.query(passing) == [(True,), (False,)]
    summary = dict(summarise(build.warehouse))
    assert summary["build"].startswith("Not published: ")
    assert "Not published" in write_report(build.warehouse, build.warehouse / "report.html").read_text("utf-8")
    titles = [message.events[0].title for message in send_alerts(build.warehouse, is_dry_run=True).messages]
    assert any(
        title.startswith("The last build, of ") and title.endswith("did not publish its tables") for title in titles
    )
    # the next one is whole, and what BI reads tells the two apart
    blocked.rmdir()
    assert dbt(again, build.raw, build.warehouse).exit_code == 0
    assert query(build.warehouse / "published" / "hcat.duckdb", passing) == [(True,), (False,), (True,)]


def test_a_failing_error_gate_fails_the_build_in_one_line(bad: Build) -> None:
    assert bad.exit_code == 1, bad.output
    assert "Traceback" not in bad.output
    lines = [line for line in bad.gate_lines() if "(error)" in line]
    assert len(lines) == 1, lines
    assert "GATE FAILED (error) answers_present: " in lines[0]
    assert f"n = {COUNT_GOOD + COUNT_BLANK} scored answers)" in lines[0]


def test_every_gate_that_does_not_pass_has_one_line(bad: Build) -> None:
    names = [
        name for (name,) in bad.query("select gate_name from gate_verdicts where not is_passing order by gate_name")
    ]
    printed = sorted(line.split("GATE ", 1)[1].split(") ", 1)[1].split(":", 1)[0] for line in bad.gate_lines())
    assert printed == names


def test_the_published_scores_are_those_of_the_last_passing_build(
    bad: Build, published_by_good: dict[str, list[tuple[Any, ...]]]
) -> None:
    published = read_published(bad.warehouse / "published" / "hcat.duckdb")
    assert published.keys() == published_by_good.keys()
    changed = {name for name in published if published[name] != published_by_good[name]}
    assert {"dim_runs", "fct_release_decisions", "fct_threshold_gates"} <= changed <= set(ALWAYS_PUBLISHED)
    assert len(published["fct_interactions"]) == COUNT_GOOD


def test_the_candidate_holds_the_scores_of_the_failed_build(bad: Build) -> None:
    folder = bad.warehouse / "published" / "candidate"
    assert query(folder / "hcat.duckdb", "select count(*) from fct_interactions") == [(COUNT_GOOD + COUNT_BLANK,)]
    assert parquet.read_metadata(folder / "fct_interactions.parquet").num_rows == COUNT_GOOD + COUNT_BLANK
    # and a page of the published copy is of that build alone
    of_copy, own = (dict(summarise(bad.warehouse / name)) for name in ("published", ""))
    assert of_copy["interactions"] == own["interactions"]
    assert "this page is of this build, and published/ is not" in of_copy["build"]


def test_without_an_interaction_the_build_ends_with_the_cause_and_no_wall_of_gates(empty: Build) -> None:
    assert empty.exit_code == 1, empty.output
    assert "Traceback" not in empty.output
    causes = {line.strip() for line in empty.output.splitlines() if "hcat raw logs:" in line}
    assert len(causes) == 1, empty.output
    assert "no interaction could be used: the files hold no record" in causes.pop()
    assert empty.gate_lines() == []
    failed = [line for line in empty.output.splitlines() if " FAIL " in line or " ERROR creating " in line]
    assert len(failed) == 1, failed
    assert not (empty.warehouse / "published" / "fct_evaluations.parquet").exists()
