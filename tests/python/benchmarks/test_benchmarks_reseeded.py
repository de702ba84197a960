"""Demos from other seeds: simulated readings, coverage outside of the calibration, and what a page says of them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from numpy.testing import assert_allclose

from benchmarks import reseeded
from benchmarks.__main__ import BENCHMARKS
from benchmarks.reseeded import Item, LabelCoverage, MetricResult, SeedResult
from benchmarks.simulated_readings import Shown, read_shown, simulate_readings

READ = {
    "read_good": Shown("same text", "none", True),
    "read_bad": Shown("b", "negation", True),
    "read_mild": Shown("c", "negation", True),
    "not_read": Shown("d", "swapped_number", True),
}
READINGS = {
    "read_good": {"faithfulness": 2, "relevance": 2},
    "read_bad": {"faithfulness": 0, "relevance": 2},
    "read_mild": {"faithfulness": 2, "relevance": 1},
}


def test_the_benchmark_is_registered() -> None:
    assert BENCHMARKS["reseeded"] is reseeded.run


def test_an_answer_that_was_read_keeps_its_reading_and_others_take_one_of_their_kind() -> None:
    shown = {
        # planted or not, the same text reads alike
        "unchanged": Shown("same text", "negation", True),
        "changed": Shown("new", "none", True),
        "of_no_read_kind": Shown("new", "swapped_number", True),
        "tests_a_risk": Shown("same text", "none", False),
    }
    simulated, real = simulate_readings(shown, READ, READINGS, 1)
    assert simulated == {"unchanged": READINGS["read_good"], "changed": READINGS["read_good"]}
    assert real == {"unchanged"}


def test_a_simulated_reader_errs_as_often_as_the_reader_did_and_reads_one_text_once() -> None:
    shown = {f"row_{number}": Shown(f"text {number // 2}", "negation", True) for number in range(4_000)}
    first, _ = simulate_readings(shown, READ, READINGS, 1)
    again, _ = simulate_readings(shown, READ, READINGS, 1)
    other, _ = simulate_readings(shown, READ, READINGS, 2)
    assert first == again
    assert first != other
    assert all(first[f"row_{number}"] == first[f"row_{number + 1}"] for number in range(0, 4_000, 2))
    # one of the two negations that were read was called failing; 2,000 texts, four standard errors
    share = sum(points["faithfulness"] == 0 for points in first.values()) / len(first)
    assert_allclose(share, 0.5, atol=4 * math.sqrt(0.25 / 2_000))
    # all points come from one reading
    assert {tuple(points.items()) for points in first.values()} == {
        tuple(READINGS[name].items()) for name in ("read_bad", "read_mild")
    }


def test_what_is_shown_depends_on_query_contexts_and_answer_alone(tmp_path: Path) -> None:
    def shown(answer: str, context: str = "Fees are 2 euros.") -> dict[str, Shown]:
        interactions = [
            {"interaction_id": "t", "query_id": "q", "answer": answer, "recorded_fault": "none"},
            {"interaction_id": "c", "query_text": "What is the fee?", "answer": "2", "recorded_fault": "negation"},
            {"interaction_id": "risk", "query_id": "attack", "answer": "2", "recorded_fault": "none"},
        ]
        ids = ("t", "c", "risk")
        files = {
            "interactions": interactions,
            "queries": [
                {"query_id": "q", "text": "What is the fee?", "variant_type": "original"},
                {"query_id": "attack", "text": "Ignore all.", "variant_type": "prompt_injection"},
            ],
            "retrievals": [{"interaction_id": one, "rank": 1, "text": context} for one in ids],
        }
        for name, rows in files.items():
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return read_shown(tmp_path)

    same = shown("2")
    assert same["t"].content == same["c"].content
    assert (same["c"].fault, same["t"].is_rateable, same["c"].is_rateable) == ("negation", True, True)
    assert not same["risk"].is_rateable
    assert shown("3")["t"].content != same["t"].content
    assert shown("2", "Fees are 3 euros.")["t"].content != same["t"].content


def test_coverage_is_a_mean_over_clusters_of_one_system_and_label() -> None:
    rows = [
        ("a1", "accepted", "one", "system 1"),
        ("a2", "failed", "one", "system 1"),
        ("a3", "accepted|failed", "two", "system 1"),
        ("a4", "accepted", "one", "system 2"),
        ("f1", "empty", "two", "system 1"),
        ("calibrates", "failed", "two", "system 1"),
    ]
    labels = {"a1": 1, "a2": 1, "a3": 1, "a4": 1, "f1": 0}
    clusters = {("system 1", 1): 98, ("system 2", 1): 48, ("system 1", 0): None}
    accepted, failed = reseeded.measure_labels(rows, labels, clusters, 0.1)
    assert (accepted.count_rows, accepted.count_covered, accepted.count_clusters) == (4, 3, 3)
    # a half, one and one
    assert_allclose(accepted.coverage, 2.5 / 3)
    assert_allclose(accepted.variance, 0.09 * (1 / 3 + (2 / 3) ** 2 / 100 + (1 / 3) ** 2 / 50))
    assert (failed.label, failed.coverage, failed.count_clusters) == ("failed", 0.0, 1)
    assert_allclose(failed.variance, 0.09)


def test_the_text_tables_go_from_one_warehouse_to_the_next(tmp_path: Path) -> None:
    reseeded.carry_texts(tmp_path / "nothing.duckdb", tmp_path / "build" / "hcat.duckdb")
    assert not (tmp_path / "build").exists()
    with duckdb.connect(str(tmp_path / "texts.duckdb")) as connection:
        for number, name in enumerate(("int_texts_embedded", "int_pairs_entailed", "int_texts_recognised", "other")):
            connection.execute(f"create table {name} as select {number} as text_id")
    reseeded.carry_texts(tmp_path / "texts.duckdb", tmp_path / "build" / "hcat.duckdb")
    with duckdb.connect(str(tmp_path / "build" / "hcat.duckdb")) as connection:
        tables = connection.execute("select table_name from information_schema.tables order by 1").fetchall()
        assert tables == [("int_pairs_entailed",), ("int_texts_embedded",), ("int_texts_recognised",)]
        assert connection.execute("select text_id from int_pairs_entailed").fetchall() == [(1,)]


def result(seed: int, coverage: float = 0.9, count_single: int = 70, ceiling: float | None = 0.9) -> SeedResult:
    label = LabelCoverage("accepted", 100, round(100 * coverage), 80, coverage, 0.0004)
    return SeedResult(
        seed=seed,
        inputs=reseeded.hash_inputs(),
        seconds_made=20.0,
        seconds_built=60.0,
        count_interactions=1_000,
        count_read=400,
        count_kept=30,
        failed_tests=(),
        metrics=(
            MetricResult(
                "groundedness", "faithfulness", 100, count_single, ceiling, (label, replace(label, label="failed"))
            ),
        ),
        items=(Item("fees", True, "+0.4", ""), Item("drift", seed != 2, "–", "" if seed != 2 else "no alarm")),
        count_severe=30,
        false=("topic cards (groundedness)",) if seed == 2 else (),
    )


def test_a_result_is_read_again_until_its_inputs_change(tmp_path: Path) -> None:
    path = tmp_path / "seed_1.json"
    assert reseeded.read_result(path) is None
    reseeded.write_result(result(1), path)
    assert reseeded.read_result(path) == result(1)
    reseeded.write_result(replace(result(1), inputs="of another commit"), path)
    assert reseeded.read_result(path) is None


def test_a_second_run_measures_only_the_seeds_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def measure(seed: int, folder: Path, is_quick: bool) -> SeedResult:
        measured.append(seed)
        return result(seed)

    monkeypatch.setattr(reseeded, "measure_seed", measure)
    reseeded.run(folder=tmp_path, count_seeds=2)
    outcome = reseeded.run(folder=tmp_path, count_seeds=3)
    assert measured == [1, 2, 3]
    assert outcome.title == "The demo from 3 other seeds"


def test_the_page_counts_seeds_and_names_what_was_missed() -> None:
    outcome = reseeded.summarise([result(1), result(2)])
    sets, by_seed, items, false, readings = outcome.tables
    assert outcome.is_within_limits
    assert sets.rows[0][1:4] == ("70.0% of 100", "90.0%", "0.900 (90 of 100, 80 clusters)")
    assert sets.rows[2][3] == "0.900 ± 0.014 (180 of 200 (85% to 93%))"
    assert by_seed.rows[1][:4] == ("2", "1 of 2", "drift", "1 of 30")
    assert by_seed.rows[2][1].startswith("3 of 4 (")
    assert [row[0] for row in items.rows] == ["fees", "drift"]
    assert items.rows[1][2] == "seed 2: – (no alarm)"
    assert false.rows == [("topic cards (groundedness)", "2")]
    assert ("none", "21 of 284", "2 of 284", "20 of 284") in readings.rows


@pytest.mark.parametrize(
    ("results", "is_within"),
    [
        # 0.872 is two standard errors of two seeds below 0.9
        ([result(1, 0.88), result(2, 0.87)], True),
        ([result(1, 0.87), result(2, 0.87)], False),
        ([result(1, count_single=59)], False),
        # the AUROC allows no more
        ([result(1, count_single=59, ceiling=0.55)], True),
        ([result(1, count_single=59, ceiling=None)], False),
    ],
)
def test_limits_of_coverage_and_of_sets(results: list[SeedResult], is_within: bool) -> None:
    assert reseeded.summarise(results).is_within_limits is is_within


def test_a_seed_without_sets_says_why_and_promises_nothing() -> None:
    without = replace(result(2).metrics[0], count_sets=0, count_single=0, labels=(), why_no_sets="wrong_direction")
    outcome = reseeded.summarise([result(1), replace(result(2), metrics=(without,))])
    assert outcome.tables[0].rows[1] == ("2", "no sets", "wrong_direction", "no answers", "no answers")
    assert outcome.tables[0].rows[2][3].startswith("0.900 ± 0.020 (90 of 100")
    assert outcome.is_within_limits
    assert not reseeded.summarise([replace(result(1), metrics=(replace(without, why_no_sets=""),))]).is_within_limits
