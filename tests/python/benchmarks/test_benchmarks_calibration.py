"""The measuring instruments of calibration, coverage, rates, thresholds and agreement, on made-up data."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

# benchmarks is no installed package: it is run from the root of the repository
from benchmarks import (
    agreement,
    calibration,
    coverage,
    cut_offs,
    rates,
    scored_million,
    support_claims,
)
from benchmarks.__main__ import BENCHMARKS
from hcat.calibration.quality import measure_quality
from hcat.calibration.thresholds import Threshold
from hcat.review.simulation import SimulatedRates


def _answers(count_clusters: int = 60, rows_per_cluster: int = 3, shift: float = 0.0) -> calibration.Answers:
    """Two tasks; P(grounded) is the score in the first, and lower by `shift` on the log odds in the second."""
    random = np.random.default_rng(7)
    rows = []
    for source in range(count_clusters):
        task = "QA" if source % 2 else "Summary"
        for _ in range(rows_per_cluster):
            score = float(random.beta(2, 2))
            log_odds = math.log(score / (1 - score)) - (shift if task == "Summary" else 0.0)
            grounded = random.random() < 1 / (1 + math.exp(-log_odds))
            rows.append({"score": score, "hallucinated": not grounded, "task": task, "source_id": source})
    return calibration.to_answers(rows)


def test_every_new_benchmark_is_registered() -> None:
    names = ("agreement", "coverage", "rates", "cut_offs", "calibration", "scored_million", "support_claims")
    assert set(names) <= set(BENCHMARKS)


# --- calibration ------------------------------------------------------------------------------------------------------


def test_answers_name_sources_by_task() -> None:
    answers = calibration.to_answers(
        [
            {"score": 0.25, "hallucinated": True, "task": "QA", "source_id": 1},
            {"score": 0.75, "hallucinated": False, "task": "Summary", "source_id": 1},
        ]
    )
    assert answers.clusters.tolist() == ["QA|1", "Summary|1"]
    assert answers.labels.tolist() == [0, 1]
    parts = calibration.split_by_task(answers)
    assert {name: rows.tolist() for name, rows in parts.items()} == {
        "all": [True, True],
        "QA": [True, False],
        "Summary": [False, True],
    }
    assert answers.take(parts["QA"]).rows[0]["score"] == 0.25


def test_a_cluster_does_not_move_its_own_probability() -> None:
    answers = _answers(40)
    before, families = calibration.calibrate_by_others(answers, ["logistic"])
    own = answers.clusters == answers.clusters[0]
    labels = np.where(own, 1 - answers.labels, answers.labels)
    turned = calibration.Answers(answers.scores, labels, answers.clusters, answers.tasks, answers.rows)
    after = calibration.calibrate_by_others(turned, ["logistic"])[0]
    assert_array_equal(before[own], after[own])
    assert (before[~own] != after[~own]).any()
    assert sum(families.values()) == 40


def test_too_few_labels_get_the_share_of_the_others() -> None:
    answers = _answers(6, 1)
    found, families = calibration.calibrate_by_others(answers)
    assert families == {"share of the others": 6}
    expected = [(answers.labels.sum() - label + 1) / 7 for label in answers.labels]
    assert_allclose(found, expected)


def test_a_calibrator_per_task_mends_what_one_for_all_hides() -> None:
    answers = _answers(80, 3, shift=2.5)
    by_task, _ = calibration.calibrate_by_task(answers, ["logistic"])
    pooled, _ = calibration.calibrate_by_others(answers, ["logistic"])
    errors = {
        name: calibration.measure(values, answers, count_draws=200)["QA"].calibration_error
        for name, values in (("pooled", pooled), ("by task", by_task))
    }
    assert errors["pooled"].value is not None
    assert errors["by task"].value is not None
    assert errors["by task"].value < errors["pooled"].value


def test_lines_are_counted_over_splits() -> None:
    answers = _answers(60)
    found = calibration.count_splits_within(answers, 3, 2)
    assert {part for part, _ in found} == {"all", "QA", "Summary"}
    assert {line for _, line in found} == {"ECE", "slope", "intercept", "log loss"}
    assert set(found.values()) <= {0, 1, 2}


def test_judge_tells_right_from_extreme_probabilities() -> None:
    right = np.repeat(np.arange(1, 10) / 10, 100)
    # exactly as many labels of 1 as each probability says
    labels = (np.tile(np.arange(100), 9) < np.round(100 * right)).astype(int)
    extreme = 1 / (1 + (1 / right - 1) ** 4)
    clusters = np.arange(900)
    assert all(calibration.judge(measure_quality(right, labels, clusters, 0.5, count_draws=200)).values())
    lines = calibration.judge(measure_quality(extreme, labels, clusters, 0.5, count_draws=200))
    assert not lines["slope"]
    assert not lines["ECE"]


def test_judge_misses_a_figure_without_a_number() -> None:
    quality = measure_quality([0.4, 0.6], [0, 1], [0, 1], 0.5, count_draws=10)
    assert not any(calibration.judge(quality).values())


# --- coverage ---------------------------------------------------------------------------------------------------------


def test_resplits_keep_the_promise_of_the_order_statistic() -> None:
    answers = _answers(240, 1)
    means, shares = coverage.resplit(answers, 0.2, 40)
    assert abs(means["marginal", False, "all"].by_row - 0.8) < 0.03
    # one row a source: both quantiles are the same
    assert means["marginal", False, "all"] == means["marginal", True, "all"]
    assert {name for kind, _, name in means if kind == "label_conditional"} == {"grounded", "hallucinated"}
    for values in shares.values():
        assert_allclose(values.sum(), 1.0)


@pytest.mark.parametrize(
    ("cell", "by_row", "by_cluster", "expected"),
    [
        (("marginal", False, "all"), 0.905, 0.5, True),
        (("marginal", False, "all"), 0.915, 0.9, False),
        (("marginal", True, "all"), 0.5, 0.889, False),
    ],
)
def test_coverage_is_judged_in_the_weights_of_its_promise(
    cell: coverage.Cell, by_row: float, by_cluster: float, expected: bool
) -> None:
    assert coverage.judge(cell, coverage.MeanCoverage(by_row, by_cluster, 39.0), 0.1)[1] is expected


def test_laws_are_those_of_the_beta_distribution() -> None:
    for size, alpha, mean, expected, p_value in coverage.simulate_laws(100):
        assert_allclose(expected, math.ceil(round((size + 1) * (1 - alpha), 9)) / (size + 1))
        assert abs(mean - expected) < 0.02
        assert 0 <= p_value <= 1


def test_sets_are_those_of_crepes() -> None:
    pytest.importorskip("crepes")
    assert {count for count, _ in coverage.count_differences(_answers(), 0.1).values()} == {0}


# --- rates ------------------------------------------------------------------------------------------------------------


def _simulated(coverage_found: float, bias: float) -> SimulatedRates:
    return SimulatedRates(coverage_found, 0.95, bias, 0.0, 0.001, 0.001, 1.0, 0.9, 0.8)


def test_rates_are_judged_by_coverage_and_bias() -> None:
    assert rates.judge(_simulated(0.95, 0.003), 0.1, False) == (True, True)
    assert rates.judge(_simulated(0.98, 0.004), 0.1, False) == (False, False)
    assert rates.judge(_simulated(0.98, 0.004), 0.3, True) == (True, True)
    assert rates.judge(_simulated(0.92, 0.0), 0.1, True) == (False, True)


def test_a_good_predictor_narrows_the_interval() -> None:
    answers = _answers(300, 1)
    useful, share, _ = rates.measure_widths(answers, 1 - answers.scores, 100, "these_interactions", 20)
    useless, _, _ = rates.measure_widths(answers, np.full(300, 0.5), 100, "these_interactions", 20)
    assert useful < useless
    assert_allclose(useless, 1.0)
    assert share == 1.0


# --- thresholds -------------------------------------------------------------------------------------------------------


def test_appetites_of_the_seed_rise_in_confidence() -> None:
    appetites = cut_offs.read_appetites()
    confidences = [one.confidence for one in appetites]
    assert confidences == sorted(confidences)
    assert len(appetites) >= 3


def test_true_rates_are_those_of_the_draws() -> None:
    scores, labels, clusters = cut_offs.draw(np.random.default_rng(1), 4, 40_000)
    assert len(np.unique(clusters)) == 10_000
    assert_allclose(labels.mean(), cut_offs.SHARE_ACCEPTED, atol=0.02)
    found = cut_offs.true_rates(1.0)
    accepted = scores >= 1.0
    assert_allclose(accepted[labels == 0].mean(), found["accepted among bad"], atol=0.02)
    assert_allclose((labels == 0)[accepted].mean(), found["bad among accepted"], atol=0.02)
    assert_allclose((~accepted)[labels == 1].mean(), found["flagged among good"], atol=0.02)
    assert set(cut_offs.true_rates(math.inf).values()) == {0.0, 1.0}


def test_promises_are_kept_by_few_fits() -> None:
    promises, laxer = cut_offs.simulate_methods(4, 1)
    assert sum(laxer.values()) == 0
    assert {promise.name.split(" at ")[0] for promise in promises} == set(cut_offs._PROMISED)


def test_a_broken_promise_shows() -> None:
    kept = cut_offs._mean_promise("x", 0.1, [0.1, 0.1, 0.1])
    broken = cut_offs._mean_promise("x", 0.1, [0.2, 0.2, 0.21])
    silent = cut_offs._mean_promise("x", 0.1, [None, None, None])
    assert (kept.is_kept, broken.is_kept) == (True, False)
    assert (kept.verdict, broken.verdict, silent.verdict) == ("met", "MISSED", "no threshold")


def test_thresholds_that_accept_all_or_none_are_numbers() -> None:
    def threshold(value: float | None, accepts: str | None) -> Threshold:
        return Threshold("acceptance", "roc_cost", "low", 0.99, value, "ok", accepts, 1, 1, 1)

    assert cut_offs._as_number(threshold(0.4, None)) == 0.4
    assert cut_offs._as_number(threshold(None, "all")) == -math.inf
    assert cut_offs._as_number(threshold(None, "none")) == math.inf
    assert cut_offs._as_number(threshold(None, None)) is None


# --- claims -----------------------------------------------------------------------------------------------------------


def _claims(is_useful: bool) -> support_claims.Claims:
    random = np.random.default_rng(5)
    labels = random.choice(3, 900, p=[0.25, 0.25, 0.5])
    useful = labels + random.normal(0, 0.7, 900)
    scores = {"useful": useful} if is_useful else {"noise": random.normal(0, 1, 900), "other": np.full(900, 1.0)}
    if is_useful:
        scores["noise"] = random.normal(0, 1, 900)
        scores["useful"][:5] = np.nan
    fields = np.array([f"field {number % 15}" for number in range(900)])
    return support_claims.Claims(labels.astype(np.int64), fields, scores)


def test_the_useful_score_is_chosen_and_beats_the_base_rates() -> None:
    claims = _claims(is_useful=True)
    base = support_claims.log_losses(support_claims.shares_of_others(claims), claims.labels)
    probabilities, used = support_claims.predict(claims, ["noise", "useful"])
    assert used == {"useful": 15}
    assert_allclose(probabilities.sum(axis=1), 1.0)
    # without a score: the base rates
    assert_allclose(probabilities[:5], support_claims.shares_of_others(claims)[:5])
    losses = support_claims.log_losses(probabilities, claims.labels)
    assert support_claims.difference(losses, base, claims.fields).high < 0


def test_a_score_that_allows_no_calibrator_leaves_the_base_rates() -> None:
    claims = _claims(is_useful=False)
    probabilities, used = support_claims.predict(claims, ["other"])
    assert used == {}
    assert_array_equal(probabilities, support_claims.shares_of_others(claims))


def test_claims_keep_graded_support_with_evidence(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    def row(claim: str, evidence: list[str], support: str) -> dict[str, Any]:
        return {
            "claim": claim,
            "evidence": evidence,
            "support": support,
            "question": "Why?",
            "field": "Law",
            "system": "a",
        }

    table = [
        row("One.", ["x"], "Complete"),
        row("Two.", [], "Complete"),
        row(" ", ["x"], "Partial"),
        row("Four.", ["x"], "N/A"),
        row("Five.", ["x", "y"], "Incomplete"),
    ]
    parquet.write_table(pa.Table.from_pylist(table), tmp_path / "claims.parquet")
    found = support_claims.read_claims(tmp_path)
    assert [each["answer"] for each in found] == ["One.", "Five."]
    assert [each["hallucinated"] for each in found] == [False, True]
    assert found[1]["contexts"] == ["x", "y"]


# --- agreement --------------------------------------------------------------------------------------------------------


def test_ratings_of_workers_become_columns() -> None:
    rows = [
        {"workers": json.dumps([[0, "yes"], [4, "no"], [9, "yes"]]), "article": "a"},
        {"workers": json.dumps([[2, "no"]]), "article": "a"},
    ]
    ratings, clusters = agreement.read_ratings(rows)
    assert_array_equal(ratings, [[1, 0, 1], [0, np.nan, np.nan]])
    assert clusters.tolist() == [0, 0]


def test_full_agreement_is_one() -> None:
    rows = [
        {"workers": json.dumps([[worker, answer] for worker in range(3)]), "article": f"{place}"}
        for place, answer in enumerate(["yes", "no"] * 10)
    ]
    assert {each.value for each in agreement.measure(rows).values()} == {1.0}


# --- a million --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", scored_million.FAMILIES)
def test_a_score_has_the_probability_of_its_calibrator(family: str) -> None:
    assert scored_million.measure(scored_million.fit(family), 500) > 0
