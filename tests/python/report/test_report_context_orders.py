"""Pairs of chunks in the report: one row per scorer, and hostile names as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from test_report import HOSTILE, insert, make_warehouse, parse
from test_report_query_groups import MARTS

from hcat import report


def make_section(folder: Path, text: str = "") -> str:
    warehouse = make_warehouse(folder)
    row: dict[str, Any] = {"system": f"bot 1{text}", "metric_name": f"m{text}", "status": "estimated"}
    row |= {"count_answers": 1234, "count_assumed": 321}
    interval = {"value_lower": 0.2, "value_upper": 0.4}
    rows = [
        row | {"measure": "pairs_ordered", "measured_value": 0.9},
        row | {"measure": "pairs_against_rank", "measured_value": 0.3} | interval,
        row | {"measure": "pairs_against_words", "status": "no_pairs", "count_answers": 0, "count_assumed": 0},
        row | {"measure": "pairs_ordered", "metric_name": "word_overlap", "measured_value": 0.95},
        row | {"measure": "precision", "metric_name": "of_answers", "measured_value": 0.5},
    ]
    rows[0]["status"] = "too_few_groups"
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute(MARTS)
        insert(connection, "fct_metric_reliability", rows)
    page = report.render_report(warehouse)
    return page[page.index("Can context relevance be believed?") :].split("</details>")[0]


def test_each_scorer_has_a_row_and_each_measure_a_cell(tmp_path: Path) -> None:
    section = make_section(tmp_path)
    assert section.count("<tr><th scope") == 2
    for text in ("90.0", "few clusters", "30.0", "no such pair", "95.0", "n&nbsp;1,234", "321"):
        assert text in section, text
    # precision is about answers, and is shown with the robustness of the system
    assert "of_answers" not in section


def test_hostile_names_make_no_tag(tmp_path: Path) -> None:
    section = make_section(tmp_path, HOSTILE)
    assert not {"script", "img"} & set(parse(section).tags)


def test_a_warehouse_without_pairs_shows_nothing(tmp_path: Path) -> None:
    page = report.render_report(make_warehouse(tmp_path))
    with pytest.raises(ValueError, match="substring not found"):
        page.index("Can context relevance be believed?")
