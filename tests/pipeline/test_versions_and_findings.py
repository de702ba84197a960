"""Two releases: the first is silent about loans, the second mends that and breaks cards. What the marts say of it."""

from __future__ import annotations

from typing import Any

import pytest
from builds import UNTESTED, Build, Dbt, write_lines

COUNT_LOANS = 40
COUNT_CARDS = 200
COUNT_SILENT_LOANS = 36
COUNT_SILENT_CARDS = 30
#: Questions about loans that only the second release was asked, all answered.
COUNT_MORE_LOANS = 400


def ask(version: str, topic: str, number: int, is_silent: bool, day: int) -> dict[str, Any]:
    """One call without a query id: the text pairs the versions."""
    spaces = " " if version == "1.0" else "  "
    return {
        "interaction_id": f"{version}_{topic}_{number}",
        "application": "assistant",
        "application_version": version,
        "query_text": f"What is{spaces}the fee of {topic} {number}?",
        "answer": " " if is_silent else f"The fee is {number}.",
        "asked_at": f"2026-05-{day:02}T09:00:00Z",
        "tags": {"topic": topic},
    }


@pytest.fixture(scope="module")
def first(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    raw, warehouse = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("warehouse")
    calls = [ask("1.0", "loans", number, number < COUNT_SILENT_LOANS, 4) for number in range(COUNT_LOANS)]
    calls += [ask("1.0", "cards", number, False, 5) for number in range(COUNT_CARDS)]
    write_lines(raw / "interactions_1.jsonl", calls)
    return dbt("build", raw, warehouse)


@pytest.fixture(scope="module")
def register_of_first(first: Build) -> list[tuple[Any, ...]]:
    """The register after the first build, read before the second."""
    return read_register(first)


@pytest.fixture(scope="module")
def second(dbt: Dbt, first: Build, register_of_first: object) -> Build:
    calls = [ask("1.1", "loans", number, False, 12) for number in range(COUNT_LOANS + COUNT_MORE_LOANS)]
    calls += [ask("1.1", "cards", number, number < COUNT_SILENT_CARDS, 13) for number in range(COUNT_CARDS)]
    write_lines(first.raw / "interactions_2.jsonl", calls)
    return dbt(UNTESTED, first.raw, first.warehouse)


def read_register(build: Build) -> list[tuple[Any, ...]]:
    return build.query(
        "select finding_id, kind, status, retest_result, first_seen_run, last_seen_run, difference from fct_findings"
        " where metric_name = 'answered' and first_dimension = 'topic' and first_segment = 'loans'"
        " and second_dimension is null"
    )


def test_both_builds_pass(first: Build, second: Build) -> None:
    assert first.exit_code == 0, first.output
    assert second.exit_code == 0, second.output


def test_one_version_has_nothing_to_be_compared_with(first: Build, second: Build) -> None:
    # the gate of the first build is not evaluated, which warns and does not stop it
    verdicts = first.query(
        "select verdict from fct_threshold_gates where gate_name = 'answers_against_predecessor' and build_number = 1"
    )
    assert set(verdicts) == {("not_evaluated",)}


def test_the_second_release_is_better_at_loans_and_worse_at_cards(second: Build) -> None:
    rows = second.query(
        "select segment, count_pairs, difference, verdict, count_regressions, count_improvements"
        " from fct_version_comparisons where metric_name = 'answered' and measurement = 'share_failing_of_all'"
        " and dimension = 'topic' and is_latest order by segment"
    )
    assert rows == [
        ("cards", COUNT_CARDS, pytest.approx(-COUNT_SILENT_CARDS / COUNT_CARDS), "worse", COUNT_SILENT_CARDS, 0),
        ("loans", COUNT_LOANS, pytest.approx(COUNT_SILENT_LOANS / COUNT_LOANS), "better", 0, COUNT_SILENT_LOANS),
    ]


def test_the_regressions_name_both_answers(second: Build) -> None:
    rows = second.query(
        "select topic, baseline_interaction_ids, candidate_interaction_ids from fct_version_regressions"
        " where metric_name = 'answered' order by candidate_interaction_ids"
    )
    expected = sorted(f"1.1_cards_{number}" for number in range(COUNT_SILENT_CARDS))
    assert rows == [("cards", [name.replace("1.1", "1.0", 1)], [name]) for name in expected]


def test_a_weakness_is_registered_and_closed_by_the_data(
    register_of_first: list[tuple[Any, ...]], second: Build
) -> None:
    assert len(register_of_first) == 1
    finding_id, kind, status, retest, first_run, last_run, difference = register_of_first[0]
    assert (kind, status, retest) == ("suspected", "open", "weak")
    assert first_run == last_run
    assert difference == pytest.approx(COUNT_SILENT_LOANS / COUNT_LOANS)
    # by then 36 of 480 answers about loans are silent, and 30 of 400 about cards
    assert read_register(second) == [
        (finding_id, kind, "closed_by_data", "no_longer_weak", first_run, last_run, difference)
    ]
    assert second.query("select count(distinct run_id) from int_findings_seen where cell_id = ?", finding_id) == [(2,)]


def test_silence_without_a_known_source_is_nobodys_fault(second: Build) -> None:
    rows = second.query(
        "select fault, reason, count(*) from fct_failure_causes where metric_name = 'answered' group by fault, reason"
    )
    assert rows == [("undetermined", "no_source_known", COUNT_SILENT_LOANS + COUNT_SILENT_CARDS)]


def test_logs_without_a_test_set_say_so(second: Build) -> None:
    assert second.query("select distinct status from fct_representativeness") == [("no_test_set",)]


def test_a_system_that_was_never_asked_twice_has_no_replicates(second: Build) -> None:
    assert second.query("select distinct status from fct_replicate_variation") == [("no_replicates",)]
