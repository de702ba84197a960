"""Calls of a language model for templates: no prompt holds a row, and what was answered is not asked again."""

import json
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from grammar_materials import CITY, gather, statuses, used

from hcat.grammar.calls import call_for_templates
from hcat.language_models import endpoint

SERVICE = {"base_url": "http://127.0.0.1:9/v1", "model": "canned", "concurrency": 1, "repairs": 1}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Answer every prompt without a network, and return the list of what was asked."""
    prompts: list[Any] = []

    def answer_prompt(self: Any, messages: Any, schema: Any) -> tuple[str, int, int]:
        prompts.append(messages)
        body = json.loads(messages[1]["content"])
        if len(messages) == 2 and "tables" in body:
            return "no JSON", 10, 5
        if "tables" in body:
            return json.dumps({"templates": [CITY, "SELECT * FROM branches"]}), 10, 5
        said = [f"text {len(prompts)} {number} " + " ".join(body["placeholders"]) for number in range(body["count"])]
        return json.dumps({"templates": said}), 10, 5

    monkeypatch.setattr(endpoint.LanguageModel, "_send", answer_prompt)
    return prompts


def test_offline_nothing_is_asked(bank: duckdb.DuckDBPyConnection, asked: list[Any]) -> None:
    assert list(call_for_templates(gather(bank), {})) == []
    assert asked == []


def test_what_was_answered_is_not_asked_again(bank: duckdb.DuckDBPyConnection, asked: list[Any]) -> None:
    materials = gather(bank, settings={"generator": "language_model", "maximum_templates": 3})
    ledger = pa.Table.from_batches(list(call_for_templates(materials, SERVICE)))
    rows = ledger.to_pylist()
    # the first reply was no JSON and was asked for again
    assert [(row["call_status"], row["is_last"]) for row in rows[:2]] == [("invalid_reply", False), ("answered", True)]
    assert list(call_for_templates(materials, SERVICE, ledger)) == []
    assert len(asked) == len(rows)
    known = gather(bank, calls=ledger, settings={"maximum_templates": 3})
    assert [status for _, status in statuses(known, origin="language_model")] == ["accepted", "rejected"]
    assert {origin for origin, _ in used(known)} == {"language_model"}
    # replies to other tables or another count are passed over
    assert statuses(gather(bank, calls=ledger, settings={"maximum_templates": 4}), origin="language_model") == []


def test_beyond_the_budget_the_enumerator_alone_writes(bank: duckdb.DuckDBPyConnection, asked: list[Any]) -> None:
    materials = gather(bank, settings={"generator": "language_model", "maximum_templates": 3})
    ledger = pa.Table.from_batches(list(call_for_templates(materials, SERVICE | {"maximum_calls": 0})))
    assert asked == []
    assert set(ledger["call_status"].to_pylist()) == {"budget_exhausted"}
    known = gather(bank, calls=ledger, settings={"maximum_templates": 3})
    assert len(statuses(known, template_status="accepted", origin="enumerated")) == 3
    # the next build tries again
    assert list(call_for_templates(materials, SERVICE, ledger)) != []
