"""Calls of a language model for templates: which prompts are open, what was answered, and the ledger of both."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from hcat.grammar.materials import CALL_SCHEMA, SQL_STEP, TEXT_STEP, Materials
from hcat.grammar.prompts import (
    PROMPT_REVISION,
    generation_key,
    sql_templates_prompt,
    templates_response,
    text_templates_prompt,
)
from hcat.grammar.templates import collect_templates
from hcat.grammar.text_templates import STYLES
from hcat.language_models.conversation import KEY_VARIABLE, converse, drop_replays
from hcat.language_models.endpoint import UNSETTLED, LanguageModel, Service, in_waves
from hcat.language_models.replies import read_reply


def call_for_templates(
    materials: Materials, service: Mapping[str, Any], earlier: pa.Table | None = None
) -> Iterator[pa.RecordBatch]:
    """Ask a language model for SQL templates, then for texts of those accepted; yield the ledger of new calls.

    The offline generator asks nothing. What was answered before is not asked again. A prompt holds names, kinds and
    keys of the schema and templates with placeholders, never a row.

    Parameters
    ----------
    materials : Materials
        Without calls.
    service : mapping
        Fields of :class:`hcat.language_models.endpoint.Service` without the key, which comes from HCAT_LLM_API_KEY.
    earlier : Table, optional
        Calls of earlier builds, schema :data:`CALL_SCHEMA`.

    Raises
    ------
    SettingsError
        If the service is not described.

    Examples
    --------
    >>> from hcat.grammar.materials import Settings
    >>> from hcat.grammar.schema import Schema
    >>> nothing = CALL_SCHEMA.empty_table()
    >>> list(call_for_templates(Materials(Schema(()), Settings(7), nothing, nothing), service={}))
    []
    """
    settings, schema = materials.settings, materials.schema
    if settings.generator == "offline":
        return
    before = CALL_SCHEMA.empty_table() if earlier is None else earlier.select(CALL_SCHEMA.names)
    settled = {
        row["generation_key"] for row in before.to_pylist() if row["is_last"] and row["call_status"] not in UNSETTLED
    }
    kept = {row["prompt_hash"]: row["answer"] for row in before.to_pylist() if row["answer"] is not None}
    written = [(row["call_id"], row["call_status"]) for row in before.to_pylist()]
    model = LanguageModel(Service(**service, key=os.environ.get(KEY_VARIABLE, "")), dict(sorted(kept.items())))
    prompt = sql_templates_prompt(schema, settings.count_asked)
    asked: list[dict[str, Any]] = []
    if generation_key(prompt) not in settled:
        asked = _ask(model, prompt, settings.count_asked, {"sql_template_id": None, "step": SQL_STEP, "style": None})
        yield pa.RecordBatch.from_pylist(drop_replays(asked, written), schema=CALL_SCHEMA)
    known = pa.concat_tables([pa.Table.from_pylist(asked, schema=CALL_SCHEMA), before])
    work: list[tuple[list[dict[str, str]], dict[str, Any]]] = []
    for candidate in collect_templates(replace(materials, calls=known)):
        template = candidate.report.template
        if candidate.status != "accepted" or template is None:
            continue
        for style in STYLES:
            prompt = text_templates_prompt(template, schema, style, settings.texts_per_style)
            if generation_key(prompt) not in settled:
                shared = {"sql_template_id": candidate.sql_template_id, "step": TEXT_STEP, "style": style}
                work.append((prompt, shared))
    most = 1 + model.service.repairs
    for rows in in_waves(model, work, most, lambda each: _ask(model, each[0], settings.texts_per_style, each[1])):
        yield pa.RecordBatch.from_pylist(drop_replays(rows, written), schema=CALL_SCHEMA)


def _ask(
    model: LanguageModel, prompt: list[dict[str, str]], count: int, shared: Mapping[str, Any]
) -> list[dict[str, Any]]:
    key = generation_key(prompt)
    called = {**shared, "generation_key": key}
    schema = templates_response(count)
    rows, _ = converse(model, called, key, prompt, schema, lambda said: read_reply(said, schema), PROMPT_REVISION)
    return rows
