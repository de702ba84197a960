"""The report's query groups: figures, modules and variants are shown."""

from pathlib import Path
from typing import Any

import duckdb
from marts import insert
from test_report import make_warehouse
from test_report_evidence import read_section, read_text

from hcat import report


def add_groups(warehouse: Path, text: str = "") -> Path:
    """Add query groups, correctness and rates of one system to a warehouse of test_report."""
    system = f"bot 1{text}"
    rate: dict[str, Any] = {"system": system, "scope": "all", "status": "estimated", "count_answers": 30}
    rate |= {"smallest_group": 3, "largest_group": 3, "gap_share": 0.25, "robustness": 0.5, "robustness_lower": 0.4}
    rate |= {"count_robust_groups": 5, "count_non_robust_groups": 4, "count_gap_groups": 1}
    rate |= {"robustness_upper": 0.6, "chance_robustness": 0.45, "accuracy": 0.375}
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        rows = [
            {"system": system, "correctness_status": "correct", "correctness_source": "rule", "is_disputed": False},
            {"system": system, "correctness_status": "undecided", "is_disputed": False},
        ]
        insert(connection, "fct_answer_correctness", rows)
        insert(connection, "fct_robustness_groups", [{"system": system, "count_queries": 3}])
        single = {"hypothesis": f"length{text}", "side": f"short{text}"}
        removed = {"gap_rule": "every_side", "robustness": 0.9, "scope": "language_model_errors_removed"}
        rows = [
            rate | {"hypothesis": "all", "side": "all", "gap_rule": "own_side"},
            rate | {"hypothesis": "all", "side": "all", "gap_rule": "every_side"},
            rate | single | {"gap_rule": "own_side", "status": "groups_of_one", "robustness": None},
            rate | single | {"gap_rule": "every_side", "robustness": 0.7},
            rate | single | removed,
        ]
        insert(connection, "fct_robustness_rates", rows)
    return warehouse


def test_figures_of_groups_variants_and_metrics_are_shown(tmp_path: Path) -> None:
    page = report.render_report(add_groups(make_warehouse(tmp_path)))
    assert "whether an answer depends on the wording" not in page
    text = read_text(read_section(page, "robustness"))
    assert "50.0 % [40.0, 60.0] % 45.0 %" in text
    assert "one answer per group" not in text  # the gaps of every side are shown in their place
    assert "wrong on all sides" in text
    assert "90.0 %" not in text  # no context can be compared in groups of one
    assert "25.0 %" in text
