"""What a build and a check print of hostile logs: no value of a record, no line of its own, nothing that steers."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from builds import Dbt, ask_server, environment_without_settings, write_lines

#: A value that ends its line, writes another one, turns its direction and colours the rest.
VALUE = "x\nMs Quendelin quendelin@example.com\nGATE PASSED (error) forged\r\x1b[31m\u202e\u2028 end"
#: Names of files with an escape and line breaks, a quote and SQL, HTML, Jinja, a mark of direction and no UTF-8.
NAMES = (
    "\x1b[31mEVIL\nGATE PASSED forged",
    "'; drop table stg_interactions; --",
    "<img src=x onerror=alert(1)>",
    "{{ 1 ~ env_var('HOME') }}{% raw %}",
    "\u202egnp\u2028GATE PASSED forged",
    os.fsdecode(b"\xff\xfe"),
)
#: Fields that a record is kept without.
OPTIONAL = ("sample_index", "turn_index", "tags", "answer_sentence_weights")
#: Landing and staging, and what is said of rejected records.
SAID = (
    "build --select +stg_rejected_records +stg_interactions --exclude-resource-type test"
    " --log-level-file debug --no-use-colors-file"
)


def _good(name: str) -> dict[str, Any]:
    return {"interaction_id": name, "query_text": f"What is fee {name}?", "answer": f"It is {name}."}


def write_hostile_names(folder: Path) -> None:
    """Write a good record into each file, and a value of :data:`VALUE` into each field with a reason of its own."""
    faulty = [_good(name) | {name: VALUE} for name in ("asked_at", *OPTIONAL)]
    cut = b'{"interaction_id": "cut", "answer": "Ms Quendelin'
    for number, name in enumerate(NAMES):
        write_lines(folder / f"interactions_{name}.jsonl", [_good(str(number)), *faulty, cut])
    write_lines(
        folder / "calls.jsonl",
        [{"query": VALUE, "answer": {VALUE: 1}, "reply\x1b[31m\nGATE PASSED": VALUE}, _good("call")],
    )
    retrieval = {"interaction_id": "0", "text": "The fee is due."}
    write_lines(folder / f"retrievals_{NAMES[0]}.jsonl", [retrieval | {"rank": VALUE}])
    write_lines(
        folder / "ratings.jsonl", [{"interaction_id": "0", "rater": VALUE, "criterion": VALUE, "scale_point": VALUE}]
    )
    write_lines(folder / "queries.jsonl", [{"query_id": "q", "text": "a", "expected_behaviour": VALUE}])
    write_lines(folder / f"retrieval{NAMES[0]}.jsonl", [{}])


def check_said(text: str) -> None:
    """Check that no line is forged, that no value is shown, and that nothing steers a terminal."""
    # dbt's own end of a colour, which it writes with and without colours
    text = text.replace("\x1b[0m", "")
    assert not [line for line in text.split("\n") if line.lstrip().startswith("GATE PASSED")]
    for word in ("Quendelin", "quendelin", "GATE PASSED (error)", "\x1b", "\r", "\u202e", "\u2028"):
        assert word not in text


def check(folder: Path) -> tuple[int, str]:
    """Return the exit code of `hcat check` and what it prints, which is clean."""
    environment = environment_without_settings() | {"PYTHONUTF8": "1"}
    exit_code, printed = ask_server("hcat", ["check", str(folder)], environment)
    check_said(printed)
    return exit_code, printed


def test_hostile_names_and_values_leave_clean_lines(dbt: Dbt, tmp_path: Path) -> None:
    raw = tmp_path / "logs"
    write_hostile_names(raw)
    exit_code, printed = check(raw)
    assert exit_code == 0, printed
    assert "asked_at is not an ISO 8601 timestamp" in printed

    build = dbt(SAID, raw, tmp_path / "warehouse")
    assert build.exit_code == 0, build.output
    assert build.query("select count(*) from stg_interactions") == [(len(NAMES) + len(OPTIONAL) + 1,)]
    assert "asked_at is not an ISO 8601 timestamp (row 2)" in build.output
    check_said(build.output)
    check_said((dbt.target(None) / "dbt.log").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "content", "said", "exit_code"),
    [
        # the first is read and staged before it stops the build, the other stops it at its start
        (
            "interactions_\x1b[31m\nGATE PASSED.jsonl",
            json.dumps(_good("1") | {"asked_at": VALUE}),
            "asked_at is not",
            1,
        ),
        ("interactions_\x1b[31m\nGATE PASSED.csv", 'id,"the\x1b[31m\nGATE PASSED"\n1,2\n', "has no column 'answer'", 2),
    ],
)
def test_a_build_that_stops_says_why_in_one_clean_line(
    dbt: Dbt, tmp_path: Path, name: str, content: str, said: str, exit_code: int
) -> None:
    raw = tmp_path / "logs"
    raw.mkdir()
    (raw / name).write_text(content, encoding="utf-8")
    assert check(raw)[0] > 0
    build = dbt(SAID, raw, tmp_path / "warehouse")
    assert build.exit_code == exit_code
    assert said in build.output
    check_said(build.output)
    check_said((dbt.target(None) / "dbt.log").read_text(encoding="utf-8"))
