"""Pairs from labelled sets: labels of single sentences, made faults, true negations, and families that are left out."""

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from training import fit, grounded, human_sets, pairs
from training.labelled_sets import family_of
from training.pairs import TARGETS

PASSAGE = "The card costs 5 euros a year. Students of Quayside pay nothing. It is sent within 7 days."


def write_set(folder, name, rows):
    (folder / "more").mkdir(exist_ok=True)
    full = [{"source_group": "g", "query": "", "contexts": [PASSAGE], "conflict": False} | row for row in rows]
    parquet.write_table(pa.Table.from_pylist(full), folder / "more" / f"{name}.parquet")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    rows = [
        {"answer": "The card costs 5 euros a year.", "bad": False},
        {"answer": "The card costs 9 euros a year.", "bad": True, "conflict": True},
        {"answer": "The card is blue.", "bad": True},
        # which of the two sentences is bad, nobody said
        {"answer": "It is sent within 7 days. It is green.", "bad": True},
    ]
    write_set(folder, "tabfact", rows)
    write_set(folder, "ci_tod", rows[:1])
    # a set that weights must not be trained on
    write_set(folder, "anli_dev", rows)
    kept = folder / "pairs.parquet"
    first = human_sets.read_human_pairs(folder, grounded.EvidenceReader(), 1, kept)
    assert human_sets.read_human_pairs(folder, None, 1, kept) == first
    return first


def test_only_sentences_with_a_label_of_their_own_are_taken(found):
    labelled = {(pair.hypothesis, TARGETS[pair.target]) for _, pair in found if pair.source == "tabfact"}
    assert labelled == {
        ("The card costs 5 euros a year.", "entailment"),
        ("The card costs 9 euros a year.", "contradiction"),
        ("The card is blue.", "neutral"),
    }
    assert {family for family, _ in found} == {"tables", "ci_tod"}


def test_a_fault_contradicts_and_the_negation_of_a_wrong_number_is_true(found):
    made = {pair.source: (pair.hypothesis, TARGETS[pair.target]) for _, pair in found if pair.source.startswith("made")}
    text, target = made["made negation"]
    assert target == "contradiction"
    assert "not" in text
    text, target = made["made true_negation"]
    assert target == "entailment"
    assert "not" in text
    assert " 5 euros" not in text


def test_a_fold_leaves_its_families_out(found):
    sources = {pair.source for pair in human_sets.leave_out(found, 0)}
    assert "tabfact" not in sources
    assert "ci_tod" in sources
    assert len(human_sets.leave_out(found, None)) == len(found)


def test_folds_share_no_family_and_hold_all_that_is_trained_on():
    first, second = human_sets.FOLDS
    families = {family_of(name) for name in human_sets.SETS}
    assert not first & second
    assert first | second == families


def test_a_stopped_training_ends_where_an_undisturbed_one_does(tmp_path, monkeypatch):
    rows = [pairs.Pair("The fee is 5 euros.", f"The fee is {number} euros.", number % 3, "x") for number in range(12)]
    settings = fit.Settings(rank=2, epochs=2, batch_pairs=4, maximum_tokens=32)
    monkeypatch.setattr(fit, "CHECKPOINT_SECONDS", 0.0)
    whole = fit.read_delta(fit.train(rows, settings, tmp_path / "whole"))
    steps = 0
    loss = fit.measure_loss

    def stop(*arguments):
        nonlocal steps
        steps += 1
        if steps == 4:
            raise KeyboardInterrupt
        return loss(*arguments)

    monkeypatch.setattr(fit, "measure_loss", stop)
    with pytest.raises(KeyboardInterrupt):
        fit.train(rows, settings, tmp_path / "stopped")
    with pytest.raises(ValueError, match="belongs to a training with other pairs or settings"):
        fit.train(rows[:6], settings, tmp_path / "stopped")
    resumed = fit.read_delta(fit.train(rows, settings, tmp_path / "stopped"))
    assert steps == 4 + 3
    assert not (tmp_path / "stopped" / "checkpoint.pt").exists()
    assert all((resumed[name] == value).all() for name, value in whole.items())
