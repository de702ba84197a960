"""Logs before a build: what is recognised and rejected, and that each fault is one line."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from alert_materials import Hcat
from test_landed_files import write_lines

from hcat.engine.staging import ProjectError
from hcat.landing.check import check_logs
from hcat.landing.dialects import DIALECTS_FILE
from hcat.landing.feedback import read_annotations
from hcat.landing.importing import import_into
from hcat.privacy.masking import mask_text

REPOSITORY = Path(__file__).resolve().parents[3]
CALL = {
    "question": "What is the fee?",
    "response": "It is 5 euros.",
    "contexts": [{"id": "c1", "text": "The fee is 5 euros."}],
    "created_at": "2026-05-01",
}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, hcat: Hcat) -> Hcat:
    """Return the command line, which runs in the repository."""
    monkeypatch.chdir(REPOSITORY)
    return hcat


def test_a_check_says_what_is_there_what_is_rejected_and_what_to_do(tmp_path: Path) -> None:
    late = CALL | {"created_at": "05/31/2026"}
    write_lines(tmp_path / "calls.jsonl", CALL, *[late | {"response": f"{number}"} for number in range(4)])
    write_lines(tmp_path / "retrieval.jsonl", {})
    checked = check_logs(tmp_path, REPOSITORY)
    assert checked.inputs["interactions"] == 1
    text = [" ".join(part.strip() for part in line).strip() for line in checked.lines]
    assert text[:7] == [
        "read calls.jsonl",
        "not read retrieval.jsonl: did you mean retrievals.jsonl?",
        "interactions 1 of 5 records can be used, 4 rejected",
        "rejected 4: asked_at is not an ISO 8601 timestamp",
        "calls.jsonl row 2",
        "calls.jsonl row 3",
        "calls.jsonl row 4",
    ]
    assert "retrievals 1 of 5 records can be used, 4 rejected" in text
    assert any(line.startswith("missing reference answers (queries.reference_answer): would add 6 ") for line in text)
    assert any(line.startswith("missing ratings of a criterion: ") for line in text)
    assert not any(line.startswith("missing answers") for line in text)
    assert text[-1] == f"next HCAT_RAW_LOGS={tmp_path} hcat build"


def test_logs_inside_of_a_project_are_read_by_its_dialects_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hcat: Hcat
) -> None:
    project = tmp_path / "evaluation"
    (project / "logs").mkdir(parents=True)
    (project / "dbt_project.yml").write_text("name: evaluation\n")
    said = "annotations: [{name: helpful, value: good, criterion: relevance, scale_point: 2}]\n"
    (project / DIALECTS_FILE).write_text(said)
    score = {"name": "helpful", "value": "good", "source": "human", "timestamp": "2026-05-02", "author_user_id": "u"}
    write_lines(project / "logs" / "calls.jsonl", CALL | {"id": "c"})
    write_lines(project / "logs" / "scores.jsonl", score | {"trace_id": "c"})
    monkeypatch.chdir(tmp_path)
    read_annotations.cache_clear()
    printed = hcat("check", "evaluation/logs")
    read_annotations.cache_clear()
    assert "1 of 1 records can be used" in printed.split("ratings")[1].splitlines()[0]
    assert str(project) in printed.splitlines()[0]


def test_the_first_record_is_shown_as_it_will_land_and_a_filled_prompt_is_said(tmp_path: Path) -> None:
    passage = "A transfer takes two working days."
    filled = {
        "messages": [{"role": "user", "content": f"Context: {passage.upper()}\n\nHow long?"}],
        "answer": "Two days.",
    }
    write_lines(
        tmp_path / "calls.jsonl", CALL | {"response": "It\x1b[31m is\n5."}, CALL, filled | {"contexts": [passage]}
    )
    lines = check_logs(tmp_path, REPOSITORY).lines
    start = [name for name, _ in lines].index("first record")
    assert [text for _, text in lines[start : start + 6]] == [
        "query: What is the fee?",
        "answer: It [31m is 5.",
        "context: The fee is 5 euros.",
        "time: 2026-05-01 00:00:00",
        "3 records, 2 distinct queries",
        "1 query contains one of its own contexts: log what the user asked under query, and not the filled prompt",
    ]


def test_a_check_says_what_traces_were_read_by_and_what_was_not(tmp_path: Path) -> None:
    def lines(**attributes: str) -> list[tuple[str, str]]:
        span = {"trace_id": "t", "span_id": "1", "name": "run", "start_time": "2026-05-01T00:00:00Z"}
        write_lines(
            tmp_path / "spans.jsonl",
            span | {"attributes": {"acme.question": "Why?", "acme.answer": "So.", **attributes}},
        )
        return list(check_logs(tmp_path, tmp_path, REPOSITORY).lines)

    notes = {"acme.notes": "The fee is 5 euros, as the table says."}
    found = lines(**notes)
    assert (
        "traces",
        "1 of a tool that is not known were read by the names of their keys: look at the first record",
    ) in found
    assert ("not read", "acme.notes: its text in 1 of the traces") in found
    # outside of a project there is one way to go on
    assert found[-1] == ("next", f"hcat init evaluation --logs {tmp_path}")
    (tmp_path / "dbt_project.yml").write_text("name: mine\nvars:\n  hcat: {hcat_profile: minimal}\n")
    assert ("not read", "spans.jsonl: the module that reads spans is switched off") in lines()


def test_what_is_shown_of_a_record_is_masked(tmp_path: Path) -> None:
    write_lines(tmp_path / "calls.jsonl", CALL | {"question": "Is kim@example.org my address?"})
    lines = check_logs(tmp_path, REPOSITORY, mask=partial(mask_text, is_tagged=False)).lines
    shown = [text for _, text in lines if text.startswith("query: ")]
    assert shown == ["query: Is [email] my address?"]


def test_a_broken_file_and_many_broken_lines_are_counted_in_full(tmp_path: Path) -> None:
    (tmp_path / "calls_b.jsonl").write_bytes(json.dumps(CALL).encode() + b"\n" + b"{\n" * 3_000)
    (tmp_path / "interactions.parquet").write_bytes(b"PAR1 half")
    text = [" ".join(part.strip() for part in line).strip() for line in check_logs(tmp_path, REPOSITORY).lines]
    assert text[1:5] == [
        "interactions 1 of 3,002 records can be used, 3,001 rejected",
        "rejected 3,000: malformed JSON",
        "calls_b.jsonl row 2",
        "calls_b.jsonl row 3",
    ]
    assert any(line.startswith("rejected 1: interactions.parquet cannot be read: Parquet ") for line in text)


def test_metrics_are_counted_by_what_the_logs_bring(tmp_path: Path) -> None:
    def count(call: dict[str, Any]) -> int:
        write_lines(tmp_path / "calls.jsonl", call)
        (line,) = [text for name, text in check_logs(tmp_path, REPOSITORY).lines if name == "metrics"]
        return int(line.split(" of ")[0])

    without = {name: value for name, value in CALL.items() if name != "contexts"}
    counts = [
        count(each) for each in (without, CALL, CALL | {"reference": "5"}, CALL | {"reference_context_ids": ["c1"]})
    ]
    assert counts[0] < counts[1] < counts[2] < counts[3]


def test_a_declared_format_of_times_is_the_project_s(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: mine\nvars:\n  hcat: {hcat_timestamp_format: '%m/%d/%Y'}\n")
    (tmp_path / "dbt_packages").mkdir()
    (tmp_path / "dbt_packages" / "hcat").symlink_to(REPOSITORY)
    (tmp_path / "logs").mkdir()
    write_lines(tmp_path / "logs" / "calls.jsonl", CALL | {"created_at": "05/31/2026"})
    assert check_logs(tmp_path / "logs", tmp_path).inputs["interactions"] == 1


def test_a_fault_is_one_line_with_exit_code_2(tmp_path: Path, here: Hcat, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "interactions.csv").write_bytes(b"ID,ANWSER\n1,5\n")
    said = "hcat: interactions.csv has no column 'answer' (found: ID, ANWSER; did "
    assert here("check", tmp_path, code=2).startswith(said)
    (tmp_path / "dbt_project.yml").write_text("name: mine\nvars: {hcat: {hcat_tagger_languages: en}}\n")
    monkeypatch.chdir(tmp_path)
    assert here("check", tmp_path, code=2).startswith("hcat: the var hcat_tagger_languages is 'en': it must be a list")


def test_logs_of_which_nothing_can_be_used_exit_with_1_and_the_reason(tmp_path: Path, here: Hcat) -> None:
    (tmp_path / "calls.jsonl").write_bytes(b'{"id": 1, "query": "a", "answer": "caf\xe9"}\n')
    shown = here("check", tmp_path, code=1)
    assert "invalid UTF-8 at byte" in shown
    assert "no interaction can be used" in shown


def test_an_array_is_imported_as_lines_and_once(tmp_path: Path, here: Hcat) -> None:
    source = tmp_path / "cases.json"
    source.write_text(json.dumps([CALL, CALL], indent=2))
    _, shown = (here("import", "deepeval", source, "--output", tmp_path / "logs") for _ in range(2))
    (path,) = (tmp_path / "logs").iterdir()
    assert path.name.startswith("calls_")
    assert [json.loads(line) for line in path.read_text().splitlines()] == [CALL, CALL]
    assert f"imported  2 records into {path}" in shown
    assert check_logs(tmp_path / "logs", REPOSITORY).inputs["interactions"] == 2


@pytest.mark.parametrize(
    ("shape", "name", "content", "problem"),
    [
        ("raga", "a.json", "[]", "unknown format 'raga' (known: ragas, "),
        ("ragas", "a.xlsx", "", "{file} must be .json, .parquet, .jsonl, .csv, .tsv"),
        ("ragas", "a.json", "[]", "{file} holds no record"),
        ("ragas", "a.json", "[1]", "{file} must hold an array of objects"),
        ("ragas", "a.json", "{", "{file} is not JSON: "),
        ("ragas", "a.json", '{"a": [{}], "b": [{}]}', "{file} holds several arrays: a, b"),
        ("ragas", "a.jsonl", '{"user_input": "What?"}', "{file} brings no answer in any record (found: user_input; "),
    ],
)
def test_a_file_that_cannot_be_imported_leaves_nothing(
    shape: str, name: str, content: str, problem: str, tmp_path: Path
) -> None:
    source = tmp_path / name
    source.write_text(content)
    with pytest.raises(ValueError, match=r".+") as raised:
        import_into(shape, source, tmp_path / "logs")
    assert str(raised.value).startswith(problem.format(file=source))
    assert not (tmp_path / "logs").exists() or not list((tmp_path / "logs").iterdir())


def test_tables_of_a_warehouse_take_the_place_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: Hcat
) -> None:
    warehouse = tmp_path / "hcat.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema raw")
        connection.execute("create table raw.answers as select range::text as id, 'It is 5.' as response from range(3)")
        connection.execute("create table raw.found as select '0' as interaction_id, 1 as rank, 'The fee is 5.' as text")
    options = ["--warehouse", str(warehouse), "--table", "retrievals=raw.found"]
    printed = here("check", *options, "--table", "interactions=raw.answers")
    assert "interactions  3 of 3 records can be used" in printed
    assert "retrievals    1 of 1 records can be used" in printed
    wanted = "hcat build --vars '{hcat_raw_relations: {retrievals: raw.found, interactions: raw.answers}}'"
    assert printed.rstrip().endswith(wanted)
    # files and tables go together; without interactions in either, nothing can be checked
    logs = tmp_path / "logs"
    logs.mkdir()
    write_lines(logs / "interactions.jsonl", {"id": "0", "answer": "5"})
    here("check", logs, *options)
    monkeypatch.delenv("HCAT_RAW_LOGS", raising=False)
    for arguments, problem in (
        (options, "hcat: no logs are named: set HCAT_RAW_LOGS"),
        (
            [*options, "--table", "interactions=raw.none"],
            f"hcat: interactions is 'raw.none', which is no table of {warehouse}",
        ),
        ([*options, "--table", "answers=raw.answers"], "hcat: 'answers' is none of interactions, "),
        ([*options, "--table", "raw.answers"], "hcat: --table must be ENTITY=TABLE, got raw.answers"),
    ):
        assert here("check", *arguments, code=2).startswith(problem)


@pytest.mark.parametrize("zone", ["America/New_York", "EST", "Europe/Berlin"])
def test_a_zone_that_one_record_names_shifts_no_other(tmp_path: Path, zone: str) -> None:
    texts = [f"2026-05-04 09:12:00 {zone}", "2026-05-04T00:30:00", "2026-05-04", "2026-05-04 09:00"]
    records = [{"id": f"i{number}", "answer": "x", "asked_at": text} for number, text in enumerate(texts)]
    write_lines(tmp_path / "interactions.jsonl", *records)
    check = check_logs(tmp_path, REPOSITORY)
    assert check.inputs["interactions"] == 3
    # three times of one day: a zone of another record would move one of them into another week
    assert check.inputs["weeks"] == 1
    assert ("  rejected", "1: asked_at names a time zone and gives no offset such as +02:00") in check.lines


def test_a_format_of_times_with_names_of_zones_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: mine\nvars:\n  hcat: {hcat_timestamp_format: '%d.%m.%Y %Z'}\n")
    write_lines(tmp_path / "interactions.jsonl", {"id": "a", "answer": "x"})
    with pytest.raises(ProjectError, match=r"hcat_timestamp_format .* reads names of time zones"):
        check_logs(tmp_path, tmp_path, REPOSITORY)


def test_a_key_that_stands_twice_is_said_and_its_record_is_kept(tmp_path: Path) -> None:
    (tmp_path / "calls.jsonl").write_text(
        '{"id": "c", "query": "Fee?", "answer": "5", "answer": "6", "contexts": ["A."]}\n'
    )
    lines = check_logs(tmp_path, REPOSITORY).lines
    note = "1: a JSON key stands twice in one object, and the last value counts (kept in part)"
    # once for the call, although four entities are read from it
    assert [line for line in lines if line[0] == "  field"] == [("  field", note)]
