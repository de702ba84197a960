"""Groups, equations, context comparison and sides, against hand-worked answers and simulated applications."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hcat.robustness.comparison import COMPARISON_SCHEMA, compare_at_equal_size, compare_sides
from hcat.robustness.groups import (
    ANSWER_SCHEMA,
    GROUP_SCHEMA,
    attribute_errors,
    equalise_groups,
    group_answers,
    name_faulty_modules,
)
from hcat.robustness.rates import ROBUSTNESS_SCHEMA, SCOPES, RobustnessSettings, chance_robustness, measure_robustness

QUICK = RobustnessSettings(count_draws=400)


def answers_of(
    groups: dict[str, list[tuple[bool | None, list[str] | None]]], side: str = "short"
) -> list[dict[str, Any]]:
    return [
        {
            "system_id": "app",
            "hypothesis": "length",
            "side": side,
            "group_id": group,
            "interaction_id": f"{side} {group} {number}",
            "query": f"{side} {group} {number}",
            "is_correct": is_correct,
            "context_ids": documents,
            "context_texts": None,
        }
        for group, answers in groups.items()
        for number, (is_correct, documents) in enumerate(answers)
    ]


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=ANSWER_SCHEMA)


def flags(*marks: str) -> dict[str, list[tuple[bool | None, list[str] | None]]]:
    """Return groups of marks: r = right with document d, m = wrong with d, x = wrong with e, ? = undecided."""
    meaning: dict[str, tuple[bool | None, list[str] | None]] = {
        "r": (True, ["d"]),
        "m": (False, ["d"]),
        "x": (False, ["e"]),
        "?": (None, ["d"]),
        "-": (False, None),
    }
    return {f"g{number:03d}": [meaning[mark] for mark in marks_of] for number, marks_of in enumerate(marks)}


def row_of(table: pa.Table, **wanted: str) -> dict[str, Any]:
    row: dict[str, Any]
    (row,) = [row for row in table.to_pylist() if all(row[name] == value for name, value in wanted.items())]
    return row


def test_chance_value_is_that_of_the_formula() -> None:
    assert chance_robustness(0.3, [3]) == pytest.approx(0.3 / (1 - 0.7**3))
    assert chance_robustness(0.3, [1, 1]) == 1.0
    assert chance_robustness(1.0, [4]) == 1.0
    assert chance_robustness(0.0, [4]) is None
    assert chance_robustness(1e-12, [5]) == pytest.approx(0.2)
    # groups of 2 and of 5: 7 answers of which a quarter is right, in groups that have a right one
    assert chance_robustness(0.25, [2, 5]) == pytest.approx(7 / 4 / (2 * (1 - 0.75**2) + 5 * (1 - 0.75**5)))


def test_a_wrong_answer_with_a_right_answers_document_is_an_error_of_the_model() -> None:
    named = name_faulty_modules(
        [True, False, False, None, False], [frozenset("ab"), frozenset("bc"), frozenset("c"), frozenset("c"), None]
    )
    assert named == [
        ("not_wrong", None),
        ("compared", "language_model"),
        ("compared", "retrieval"),
        ("not_wrong", None),
        ("no_context_logged", None),
    ]


def test_nothing_retrieved_is_an_error_of_retrieval_and_unknown_is_not() -> None:
    assert name_faulty_modules([True, False], [frozenset("a"), frozenset()])[1] == ("compared", "retrieval")
    assert name_faulty_modules([True, False], [frozenset(), frozenset("a")])[1] == ("no_context_of_right_answers", None)
    assert name_faulty_modules([True, False], [None, frozenset("a")])[1] == ("no_context_of_right_answers", None)
    assert name_faulty_modules([False, False], [frozenset("a"), frozenset("a")])[0] == ("not_non_robust", None)
    assert name_faulty_modules([None, False], [frozenset("a"), frozenset("a")])[1] == ("not_non_robust", None)


def test_documents_are_told_apart_by_text_where_there_are_no_ids() -> None:
    rows = answers_of(flags("rmx"))
    for row, text in zip(rows, ["The bank  is in Oslo.", "The bank is in\nOslo.", "Another text."], strict=True):
        row |= {"context_ids": None, "context_texts": [text]}
    found = attribute_errors(table_of(rows))
    assert found["faulty_module"].to_pylist() == [None, "language_model", "retrieval"]


def test_groups_are_counted_by_hand() -> None:
    grouped = group_answers(table_of(answers_of(flags("rmx", "xm", "rr", "r?-", "??")))).to_pylist()
    assert [row["group_type"] for row in grouped] == ["non_robust", "gap", "robust", "non_robust", None]
    first = grouped[0]
    assert (first["count_answers"], first["count_correct"], first["count_queries"]) == (3, 1, 3)
    assert (first["count_retrieval_errors"], first["count_language_model_errors"]) == (1, 1)
    assert grouped[1]["count_language_model_errors"] == 0
    assert (grouped[3]["count_undecided"], grouped[3]["count_unattributed_errors"]) == (1, 1)
    assert grouped[4]["share_correct"] is None
    assert grouped[4]["is_gap_on_every_side"] is None


def test_the_scopes_give_the_hand_worked_figures() -> None:
    grouped = group_answers(table_of(answers_of(flags("rmx", "xxx", "rrr", "rmm"))))
    measured = measure_robustness(grouped, RobustnessSettings(count_draws=50, minimum_groups=2))
    assert grouped.schema == GROUP_SCHEMA
    assert measured.schema == ROBUSTNESS_SCHEMA
    rows = {row["scope"]: row for row in measured.to_pylist() if row["gap_rule"] == "own_side"}
    plain, removed, counted = (rows[scope] for scope in SCOPES)
    # 5 right of 12, 3 in the gap, 3 errors of the model
    assert (plain["robustness"], plain["accuracy"], plain["gap_share"]) == (5 / 9, pytest.approx(5 / 12), 0.25)
    assert plain["chance_robustness"] == pytest.approx((5 / 12) / (1 - (7 / 12) ** 3))
    assert (removed["robustness"], removed["accuracy"]) == (5 / 6, pytest.approx(5 / 9))
    assert removed["chance_robustness"] is None
    assert (counted["robustness"], counted["accuracy"]) == (8 / 9, pytest.approx(8 / 12))
    for row in rows.values():
        outside = 1 - row["gap_share"]
        assert row["accuracy"] == pytest.approx(row["robustness"] * outside)
        assert row["robustness_low"] <= row["robustness"] <= row["robustness_high"]


def test_a_gap_of_one_cluster_is_no_gap_of_the_hypothesis() -> None:
    rows = answers_of(flags("rr", "rr")) + answers_of(flags("rr", "xx"), "long")
    measured = measure_robustness(group_answers(table_of(rows)), QUICK)
    own = row_of(measured, side="long", scope="all", gap_rule="own_side")
    every = row_of(measured, side="long", scope="all", gap_rule="every_side")
    assert (own["robustness"], own["count_gap_groups"]) == (1.0, 1)
    assert (every["robustness"], every["count_gap_groups"], every["count_non_robust_groups"]) == (0.5, 0, 1)
    assert own["status"] == "too_few_groups"
    assert own["robustness_low"] is None


def test_all_gaps_have_no_robustness_and_all_right_still_has_a_width() -> None:
    gaps = measure_robustness(group_answers(table_of(answers_of(flags(*["xx"] * 12)))), QUICK).to_pylist()[0]
    assert (gaps["status"], gaps["robustness"], gaps["accuracy"]) == ("no_answerable_group", None, 0.0)
    assert gaps["chance_robustness"] is None
    sound = measure_robustness(group_answers(table_of(answers_of(flags(*["rr"] * 12)))), QUICK).to_pylist()[0]
    assert sound["interval_method"] == "wilson_groups"
    assert sound["robustness_low"] == pytest.approx(12 / (12 + 1.959964**2), abs=1e-6)
    undecided = measure_robustness(group_answers(table_of(answers_of(flags("??")))), QUICK).to_pylist()[0]
    assert (undecided["accuracy"], undecided["gap_share"], undecided["smallest_group"]) == (None, None, None)


def test_a_planted_difference_is_found_and_equal_clusters_are_not_told_apart() -> None:
    random = np.random.default_rng(5)

    def draw(share: float, count: int = 60) -> dict[str, list[tuple[bool | None, list[str] | None]]]:
        return flags(*["r" + "".join("r" if each < share else "x" for each in random.random(4)) for _ in range(count)])

    apart = compare_sides(group_answers(table_of(answers_of(draw(0.9)) + answers_of(draw(0.5), "long"))), QUICK)
    found = row_of(apart, measure="robustness", scope="all", gap_rule="own_side")
    assert (found["design"], found["first_side"], found["second_side"]) == ("paired", "long", "short")
    assert found["high"] < 0
    assert found["p_value"] == pytest.approx(1 / 401)
    same = compare_sides(group_answers(table_of(answers_of(draw(0.7)) + answers_of(draw(0.7), "long"))), QUICK)
    found = row_of(same, measure="robustness", scope="all", gap_rule="own_side")
    assert found["low"] < 0 < found["high"]
    assert found["p_value"] > 0.05


def test_the_permutation_test_keeps_its_level_paired_and_unpaired() -> None:
    random = np.random.default_rng(8)
    fast = RobustnessSettings(count_draws=99)
    for is_paired in (True, False):
        rejected = 0
        for _ in range(40):
            left = ["".join(random.choice(["r", "x"], 3)) for _ in range(25)]
            right = ["".join(random.choice(["r", "x"], 3)) for _ in range(25)]
            rows = answers_of(flags(*left))
            others = answers_of(flags(*right), "long")
            for row in [] if is_paired else others:
                row["group_id"] += " other"
            compared = compare_sides(group_answers(table_of(rows + others)), fast)
            found = row_of(compared, measure="robustness", scope="all", gap_rule="own_side")
            assert found["design"] == ("paired" if is_paired else "unpaired")
            rejected += found["p_value"] <= 0.05
        assert rejected <= 7  # 40 tests at 5 %: 8 or more has a probability below .001


def test_sides_are_compared_at_the_size_of_the_smallest_groups() -> None:
    rows = answers_of(flags(*["rrxx"] * 12)) + answers_of(flags(*["rx"] * 12), "long")
    found = row_of(
        compare_sides(group_answers(table_of(rows)), QUICK), measure="robustness", scope="all", gap_rule="own_side"
    )
    assert (found["status"], found["difference"], found["p_value"]) == ("unequal_group_sizes", None, None)
    compared = compare_at_equal_size(table_of(rows), QUICK)
    assert compared.schema == COMPARISON_SCHEMA
    found = row_of(compared, measure="robustness", scope="all", gap_rule="own_side")
    assert (found["status"], found["group_size"]) == ("compared", 2)
    rows = answers_of(flags(*["rr"] * 12)) + answers_of(flags(*["rx"] * 12), "long")
    found = row_of(compare_at_equal_size(table_of(rows), QUICK), measure="robustness", scope="all", gap_rule="own_side")
    assert (found["group_size"], found["difference"]) == (None, -0.5)  # long - short
    assert found["p_value"] < 0.01
    assert compare_at_equal_size(table_of(answers_of(flags("rr", "rx"))), QUICK).num_rows == 0


def test_groups_of_one_answer_have_no_robustness_of_their_own() -> None:
    rows = answers_of(flags(*"r" * 12)) + answers_of(flags(*"x" * 12), "long")
    compared = compare_at_equal_size(table_of(rows), QUICK)
    own = row_of(compared, scope="all", gap_rule="own_side", measure="robustness")
    assert (own["status"], own["difference"], own["p_value"]) == ("groups_of_one", None, None)
    every = row_of(compared, scope="all", gap_rule="every_side", measure="robustness")
    assert (every["status"], every["difference"]) == ("compared", -1.0)


def test_equal_groups_are_drawn_by_hash_and_small_ones_leave() -> None:
    table = table_of(answers_of(flags("rmxr", "rx", "r?x?", "r")))
    kept = equalise_groups(table, 2, 1)
    sizes = {row["group_id"]: row["count_answers"] for row in group_answers(kept).to_pylist()}
    assert sizes == {"g000": 2, "g001": 2, "g002": 2}
    turned = equalise_groups(table.take(pa.array(range(len(table) - 1, -1, -1))), 2, 1)
    assert sorted(kept["interaction_id"].to_pylist()) == sorted(turned["interaction_id"].to_pylist())


def test_the_authors_log_has_the_published_groups() -> None:
    root = os.environ.get("HCAT_BENCHMARK_DATA")
    if not root or not (Path(root) / "grammar" / "rag_log.parquet").exists():
        pytest.skip("HCAT_BENCHMARK_DATA is not set or holds no folder grammar")
    from benchmarks.robustness_groups import EXPECTED, read_log, to_answers

    grouped = group_answers(to_answers(read_log(Path(root) / "grammar" / "rag_log.parquet"))).to_pylist()
    for (system, style), expected in EXPECTED.items():
        types = [row["group_type"] for row in grouped if (row["system_id"], row["side"]) == (system, style)]
        assert tuple(types.count(each) for each in ("gap", "robust", "non_robust")) == expected
