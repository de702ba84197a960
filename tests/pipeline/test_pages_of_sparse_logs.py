"""Every page and every command that reads a build, on logs in which each optional field is missing somewhere."""

import re
from pathlib import Path
from typing import Any

import pytest
from builds import DEMO, Build, Dbt, read_lines, write_lines
from typer.testing import CliRunner

from hcat.cli import app
from hcat.landing.raw_contract import ENTITIES
from hcat.monitoring.words import say_share

EVERY = 24
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


#: What no record of the demo holds.
LACKING: dict[str, Any] = {
    **{f"{part}_sentence_weights": [1] for part in ("query", "answer", "reference")},
    **dict.fromkeys(("count_retrieved", "completeness_weight", "list_position", "sampling_weight", "correction"), 1),
    **{"reason_start": 0, "reason_end": 4, "comment": "read twice", "review_round": "spring", "sampling": "uniform"},
    **{"language_model": "m", "prompt_version": "1", "query_group": "g"},
}


def read_records() -> dict[str, list[dict[str, Any]]]:
    """Return some interactions of the demo with what belongs to them; no column of the contract is missing."""
    records = {name: read_lines(DEMO / f"{name}.jsonl") for name in ENTITIES.keys() - {"spans"}}
    records["interactions"] = records["interactions"][::EVERY]
    kept = {row["interaction_id"] for row in records["interactions"]}
    return {
        name: [
            {column: LACKING.get(column) for column in ENTITIES[name].columns} | row
            for row in rows
            if row.get("interaction_id") in {None, *kept}
        ]
        for name, rows in records.items()
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
    for entity, rows in read_records().items():
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
