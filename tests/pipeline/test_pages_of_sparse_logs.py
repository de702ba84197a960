"""Every page and every command that reads a build, on logs in which each optional field is missing somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builds import Build, Dbt, write_lines
from typer.testing import CliRunner

from hcat.cli import app
from hcat.landing.raw_contract import ENTITIES
from hcat.monitoring.words import say_share

COUNT = 60
TOPICS = ("fees", "cards", "loans")
#: Everything that a command can write of a build, or say of it.
PAGES = (
    ("explore", "--output", "explorer.html"),
    ("explore", "--unmasked", "--output", "unmasked.html"),
    ("report", "--output", "report.html"),
    ("summary",),
    ("alert", "--dry-run", "--maximum-age-hours", "36"),
    ("labels", "desk", "--output", "desk.html"),
    ("labels", "desk", "--unmasked", "--output", "unmasked_desk.html"),
    ("labels", "export", "--output", "sheet.csv"),
    ("labels", "status"),
)


def write_interactions() -> Iterator[dict[str, Any]]:
    for number in range(COUNT):
        yield {
            "interaction_id": f"i{number}",
            "run_id": f"run_{number % 2}",
            "query_id": f"q{number // 2}",
            "application": "desk",
            "application_version": ("1.0", "1.1")[number % 2],
            "language": "en",
            "customer_group": ("retail", "business")[number % 3 == 0],
            "population": "production",
            "query_text": f"What is the fee of plan {number // 2}?",
            "answer": f"The fee of plan {number // 2} is €{number}. It is due each month." if number % 5 else "",
            "tags": {"topic": TOPICS[number % 3], "channel": "web"},
            "sample_index": 0,
            "asked_at": f"2026-{5 + number % 4:02}-{1 + number % 28:02}T10:00:00Z",
            "conversation_id": f"c{number // 4}",
            "turn_index": number % 4,
            "query_sentence_weights": [1],
            "answer_sentence_weights": [1, 1],
            "count_retrieved": 1,
            "latency_seconds": 1.5,
            "count_input_tokens": 900,
            "count_output_tokens": 40,
            "cost": 0.002,
            "language_model": "m",
            "prompt_version": "3",
        }


def write_records() -> dict[str, list[dict[str, Any]]]:
    """Return records of each entity in which nothing is missing."""
    numbers = range(COUNT // 2)
    return {
        "interactions": list(write_interactions()),
        "retrievals": [
            {
                "interaction_id": f"i{number}",
                "chunk_id": f"k{number // 2}",
                "text": f"Plan {number // 2} costs €{number} a month.",
                "rank": 1,
                "retrieval_score": 0.5,
                "completeness_weight": 1,
                "list_position": 1,
            }
            for number in range(COUNT)
        ],
        "queries": [
            {
                "query_id": f"q{number}",
                "parent_query_id": f"q{number - number % 2}",
                "source_group": f"d{number}",
                "query_group": f"g{number // 2}",
                "text": f"What is the fee of plan {number}?",
                "reference_answer": f"€{2 * number}.",
                "source_chunk_ids": [f"k{number}"],
                "query_type": ("lookup", "yes_no")[number % 2],
                "difficulty": "easy",
                "answer_type": "amount",
                "expected_behaviour": "answer",
                "variant_type": "paraphrase" if number % 2 else "original",
                "sampling_weight": 1,
                "tags": {"topic": TOPICS[number % 3]},
                "query_sentence_weights": [1],
                "reference_sentence_weights": [1],
            }
            for number in numbers
        ],
        "documents": [
            {"document_id": f"d{number}", "title": f"Plan {number}", "topic": TOPICS[number % 3], "text": "A plan."}
            for number in numbers
        ],
        "chunks": [
            {
                "chunk_id": f"k{number}",
                "document_id": f"d{number}",
                "topic": TOPICS[number % 3],
                "text": f"Plan {number} costs €{2 * number} a month.",
                "chunk_index": 0,
            }
            for number in numbers
        ],
        "ratings": [
            {
                "interaction_id": f"i{number}",
                "rater": f"reader_{number % 2}",
                "rater_kind": "person",
                "criterion": "groundedness",
                "guideline_version": "1",
                "scale_point": number % 3,
                "rating_pass": 1,
                "rated_at": "2026-09-01T10:00:00Z",
                "review_round": "spring",
                "sampling": "uniform",
                "inclusion_probability": 0.5,
                "comment": "read twice",
                "correction": 1,
                "reason_start": 0,
                "reason_end": 4,
            }
            for number in range(COUNT)
        ],
        "relevance_judgements": [
            {"query_id": f"q{number}", "chunk_id": f"k{number}", "judge": "reader_1", "grade": number % 2}
            for number in numbers
        ],
    }


def leave_out(entity: str, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records: each optional field is missing in one of them, and all of them in the last one."""
    required = set(ENTITIES[entity].required)
    optional = [name for name in ENTITIES[entity].columns if name not in required]
    assert len(records) > len(optional)
    left_out: list[set[str]] = [{name} for name in optional] + [set() for _ in records[len(optional) : -1]]
    return [
        {name: value for name, value in record.items() if name not in missing}
        for record, missing in zip(records, [*left_out, set(optional)], strict=True)
    ]


def test_every_page_is_written_of_logs_without_optional_fields(
    dbt: Dbt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = write_records()
    for entity, rows in records.items():
        assert set(rows[0]) == set(ENTITIES[entity].columns)
        write_lines(tmp_path / "logs" / f"{entity}.jsonl", leave_out(entity, rows))
    build = dbt("build --exclude-resource-type test", tmp_path / "logs", tmp_path / "warehouse")
    assert build.exit_code == 0, build.output
    assert_pages_are_written(build, tmp_path, monkeypatch)


def test_a_share_of_failures_is_the_same_number_on_every_page(
    small: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_pages_are_written(small, tmp_path, monkeypatch)
    summary = CliRunner().invoke(app, ["summary", "--warehouse", str(small.warehouse)]).output
    report, explorer = (read_words(tmp_path / f"{page}.html") for page in ("report", "explorer"))
    rates = small.query(
        "select rates.criterion, rates.system, rates.population, rates.failure_rate, rates.failure_rate_lower,"
        " rates.failure_rate_upper, decisions.release_population = rates.population as is_released"
        " from fct_failure_rates as rates inner join fct_release_decisions as decisions using (system)"
        " where rates.dimension = 'all' and rates.failure_rate is not null"
    )
    assert any(row[0] == "verdict" and row[-1] for row in rates)
    decided = dict(small.query("select system, failure_rate from fct_release_decisions"))
    gates = small.query("select measured_value from fct_threshold_gates where gate_name = 'answers_release'")
    for criterion, system, population, rate, lower, upper, is_released in rates:
        assert say_share(rate, lower, upper) in report.split("How often is it wrong?")[-1]
        assert f'"population":"{population}"' in explorer
        assert f'"failure_rate":{rate}' in explorer
        if criterion == "verdict" and is_released:
            said = say_share(rate)
            assert decided[system] == rate
            assert [(rate,)] == gates
            assert said in summary
            assert said in report.split("Read these answers first")[0]


def read_words(page: Path) -> str:
    """Return what a page says: its text for people, and the data of an explorer."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.read_text("utf-8")).split())


def assert_pages_are_written(build: Build, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for arguments in PAGES:
        done = CliRunner().invoke(app, [*arguments, "--warehouse", str(build.warehouse)])
        assert done.exit_code == 0, (arguments, done.exception, done.output)
        for name in arguments:
            if name.endswith((".html", ".csv")):
                assert (folder / name).stat().st_size > 0
