"""Every page and every command that reads a build, on logs in which each optional field is missing somewhere."""

import re
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


def value_of(column: str, number: int) -> Any:
    """Return what the record of a number has in a column, whatever its entity."""
    plan = number // 2
    values = {
        "interaction_id": f"i{number}",
        "run_id": f"run_{number % 2}",
        "query_id": f"q{plan}",
        "parent_query_id": f"q{plan - plan % 2}",
        "source_group": f"d{plan}",
        "query_group": f"g{plan // 2}",
        "document_id": f"d{plan}",
        "chunk_id": f"k{plan}",
        "source_chunk_ids": [f"k{plan}"],
        "conversation_id": f"c{number // 4}",
        "turn_index": number % 4,
        "application": "desk",
        "application_version": ("1.0", "1.1")[number % 2],
        "language": "en",
        "customer_group": ("retail", "business")[number % 3 == 0],
        "population": "production",
        "query_text": f"What is the fee of plan {plan}?",
        "text": f"What is the fee of plan {plan}? It is €{number} a month.",
        "title": f"Plan {plan}",
        "topic": TOPICS[plan % 3],
        "answer": f"The fee of plan {plan} is €{number}. It is due each month." if number % 5 else "",
        "reference_answer": f"€{number}.",
        "tags": {"topic": TOPICS[plan % 3], "channel": "web"},
        "asked_at": f"2026-{5 + number % 4:02}-{1 + number % 28:02}T10:00:00Z",
        "rated_at": "2026-09-01T10:00:00Z",
        "answer_sentence_weights": [1, 1],
        "latency_seconds": 1.5,
        "retrieval_score": 0.5,
        "inclusion_probability": 0.5,
        "cost": 0.002,
        "language_model": "m",
        "query_type": ("lookup", "yes_no")[plan % 2],
        "difficulty": "easy",
        "answer_type": "amount",
        "expected_behaviour": "answer",
        "variant_type": "paraphrase" if plan % 2 else "original",
        "rater": f"reader_{number % 2}",
        "judge": "reader_1",
        "rater_kind": "person",
        "criterion": "groundedness",
        "scale_point": number % 3,
        "grade": plan % 2,
        "review_round": "spring",
        "sampling": "uniform",
        "comment": "read twice",
        "reason_end": 4,
    }
    if column.endswith("_weights"):
        return values.get(column, [1])
    # whatever else there is, is a number
    return values.get(column, 0 if column in ("sample_index", "chunk_index", "reason_start") else 1)


def write_records() -> dict[str, list[dict[str, Any]]]:
    """Return records of each entity in which nothing is missing; two interactions ask each query."""
    of_interactions = ("interactions", "retrievals", "ratings")
    return {
        name: [
            {column: value_of(column, number) for column in ENTITIES[name].columns}
            for number in range(0, COUNT, 1 if name in of_interactions else 2)
        ]
        for name in ENTITIES.keys() - {"spans"}
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
        write_lines(tmp_path / "logs" / f"{entity}.jsonl", leave_out(entity, rows))
    build = dbt("build --exclude-resource-type test", tmp_path / "logs", tmp_path / "warehouse")
    assert build.exit_code == 0, build.output
    assert_pages_are_written(build, tmp_path, monkeypatch)


def test_a_share_of_failures_is_the_same_number_on_every_page(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = Build(0, "", tmp_path, built)
    assert_pages_are_written(build, tmp_path, monkeypatch)
    summary = CliRunner().invoke(app, ["summary", "--warehouse", str(built)]).output
    report, explorer = (read_words(tmp_path / f"{page}.html") for page in ("report", "explorer"))
    rates = build.query(
        "select rates.criterion, rates.system, rates.population, rates.failure_rate, rates.failure_rate_lower,"
        " rates.failure_rate_upper, decisions.release_population = rates.population as is_released"
        " from fct_failure_rates as rates inner join fct_release_decisions as decisions using (system)"
        " where rates.dimension = 'all' and rates.failure_rate is not null and rates.population <> 'variant'"
    )
    assert any(row[0] == "verdict" and row[-1] for row in rates)
    decided = dict(build.query("select system, failure_rate from fct_release_decisions"))
    gates = build.query(
        "select measured_value from fct_threshold_gates where gate_name = 'answers_release'"
        " order by build_number desc limit 1"
    )
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
