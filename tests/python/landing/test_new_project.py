"""A project of the user's own: what `hcat init` writes for which logs, and what it refuses."""

import csv
import json
from pathlib import Path

import pytest
import yaml

from hcat.landing.new_project import make_project

REPOSITORY = Path(__file__).resolve().parents[3]
ANYBODY = [
    "evaluations_complete",
    "answers_present",
    "no_leaked_identifiers",
    "no_leaked_personal_data",
    "records_accepted",
    "answers_release",
    "no_segment_fails",
]


def write_calls(folder: Path, count: int, **more: object) -> Path:
    folder.mkdir()
    call = {"question": "What is the fee?", "answer": "5", **more}
    calls = [{"id": f"c{each}", "timestamp": f"2026-{1 + each % 9:02}-05T10:00:00Z"} | call for each in range(count)]
    (folder / "calls.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls))
    return folder


def decided(folder: Path) -> set[str]:
    with (folder / "seeds" / "threshold_decisions.csv").open(encoding="utf-8", newline="") as lines:
        return {row["metric_name"] for row in csv.DictReader(lines)}


def test_without_logs_the_gates_need_answers_alone(tmp_path: Path) -> None:
    made = make_project(tmp_path / "My evaluation", REPOSITORY)
    assert list(made.gates) == ANYBODY
    project = yaml.safe_load((made.folder / "dbt_project.yml").read_text(encoding="utf-8"))
    assert (project["name"], project["vars"]["hcat"]["hcat_raw_logs"]) == ("my_evaluation", "raw_logs")
    assert (made.folder / "raw_logs").is_dir()
    # places for metrics and dimensions of one's own, empty at first
    assert project["vars"]["hcat"]["hcat_own_metrics"] == []
    assert project["vars"]["hcat"]["hcat_own_dimensions"] == {}
    assert (made.folder / "seeds" / "own_metrics.csv").read_text().splitlines()[1:] == []
    # nobody has signed a report of a new project
    assert len((made.folder / "seeds" / "sign_offs.csv").read_text().splitlines()) == 1
    assert yaml.safe_load((made.folder / "packages.yml").read_text()) == {"packages": [{"local": str(REPOSITORY)}]}
    assert list(yaml.safe_load((made.folder / "profiles.yml").read_text())) == ["my_evaluation"]


def test_gates_and_thresholds_are_those_for_what_the_logs_hold(tmp_path: Path) -> None:
    plain = make_project(tmp_path / "plain", REPOSITORY, write_calls(tmp_path / "plain_logs", 100))
    # nine months have weeks enough for drift
    assert list(plain.gates) == [*ANYBODY, "scores_do_not_drift"]
    assert "groundedness" not in decided(plain.folder)
    logs = write_calls(tmp_path / "logs", 100, contexts=["The fee is 5 euros."])
    with_contexts = make_project(tmp_path / "with_contexts", REPOSITORY, logs)
    assert with_contexts.gates == plain.gates
    assert {"groundedness", "support_words"} <= decided(with_contexts.folder)
    # a language model is asked for by name, and its thresholds come with it
    assert "faithfulness_llm" not in decided(with_contexts.folder)


@pytest.mark.parametrize(
    ("count", "minimum", "need"),
    [
        (60, "60", "of 60 answers at most 5 may fail"),
        (12, "12", "of 12 answers more are needed"),
        (250, "100", "of 100 answers at most"),
    ],
)
def test_the_release_gate_stops_the_build_and_says_what_it_needs(
    tmp_path: Path, count: int, minimum: str, need: str
) -> None:
    """Wilson's upper limit of 6 in 60 is .201, and of 5 in 60 .181."""
    made = make_project(tmp_path / "few", REPOSITORY, write_calls(tmp_path / "logs", count))
    with (made.folder / "seeds" / "threshold_gates.csv").open(encoding="utf-8", newline="") as lines:
        gates = {row["gate_name"]: row for row in csv.DictReader(lines)}
    assert (gates["answers_release"]["severity"], gates["answers_release"]["minimum_n"]) == ("error", minimum)
    assert [gates[name]["severity"] for name in ("no_segment_fails", "records_accepted")] == ["error", "warn"]
    release, segment = made.needs
    assert "a build ends with exit code 1 until it is shown that at most 20% of the answers fail" in release
    assert release.startswith("answers_release: ")
    assert need in release
    assert segment == "no_segment_fails stops the build if a segment of 10 clusters is shown to fail above 40%"


@pytest.mark.parametrize(
    ("name", "expected"), [("hcat", "hcat_evaluation"), ("2026", "evaluation_2026"), ("a-b", "a_b")]
)
def test_the_name_of_the_folder_is_that_of_the_project(tmp_path: Path, name: str, expected: str) -> None:
    made = make_project(tmp_path / name, REPOSITORY)
    assert yaml.safe_load((made.folder / "dbt_project.yml").read_text(encoding="utf-8"))["name"] == expected


def test_nothing_is_written_where_something_lies_or_nothing_can_be_used(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not empty: name a new folder"):
        make_project(tmp_path.parent, REPOSITORY)
    logs = write_calls(tmp_path / "logs", 3, timestamp="05/31/2026")
    with pytest.raises(ValueError, match="no interaction can be used: `hcat check"):
        make_project(tmp_path / "new", REPOSITORY, logs)
    with pytest.raises(ValueError, match=r"has no file interactions"):
        make_project(tmp_path / "new", REPOSITORY, tmp_path)
    assert not (tmp_path / "new").exists()
