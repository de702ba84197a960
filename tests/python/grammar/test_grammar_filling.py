"""Fillings, ids of groups and the single answer."""

import datetime
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from grammar_materials import PAIR

from hcat.grammar import filling
from hcat.grammar.filling import check_answer, select_combinations, write_value
from hcat.grammar.sql_templates import Placeholder

IBAN, NUMBER = Placeholder("accounts", "iban"), Placeholder("loans", "loan_number")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ZZ11", "ZZ11"),
        (2.0, "2"),
        (Decimal("1250.50"), "1250.5"),
        (1e-7, "0.0000001"),
        (-0.0, "0"),
        (True, "yes"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29, 8, 30), "2024-02-29 08:30:00"),
        (datetime.time(8, 30), "08:30:00"),
    ],
)
def test_values_as_people_write_them(value: Any, text: str) -> None:
    assert write_value(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", [1], None])
def test_values_that_cannot_be_said_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="a value must be"):
        write_value(value)


def test_the_whole_product_is_taken_when_the_cap_allows_it() -> None:
    rows, count_possible = select_combinations(PAIR, {IBAN: ["a", "b", None, "a"], NUMBER: [1, 2, 3, 1.0]}, 100, 1)
    assert count_possible == 6
    assert set(rows) == {(iban, number) for iban in "ab" for number in (1, 2, 3)}


def test_every_combination_is_equally_likely_over_seeds() -> None:
    values: dict[Placeholder, list[Any]] = {IBAN: ["a", "b", "c"], NUMBER: [1, 2]}
    drawn = Counter(row for seed in range(600) for row in select_combinations(PAIR, values, 2, seed)[0])
    # 600 draws of 2 out of 6: 200 each, standard deviation 11.5
    assert sum(drawn.values()) == 1_200
    assert all(abs(count - 200) < 50 for count in drawn.values())
    assert len(drawn) == 6


def test_a_huge_product_is_not_counted_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "MAXIMUM_PRODUCT", 100)
    values: dict[Placeholder, list[Any]] = {IBAN: [f"Z{number}" for number in range(3_000)], NUMBER: list(range(5))}
    found = select_combinations(PAIR, values, 20, 1)
    assert found[1] == 15_000
    assert len(set(found[0])) == 20
    assert found == select_combinations(PAIR, {key: value[::-1] for key, value in values.items()}, 20, 1)
    whole, _ = select_combinations(PAIR, values, 1_000, 1)
    # the short list stays whole, the long one fills the room: 5 x 20
    assert len(whole) == 100
    assert len({number for _, number in whole}) == 5


@pytest.mark.parametrize(
    ("rows", "status", "answer"),
    [
        ([("Oslo",), ("Oslo",)], "single_answer", "Oslo"),
        ([(Decimal("2.50"),), (2.5,)], "single_answer", "2.5"),
        ([("Oslo", datetime.date(2024, 1, 2))], "single_answer", "Oslo, 2024-01-02"),
        ([("Oslo",), ("Rome",)], "several_answers", None),
        ([("Oslo",), (None,)], "several_answers", None),
        ([], "no_answer", None),
        ([(None,)], "null_answer", None),
        ([("  ",)], "null_answer", None),
        ([(0,)], "single_answer", "0"),
    ],
)
def test_the_single_answer(rows: list[tuple[Any, ...]], status: str, answer: str | None) -> None:
    assert status in ("single_answer", "several_answers", "no_answer", "null_answer")
    assert check_answer(rows) == (status, answer)
