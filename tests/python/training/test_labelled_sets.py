"""Sets that are left out: one shape for all, equal weight of families, and a prior that the stored signals give."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from training import prior
from training.fusion import FEATURES
from training.labelled_sets import LabelledAnswer
from training.release import PRIOR
from training.signals import CLASSIFIERS, NAMES, Signals, read_stored, write_stored

FAITHFUL = "The monthly fee of the Harbour Account is 5 euros for all adults."


def make_answer(number: int, **changes: object) -> LabelledAnswer:
    contexts = (FAITHFUL, "The limit is 9 euros.")
    answer = LabelledAnswer(f"a{number}", "wice", "wice", f"c{number}", "", FAITHFUL, contexts, False, False, "", "")
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
    return Signals(answers, kinds, np.arange(count), features, np.zeros(count, dtype=bool), np.arange(float(count)))


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
    np.testing.assert_allclose(compact.count_words_missing(), -np.arange(40.0), rtol=1e-5)
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
