"""The measuring instruments themselves: ranking statistics, baselines, synthetic logs, contents and pages."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

# benchmarks is no installed package: it is run from the root of the repository
from benchmarks import accuracy, harness, verdicts
from benchmarks.__main__ import BENCHMARKS
from benchmarks.discrimination import auroc, average_precision
from benchmarks.nightly import stage_seconds
from hcat.statistics.clusters import draw_clusters

SUMMARY = harness.ROOT / "docs" / "benchmarks.md"

rows_of_scores = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.booleans(), st.integers(0, 4)), min_size=2, max_size=40
).filter(lambda rows: len({positive for _, positive, _ in rows}) == 2)


def _arrays(rows: list[tuple[float, bool, int]]) -> tuple[Any, Any, Any]:
    scores, positives, sources = zip(*rows, strict=True)
    return np.array(scores), np.array(positives), np.array(sources)


def _row(answer: str, contexts: list[str], hallucinated: bool, source: str, **more: Any) -> dict[str, Any]:
    row = {"query": "What?", "contexts": contexts, "answer": answer, "hallucinated": hallucinated, "source_id": source}
    return row | {"task": "QA", "model": "one"} | more


@given(rows_of_scores)
@settings(max_examples=60, deadline=None)
def test_figures_agree_with_scikit_learn(rows: list[tuple[float, bool, int]]) -> None:
    scores, positives, sources = _arrays(rows)
    assert_allclose(auroc(scores, positives, sources, count_draws=20).value, roc_auc_score(positives, -scores))
    precision = average_precision(scores, positives, sources, count_draws=20)
    assert_allclose(precision.value, average_precision_score(positives, -scores))


def test_draws_equal_the_figure_of_resampled_rows() -> None:
    random = np.random.default_rng(3)
    scores, positives = random.integers(0, 5, 40) / 4, random.random(40) < 0.4
    sources, cells = random.integers(0, 6, 40), random.integers(0, 3, 40)
    drawn = draw_clusters(np.random.default_rng(20260101), 6, 5).astype(int)
    within = auroc(scores, positives, sources, cells, count_draws=5)
    pooled = auroc(scores, positives, sources, count_draws=5)
    precision = average_precision(scores, positives, sources, count_draws=5)
    for draw, weights in enumerate(drawn):
        repeated = np.repeat(np.arange(40), weights[sources])
        assert_allclose(pooled.draws[draw], roc_auc_score(positives[repeated], -scores[repeated]))
        assert_allclose(precision.draws[draw], average_precision_score(positives[repeated], -scores[repeated]))
        concordant = pairs = 0.0
        for cell in range(3):
            member = repeated[cells[repeated] == cell]
            for positive in member[positives[member]]:
                for negative in member[~positives[member]]:
                    pairs += 1
                    concordant += (scores[positive] < scores[negative]) + 0.5 * (scores[positive] == scores[negative])
        assert_allclose(within.draws[draw], concordant / pairs)


def test_missing_scores_are_neutral() -> None:
    positives, sources = np.array([True, True, False, False]), np.arange(4)
    # pairs: (0.1 < 0.5) = 1, and three pairs with a missing score = 1/2 each
    estimate = auroc(np.array([0.1, np.nan, 0.5, np.nan]), positives, sources, count_draws=10)
    assert_allclose(estimate.value, (1 + 3 * 0.5) / 4)
    nothing = auroc(np.full(4, np.nan), positives, sources, count_draws=10)
    assert nothing.value == 0.5
    assert_allclose(average_precision(np.full(4, np.nan), positives, sources, count_draws=10).value, 0.5)


def test_baselines_by_hand() -> None:
    rows = [
        _row("The rate is four", ["The rate is 4"], True, "a"),
        _row("The rate", ["the RATE"], False, "b"),
        _row("", ["the rate"], False, "c"),
    ]
    found = accuracy.baselines(rows)
    assert_allclose(found["unsupported words"], [-0.25, 0, 0])
    assert_allclose(found["answer length"], [-4, -2, 0])
    assert_allclose(found["constant"], 0)
    # each row's rate comes from the other sources alone
    assert_allclose(found["task x generator"], [1, 0.5, 0.5])
    # too few sources for folds
    assert_allclose(found["lexical LR"], 0.5)


def test_json_holds_the_agreed_keys() -> None:
    rows = [_row("x", [], number % 2 == 0, str(number // 2)) for number in range(12)]
    scores = {"support_words": np.array([0.1, 0.9] * 5 + [np.nan, 0.9])}
    labelled = accuracy.Labelled(rows, scores, {}, "none")
    measured = {"all rows": accuracy.measure_all(labelled, count_draws=50)}
    found = accuracy.to_json(labelled, measured, "support_words")
    assert found["metric"] == "support_words"
    assert (found["n"], found["n_scored"], found["n_hallucinated"]) == (12, 11, 6)
    # 36 pairs, six of them with the missing score
    assert_allclose(found["within_auroc"], (30 + 3) / 36, atol=1e-4)
    assert found["within_auroc_low"] <= found["within_auroc"] <= found["within_auroc_high"]
    assert found["pooled_auroc"] == found["qa_auroc"] == found["tasks"]["QA"]["pooled_auroc"]
    assert set(found["metrics"]["all rows"]) == {"support_words"}
    assert set(found["baselines"]["all rows"]) == {
        "constant",
        "task x generator",
        "lexical LR",
        "unsupported words",
        "answer length",
    }
    assert found["pooled_f1"] is None
    assert found["ece"] is None
    assert json.loads(json.dumps(found)) == found


def test_json_of_a_probability_with_a_decision() -> None:
    rows = [_row("x", [], number % 2 == 0, str(number // 2)) for number in range(12)]
    scores = {"groundedness": np.array([0.25, 0.75] * 6)}
    labelled = accuracy.Labelled(rows, scores, {}, "none", {"groundedness": 0.5}, frozenset({"groundedness"}))
    found = accuracy.to_json(labelled, {"all rows": accuracy.measure_all(labelled, count_draws=50)}, "groundedness")
    for figures in (found, found["tasks"]["QA"]):
        assert (figures["pooled_f1"], figures["balanced_accuracy"]) == (1.0, 1.0)
        # .25 where none is grounded and .75 where all are
        assert_allclose(figures["ece"], 0.25)
        assert figures["ece_by_chance"] > 0
    assert found["qa_balanced_accuracy"] == 1.0
    assert found["count_answers_seen_in_training"] == 0


def test_verdicts_by_hand() -> None:
    flagged = np.array([True, True, False, False])
    positive = np.array([True, False, True, False])
    sources = np.arange(4)
    # one hit, one false alarm, one miss
    assert_allclose(verdicts.f1(flagged, positive, sources, 20).value, 0.5)
    assert_allclose(verdicts.balanced_accuracy(flagged, positive, sources, 20).value, 0.5)
    assert_allclose(verdicts.f1(positive, positive, sources, 20).value, 1.0)


def test_calibration_slope_equals_logistic_regression() -> None:
    random = np.random.default_rng(3)
    log_odds = random.normal(0, 2, 4000)
    grounded = random.random(4000) < 1 / (1 + np.exp(-0.5 * log_odds))
    probabilities = 1 / (1 + np.exp(-log_odds))
    found = verdicts.calibration_slope(probabilities, ~grounded, np.arange(4000), 50)
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(log_odds[:, None], grounded)
    assert_allclose(found.value, peer.coef_[0, 0], atol=1e-4)
    assert found.low < 0.5 < found.high


@pytest.mark.parametrize("page", sorted(harness.PAGES.glob("*")), ids=lambda page: page.stem)
def test_each_page_has_a_module_is_linked_and_is_what_a_run_would_write(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    sections = harness.read_sections(text)
    assert (harness.ROOT / "benchmarks" / f"{page.stem}.py").exists()
    assert f"](benchmarks/{page.name})" in SUMMARY.read_text(encoding="utf-8")
    assert page.stem in sections
    assert harness.to_page(page.stem, sections) == text


def test_summary_states_figures_and_dates_of_its_pages() -> None:
    """A renewed page can leave the summary behind: numbers of a row, but for its limit, stand on the linked page."""
    link = re.compile(r"\]\((benchmarks/\w+\.md)\)")
    number = re.compile(r"(?<![\w.,-])[+-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?![\w-])")

    def read_numbers(text: str) -> set[float]:
        return {abs(float(found.rstrip(",").replace(",", ""))) for found in number.findall(text)}

    page, missing, count_rows = "", [], 0
    for row in SUMMARY.read_text(encoding="utf-8").splitlines():
        if not row.startswith("| ") or row.startswith("| claim "):
            continue
        count_rows += 1
        # a row without a link goes on with the page of the row above
        if found := link.search(row):
            page = (SUMMARY.parent / found[1]).read_text(encoding="utf-8")
        date = row.rstrip("| ").rsplit("| ", 1)[1]
        if f", {date} (UTC)" not in page:
            missing.append((row, date))
        claimed = "|".join(link.sub("]", row).split("|")[:4])
        absent = read_numbers(claimed) - read_numbers(page)
        missing += [(row, value) for value in sorted(absent)]
    assert missing == []
    assert count_rows > 12


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc: use of processes is not seen")
def test_time_and_memory_of_processes_that_a_build_starts_are_its_own() -> None:
    working = "import time; made = b'x' * 60_000_000; sum(range(3_000_000)); print(time.process_time(), flush=True)"
    starting = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {working + '; input()'!r}])"
    with subprocess.Popen([sys.executable, "-c", starting], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        spent = float(process.stdout.readline())
        used = harness._use_of(process.pid)
        process.stdin.write(b"\n")
    assert spent > 0
    assert used.cpu_seconds >= spent - 2 / harness._TICKS_PER_SECOND
    assert used.peak_mebibytes > 50
    assert harness._use_of(process.pid) == (0.0, 0.0)


def test_every_page_and_command_is_a_benchmark_that_runs_by_name() -> None:
    assert {page.stem for page in harness.PAGES.glob("*.md")} <= set(BENCHMARKS)
    for name in BENCHMARKS:
        assert callable(importlib.import_module(f"benchmarks.{name}").run)


def test_stages_are_folders_of_models_and_data_tests_together(tmp_path: Path) -> None:
    nodes = {
        "model.hcat.a": {"original_file_path": "models/scoring/text_units/a.sql"},
        "model.hcat.b": {"original_file_path": "models/scoring/text_units/b.py"},
        "model.hcat.landed": {"original_file_path": "models/landing/landed.py"},
        "test.hcat.not_null_a.1234": {"original_file_path": "models/scoring/text_units/_units.yml"},
        "model.hcat.not_run": {"original_file_path": "models/core/not_run.sql"},
    }
    (tmp_path / "manifest.json").write_text(json.dumps({"nodes": nodes}), encoding="utf-8")
    stages = stage_seconds(tmp_path / "manifest.json", {"a": 1.0, "b": 2.0, "landed": 0.5, "not_null_a": 4.0})
    assert list(stages.items()) == [("data tests", 4.0), ("scoring/text_units", 3.0), ("landing", 0.5)]
