"""The raw contract: names and aliases of columns, and values as text."""

import datetime
import decimal
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcat.engine.keys import hash_text
from hcat.landing.aliases import ALIASES, plain_name
from hcat.landing.raw_contract import ENTITIES, canonical_columns, to_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("entity", ENTITIES.values(), ids=lambda entity: entity.name)
def test_contract_is_consistent(entity: Any) -> None:
    assert len(set(entity.columns)) == len(entity.columns)
    assert set(entity.required) <= set(entity.columns)
    assert set(entity.json) <= set(entity.columns)
    assert set(entity.aliases.values()) <= set(entity.columns)
    assert not set(entity.aliases) & set(entity.columns), "a canonical name needs no alias"
    assert set(entity.meanings) <= set(entity.columns)
    assert set(entity.meanings.values()) <= set(ALIASES)
    assert all(plain_name(name) == name for name in entity.aliases)


def test_the_list_of_aliases_names_no_meaning_twice_within_one() -> None:
    for meaning, names in ALIASES.items():
        assert len({meaning, *names}) == len(names) + 1, meaning


def test_a_canonical_name_wins_over_its_alias_in_any_order() -> None:
    for names in (["response", "answer"], ["answer", "response"]):
        assert canonical_columns(ENTITIES["interactions"], names) == {"answer": "answer"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (" 5 ", " 5 "),
        (5, "5"),
        (0.5, "0.5"),
        (True, "true"),
        ([1, "b"], '[1, "b"]'),
        ({"b": 1, "a": "é"}, '{"a": "é", "b": 1}'),
        (b"caf\xc3\xa9", "café"),
        (decimal.Decimal("1.10"), "1.10"),
        (datetime.datetime(2026, 5, 1, 10, tzinfo=datetime.UTC), "2026-05-01T10:00:00+00:00"),
    ],
)
def test_to_text(value: Any, text: str | None) -> None:
    assert to_text(value) == text


@pytest.mark.parametrize("value", [b"caf\xe9", {"a": float("nan")}, [float("inf")]])
def test_to_text_refuses_what_no_reader_could_read_back(value: Any) -> None:
    with pytest.raises(ValueError, match=r"utf-8|JSON compliant"):
        to_text(value)


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_objects_can_be_read_back_and_do_not_depend_on_order(value: dict[str, Any]) -> None:
    text = to_text(value)
    assert text is not None
    assert json.loads(text) == value
    assert to_text(dict(reversed(value.items()))) == text


def test_hash_text_is_md5_and_tells_parts_apart() -> None:
    assert hash_text("") == "d41d8cd98f00b204e9800998ecf8427e"
    assert hash_text("ab", "c") != hash_text("a", "bc")
    assert len(hash_text("\ud800")) == 32
