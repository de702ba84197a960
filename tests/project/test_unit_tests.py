"""Runs dbt's unit tests: the small inputs in models/**/_unit_tests.yml whose answer a reader computes in the head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from builds import DEMO, EVERYTHING, run_dbt

#: SQL that carries the arithmetic and the decisions: each has at least one unit test.
MODELS_WITH_LOGIC = {
    "base_interactions",
    "int_queries",
    "int_interactions",
    "int_conversation_turns",
    "int_interaction_passages",
    "fct_conversations",
    "fct_verdicts",
    "fct_retrieved_contexts",
    "int_chunks_counted",
    "dim_chunks",
    "fct_ratings",
    "int_topics_logged",
    "int_metric_catalog",
    "int_primary_evaluations",
    "int_sentence_weights",
    "int_metrics__similarity",
    "int_metrics__reference",
    "int_metrics__safety",
    "int_query_flags",
    "int_canaries_found",
    "fct_toxicity_error_rates",
    "fct_safety_rates",
    "int_metrics__support",
    "int_retrievals_graded",
    "stg_retrievals__unread",
    "int_retrieval_quality",
    "int_chunk_orders",
    "int_evaluations_expected",
    "int_evaluations_completed",
    "int_ratings_adjudicated",
    "fct_rater_reports",
    "int_target_evaluations",
    "int_answers_to_check",
    "int_correctness_verdicts",
    "int_answers_correct",
    "int_robustness_answers",
    "fct_robustness_pairs",
    "int_metric_verdicts",
    "fct_robustness_groups",
    "fct_calibration_validity",
    "dim_metrics",
    "int_interactions_sampled_for_review",
    "int_gate_measurements",
    "int_texts_recognisable",
    "int_public_values",
    "int_texts_with_public_values",
    "int_counterfactual_sides",
    "int_counterfactual_differences",
    "int_bias_sums",
    "int_interaction_privacy_values",
    "int_privacy_findings",
    "int_metrics__privacy",
    "fct_evaluations",
    "fct_marginal_weaknesses",
    "fct_bivariate_weaknesses",
    "int_interaction_cells",
    "int_metric_cells",
    "int_cell_segments",
    "int_headline_pieces",
    "int_chunk_windows",
    "int_chunk_embeddings",
    "int_strata_planned",
    "fct_sampled_chunks",
    "int_queries_weighted",
    "int_generation_requests",
    "int_generated_candidates",
    "fct_test_coverage",
    "int_variants_planned",
    "int_test_variants",
    "fct_grammar_queries",
    "fct_grammar_counts",
    "int_version_pairs_listed",
    "int_version_queries_keyed",
    "int_version_queries_paired",
    "int_version_segments_shared",
    "int_version_cells_measured",
    "fct_version_comparisons",
    "int_origins_counted",
    "fct_version_regressions",
    "fct_failure_causes",
    "int_findings_seen",
    "int_weak_cells_weighed",
    "int_findings_in_holes",
    "int_findings_evidence",
    "int_clusters_seen",
    "int_new_clusters_summed",
    "fct_findings",
    "fct_run_metrics",
    "fct_replicate_variation",
    "int_week_sums",
    "fct_metric_drift",
    "fct_metric_weeks",
    "int_interaction_samples",
    "int_sample_pairs",
    "int_metrics__selfcheck",
    "int_judge_sample",
    "int_judge_requests",
    "int_metrics__judged",
    "int_judge_comparisons",
    "fct_judge_agreement",
}


def test_unit_tests_of_the_models_pass(warehouse: Path, target: Path, manifest: dict[str, Any]) -> None:
    # the manifest is read before this run writes another one into its folder
    assert manifest["nodes"]
    # dbt reads the types of the mocked inputs from a warehouse, hence the build
    variables = EVERYTHING | {"hcat_unit_tests": True}
    exit_code, output = run_dbt(
        ["test", "--select", "test_type:unit"], DEMO, warehouse.parent, target, variables=variables
    )
    assert exit_code == 0, output
    missing = {model for model in MODELS_WITH_LOGIC if f" PASS {model}::" not in output}
    assert not missing, f"no unit test passed for {sorted(missing)}"


def test_a_build_does_not_pay_for_unit_tests(manifest: dict[str, Any]) -> None:
    assert manifest["unit_tests"] == {}
