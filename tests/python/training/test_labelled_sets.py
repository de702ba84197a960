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
from training import labelled_sets, made_faults, prior, ragtruth
from training.labelled_sets import LabelledAnswer, family_of, read_set, read_sets
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


def test_a_file_without_labels_is_one_line(tmp_path):
    path = tmp_path / "broken.parquet"
    parquet.write_table(pa.table({"answer": ["A."]}), path)
    with pytest.raises(ValueError, match=r"broken.parquet has no column source_group, query, contexts, bad, conflict"):
        list(read_set(path))


def test_a_smaller_limit_takes_a_part_of_a_larger_one(tmp_path):
    rows = [
        {"source_group": f"g{n // 3}", "query": "", "contexts": ["A."], "answer": "B.", "bad": False, "conflict": False}
        for n in range(30)
    ]
    (tmp_path / "more").mkdir()
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "more" / "wice.parquet")
    few, many = ([answer.answer_id for answer in read_sets(tmp_path, count)] for count in (7, 20))
    assert (len(few), len(many)) == (7, 20)
    assert set(few) < set(many)


def test_every_labelled_set_is_read_in_one_shape(tmp_path):
    passage, reply = "A card costs 5 euros.", "It costs 7 euros."
    turn = {"knowledge": passage, "message": "What does it cost?", "response": reply}
    spans = '[{"start": 9, "end": 10, "label_type": "Evident Conflict"}]'
    rag = {"query": "What does it cost?", "contexts": [passage], "answer": reply, "hallucinated": True, "spans": spans}
    rows = {
        "ragtruth": rag | {"task": "QA", "model": "m", "source_id": "1", "split": "test"},
        "begin": turn | {"begin_label": "Not fully attributable", "data_source": "wow", "model_name": "m"},
        "q2_wow": turn | {"label": 1, "model": "m"},
        "qags": {"article": passage, "sentence": reply, "consistent": False, "dataset": "xsum"},
        "expertqa": {"evidence": [passage], "support": "Partial", "claim": reply, "question": "q", "field": "f"}
        | {"system": "s"},
        "halueval": {"knowledge": passage, "question": "q", "right_answer": passage, "hallucinated_answer": reply},
    }
    for name, row in rows.items():
        (tmp_path / name).mkdir()
        parquet.write_table(pa.Table.from_pylist([row]), tmp_path / name / "part.parquet")
    found = {answer.set_name: answer for answer in read_sets(tmp_path) if answer.is_bad}
    assert found.keys() == rows.keys()
    assert {(answer.contexts, answer.answer) for answer in found.values()} == {((passage,), reply)}
    assert found.pop("ragtruth").is_contradicted is True
    assert {answer.is_contradicted for answer in found.values()} == {None}
    assert len(read_sets(tmp_path)) == len(rows) + 1


def test_every_family_names_sets_of_one_family():
    names = [name for family in labelled_sets.FAMILIES.values() for name in family]
    assert len(names) == len(set(names))
    assert {family_of(name) for name in names} == set(labelled_sets.FAMILIES)


def test_faults_stand_beside_the_sentence_that_they_were_made_from():
    answers = [make_answer(0), make_answer(1, answer="Only Students of Quayside pay 7 euros, unless they work there.")]
    made = made_faults.make_faults(answers, 3, 1)
    assert made == made_faults.make_faults(answers, 3, 1)
    origins = {each.origin for each in made if each.kind is None}
    assert {each.origin for each in made} == origins
    assert {each.kind for each in made} >= {None, "number_outside", "number_inside", "negation", "dropped_qualifier"}
    for each in made:
        assert each.answer.is_bad == (each.kind is not None)
        assert each.answer.contexts == answers[0].contexts


def test_faults_are_made_of_good_answers_only():
    assert made_faults.make_faults([make_answer(0, is_bad=True)], 3, 1) == []


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
