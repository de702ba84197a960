"""The example's service: a reply is of the schema that was asked for, whatever the model prefers to say."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from test_generation_language_model import load_example

from hcat.grammar.prompts import templates_response
from hcat.judging import prompts
from hcat.test_set.generation.prompts import FACTS_RESPONSE, queries_response

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
    return load_example()


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
