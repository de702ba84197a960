"""Sets that are left out: one shape for all, equal weight of families, and a prior that the stored signals give."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from benchmarks.generalisation import rank
from hcat.metrics.fusion import FEATURES
from training import prior, ragtruth
from training.labelled_sets import LabelledAnswer, read_set
from training.release import PRIOR
from training.signals import CLASSIFIERS, NAMES, Signals, read_stored, write_stored

FAITHFUL = "The monthly fee of the Harbour Account is 5 euros for all adults."
CONTEXTS = (FAITHFUL, "The limit is 9 euros.")


def make_answer(number: int, **changes: object) -> LabelledAnswer:
    answer = LabelledAnswer(
        f"a{number}",
        "wice",
        "wice",
        f"c{number}",
        "",
        FAITHFUL,
        (FAITHFUL, "The limit is 9 euros."),
        False,
        False,
        "",
        "",
    )
    return replace(answer, **changes)


def make_signals(count: int = 40) -> Signals:
    """Return answers of two families, of which the second is ten times as large; entailment tells good from bad."""
    random = np.random.default_rng(4)
    answers, kinds = [], []
    for number in range(count):
        name = "wice" if number % 11 == 0 else "shroom"
        answers.append(make_answer(number, set_name=name, family=name, is_bad=bool(number % 2)))
        kinds.append(None)
    features = random.standard_normal((count, len(NAMES))) * 0.1
    features[:, 0] += np.where([answer.is_bad for answer in answers], -2.0, 2.0)
    return Signals(answers, kinds, np.arange(count), features, np.zeros(count, dtype=bool))


def test_a_file_of_labels_becomes_answers(tmp_path):
    rows = [
        {"source_group": "g", "query": None, "contexts": ["A."], "answer": "B.", "bad": True, "conflict": None},
        {"source_group": "g", "query": "Q?", "contexts": ["A."], "answer": "A.", "bad": False, "conflict": False},
        {"source_group": "h", "query": "Q?", "contexts": ["A."], "answer": "Not A.", "bad": True, "conflict": True},
    ]
    path = tmp_path / "tabfact.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path)
    first, second, third = read_set(path)
    assert (first.family, first.query, first.is_bad, first.is_contradicted) == ("tables", "", True, None)
    assert (second.is_contradicted, third.is_contradicted) == (False, True)
    assert first.cluster == second.cluster != third.cluster


def test_families_and_kinds_weigh_the_same():
    signals = make_signals()
    weights = prior.balance(signals, np.ones(40, dtype=bool))
    sums = {family: weights[signals.families == family].sum() for family in ("wice", "shroom")}
    assert sums["wice"] == pytest.approx(sums["shroom"])
    assert weights.mean() == pytest.approx(1.0)
    assert prior.balance(signals, signals.families == "wice")[signals.families == "shroom"].sum() == 0


def test_a_left_out_family_is_scored_by_the_others():
    signals = make_signals()
    log_odds = prior.fit_left_out(signals)
    fusion = prior.fit(signals, signals.families == "shroom")
    own = signals.families == "wice"
    assert np.array_equal(log_odds[own], fusion.sentence_log_odds(signals.features[own]))
    ranking = rank(signals, signals.join(log_odds))
    assert ranking.by_family.value > 0.9
    assert np.isnan(ranking.of_records.value)


def test_stored_signals_hold_no_text_and_come_back(tmp_path):
    signals = make_signals()
    accurate = signals.features[:, :2] + 1.0
    accurate[3] = np.nan
    is_unsettled = np.arange(40) < 10
    path = tmp_path / "signals.parquet"
    write_stored(signals, {"compact": signals.features[:, :2], "accurate": accurate}, is_unsettled, path)
    assert FAITHFUL.encode() not in path.read_bytes()
    compact, whole, cascade = (read_stored(name, path) for name in ("compact", "accurate", "cascade"))
    assert (len(compact.answers), len(whole.answers), len(cascade.answers)) == (40, 39, 39)
    np.testing.assert_allclose(compact.features, signals.features, atol=1e-6)
    np.testing.assert_allclose(cascade.features[0, :2], accurate[0], atol=1e-6)
    np.testing.assert_allclose(cascade.features[-1, :2], signals.features[-1, :2], atol=1e-6)


@pytest.mark.parametrize("setting", ["cascade", "compact", "accurate"])
def test_the_shipped_prior_is_what_the_stored_signals_give(setting):
    stored = read_stored(setting)
    fusion = prior.fit(stored, np.ones(len(stored.answers), dtype=bool))
    with PRIOR.open(encoding="utf-8") as handle:
        rows = {row["feature"]: row for row in csv.DictReader(handle) if row["classifier_name"] == CLASSIFIERS[setting]}
    assert float(rows["intercept"]["coefficient"]) == pytest.approx(fusion.intercept, abs=2e-3)
    for name, coefficient in zip(FEATURES, fusion.coefficients, strict=True):
        assert float(rows[name]["coefficient"]) == pytest.approx(coefficient, abs=2e-3)


def test_labels_stay_out_of_the_raw_logs(tmp_path):
    row = {"query": "What?", "contexts": ["A context."], "answer": "An answer.", "hallucinated": True, "task": "QA"}
    table = pa.Table.from_pylist([row | {"model": "one", "source_id": "s1"}, row | {"model": "two", "source_id": "s2"}])
    parquet.write_table(table, tmp_path / "part.parquet")
    rows = ragtruth.read_rows(tmp_path)
    ragtruth.write_raw_logs(rows, tmp_path / "raw")
    written = "".join(path.read_text() for path in sorted((tmp_path / "raw").iterdir()))
    assert "hallucinated" not in written
    assert len({row["interaction_id"] for row in rows}) == 2
    parquet.write_table(table.drop_columns(["task"]), tmp_path / "part.parquet")
    with pytest.raises(ValueError, match="has no column task"):
        ragtruth.read_rows(tmp_path)
