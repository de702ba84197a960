"""Runs dbt's unit tests: the small inputs in models/**/_unit_tests.yml whose answer a reader computes in the head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from builds import DEMO, run_dbt

#: SQL that carries the arithmetic and the decisions: each has at least one unit test.
MODELS_WITH_LOGIC = {
    "base_interactions",
    "int_queries_rooted",
    "int_interactions_joined",
    "int_topics_logged",
    "int_primary_evaluations",
    "int_metrics__similarity",
    "int_metrics__support",
    "int_retrievals_judged",
    "int_retrieval_quality",
    "int_evaluations_expected",
    "int_evaluations_completed",
    "int_ratings_adjudicated",
    "int_labels",
    "int_scores_located",
    "int_evaluations_calibrated",
    "int_prediction_sets",
    "int_scale_point_sets",
    "int_interactions_sampled_for_review",
    "int_gate_measurements",
    "fct_evaluations",
    "fct_marginal_weaknesses",
}


def test_unit_tests_of_the_models_pass(warehouse: Path, target: Path) -> None:
    # dbt reads the types of the mocked inputs from a warehouse, hence the build
    exit_code, output = run_dbt(
        ["test", "--select", "test_type:unit"], DEMO, warehouse.parent, target, variables={"hcat_unit_tests": True}
    )
    assert exit_code == 0, output
    missing = {model for model in MODELS_WITH_LOGIC if f" PASS {model}::" not in output}
    assert not missing, f"no unit test passed for {sorted(missing)}"


def test_a_build_does_not_pay_for_unit_tests(manifest: dict[str, Any]) -> None:
    assert manifest["unit_tests"] == {}
