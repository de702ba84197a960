"""What was rejected is said on standard error: a line per file and reason, the frequent first."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hcat.landing.rejections import SAID_LINES, say_rejections


def rejection(count: int, reason: str, kind: str = "record") -> dict[str, object]:
    return {
        "entity": "relevance_judgements",
        "source_file": "qrels.tsv",
        "kind": kind,
        "reason": reason,
        "count_records": count,
        "first_row": 3,
    }


def test_the_most_frequent_reason_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    said = say_rejections(pa.Table.from_pylist([rejection(1, "grade is missing"), rejection(9, "query_id is missing")]))
    lines = [
        "qrels.tsv: 9 records of relevance judgements rejected: query_id is missing (first in row 3)",
        "qrels.tsv: 1 record of relevance judgements rejected: grade is missing (row 3)",
    ]
    assert said["rejection"].to_pylist() == lines
    assert capsys.readouterr().err.splitlines() == [f"hcat: {line}" for line in lines]


def test_a_file_that_was_rejected_whole_says_its_name_itself() -> None:
    row = rejection(1, "qrels.tsv is compressed: unpack it") | {"first_row": 0}
    (line,) = say_rejections(pa.Table.from_pylist([row]))["rejection"].to_pylist()
    assert line == "file rejected: qrels.tsv is compressed: unpack it"


def test_many_reasons_are_cut_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [rejection(1, f"reason {number}") for number in range(SAID_LINES + 5)]
    assert say_rejections(pa.Table.from_pylist(rows)).num_rows == SAID_LINES + 5
    said = capsys.readouterr().err.splitlines()
    assert len(said) == SAID_LINES + 1
    assert said[-1] == "hcat: 5 more reasons stand in stg_rejected_records"


def test_nothing_rejected_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    empty = pa.Table.from_pylist([rejection(1, "x")]).slice(0, 0)
    assert say_rejections(empty).num_rows == 0
    assert capsys.readouterr().err == ""
