"""Privacy as tables: the recognisers, what they find in each distinct text, and where a value comes from.

Findings are kept as places and masks, never as words.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import schema
from hcat.engine.devices import LANGUAGES, MINILM, NAMES, TAGGER, ModelError, check_package
from hcat.engine.relations import map_batches
from hcat.engine.sizes import BATCH_TEXTS
from hcat.privacy.exposure import FINDING_COLUMNS, expose_spans, read_once
from hcat.privacy.masking import apply_masks, mask_value
from hcat.privacy.names import is_person_field
from hcat.privacy.recognition import find_spans
from hcat.privacy.spans import ENTITY_TYPES, Span
from hcat.privacy.tagger import DEFAULT_MODEL

PACKAGED: Final = "packaged"
TAGGERS: Final = (PACKAGED, "none")
"""`packaged` = the spaCy pipeline that is installed with hcat; `none` = rules only, which miss most names."""

ENTITY_CLASSES: Final = ("identifier", "personal", "place")
"""How serious a leak is: `identifier` has a check digit or a fixed form; `personal` is a name, a telephone number, an
address, a date or an amount, with some false alarms; `place` is weak personal data."""

#: Separates the name of a field from its value where a record is read.
_FIELD_MARK: Final = ": "
_RULE_LIBRARIES: Final = ("names",)
_TAGGER_LIBRARIES: Final = ("spacy", "presidio-analyzer", DEFAULT_MODEL)
#: Lists of names, ordinary words, and the model of languages, which decides whether the tagger reads a text.
_RULE_PACKAGES: Final = (NAMES, MINILM, LANGUAGES)

RECOGNISERS_SCHEMA: Final = schema(
    "string: tagger recogniser_key recogniser_name recogniser_revision",
    "list<string>: masked_types",
    "bool: has_tagger",
    "string: problem",
)
"""One row: the recognisers and their key; `problem` says what is wrong with the settings or the installation."""

SPAN_TYPE: Final = pa.struct(schema("int32: start end", "string: entity_type rule masked"))
"""Places are characters of the text, from 0; the end is exclusive; `masked` is null for types that are not hidden."""

RECOGNISED_SCHEMA: Final = schema("string: text_id reading_key masked_text").append(
    pa.field("spans", pa.list_(SPAN_TYPE))
)
"""One row per (distinct text or record, reading); `masked_text` is null where nothing is to be masked, and `spans` is
null for a record."""

EXPOSED_SCHEMA: Final = schema("string: interaction_id exposure_key", *FINDING_COLUMNS)
"""One row per (interaction, distinct value of its answer), masked."""


def describe_recognisers(tagger: str, entity_types: pa.Table) -> pa.Table:
    """Return the recognisers of personal data as one row (schema :data:`RECOGNISERS_SCHEMA`); no model is loaded."""
    row: dict[str, Any] = dict.fromkeys(RECOGNISERS_SCHEMA.names)
    try:
        if tagger not in TAGGERS:
            raise ModelError(f"the tagger must be one of {', '.join(TAGGERS)}, got {tagger!r}")
        masked_types = _read_masked_types(entity_types)
        libraries = (*_RULE_LIBRARIES, *_TAGGER_LIBRARIES) if tagger == PACKAGED else _RULE_LIBRARIES
        revision = ", ".join(f"{library} {_version(library)}" for library in libraries)
        packages = (*_RULE_PACKAGES, TAGGER) if tagger == PACKAGED else _RULE_PACKAGES
        for package in packages:
            check_package(package)
        pinned = (package.sha256 for package in packages)
        digest = hashlib.sha256("|".join((tagger, revision, *pinned, *masked_types)).encode())
        for source in list_rule_sources():
            digest.update(source.read_bytes())
        row |= {
            "tagger": tagger,
            "recogniser_key": digest.hexdigest()[:32],
            "recogniser_name": DEFAULT_MODEL if tagger == PACKAGED else "rules",
            "recogniser_revision": revision,
            "masked_types": masked_types,
            "has_tagger": tagger == PACKAGED,
        }
    except ModelError as error:
        row["problem"] = str(error)
    return pa.Table.from_pylist([row], schema=RECOGNISERS_SCHEMA)


def list_rule_sources() -> list[Traversable]:
    """Return the source files of the rules: all files of this package by name, then the lists of names."""
    sources = [source for source in resources.files("hcat.privacy").iterdir() if source.name.endswith((".py", ".yml"))]
    names = [resources.files("hcat.language").joinpath(name) for name in ("given_names.py", "names.yml")]
    return [*sorted(sources, key=lambda source: source.name), *names]


def _read_masked_types(entity_types: pa.Table) -> list[str]:
    rows = entity_types.to_pylist()
    listed = [row["entity_type"] for row in rows]
    if sorted(listed) != sorted(ENTITY_TYPES):
        raise ModelError(
            f"the seed privacy_entity_types must hold each of {', '.join(ENTITY_TYPES)} once, got {', '.join(listed)}"
        )
    unknown = sorted({str(row["entity_class"]) for row in rows} - set(ENTITY_CLASSES))
    if unknown:
        raise ModelError(f"entity_class must be one of {', '.join(ENTITY_CLASSES)}, got {', '.join(unknown)}")
    return sorted(row["entity_type"] for row in rows if row["is_masked"])


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        raise ModelError(
            f"recognisers of personal data need the package {library!r}, which comes with hcat, and it is not "
            f"installed; HCAT_TAGGER=none reads by rules alone"
        ) from None


def recognise_texts(batch: pa.RecordBatch, *, masked_types: Sequence[str]) -> pa.RecordBatch:
    """Return the personal data of each text as places and masks (schema :data:`RECOGNISED_SCHEMA`)."""
    rows = batch.to_pylist()
    found: dict[tuple[str, bool], list[Span]] = {}
    for is_tagged in (True, False):
        texts = [row["text"] for row in rows if row["is_tagged"] == is_tagged]
        # without a text no model is loaded
        read = find_spans(texts, is_tagged=is_tagged) if texts else []
        found |= {(text, is_tagged): spans for text, spans in zip(texts, read, strict=True)}
    hidden = frozenset(masked_types)
    keys = ("text_id", "reading_key")
    return pa.RecordBatch.from_pylist(
        [
            {key: row[key] for key in keys} | _describe(row["text"], found[row["text"], row["is_tagged"]], hidden)
            for row in rows
        ],
        schema=RECOGNISED_SCHEMA,
    )


def _describe(text: str, spans: Sequence[Span], hidden: frozenset[str]) -> dict[str, Any]:
    masked = [span for span in spans if span.entity_type in hidden]
    shown = {span: mask_value(text[span.start : span.end], span.entity_type) for span in masked}
    return {
        "masked_text": apply_masks(text, masked) if masked else None,
        "spans": [span._asdict() | {"masked": shown.get(span)} for span in spans],
    }


def recognise_pending(texts: Any, masked_types: Sequence[str]) -> pa.RecordBatchReader:
    """Return the findings of texts and records that were not read yet, streamed (schema :data:`RECOGNISED_SCHEMA`).

    Parameters
    ----------
    texts : relation
        As the batch of :func:`recognise_texts`, and is_record (bool), which :func:`mask_records` reads instead.
    masked_types : sequence of str
        Types that are hidden wherever the text is shown.
    """
    read = partial(_recognise, masked_types=masked_types)
    return map_batches(texts, read, RECOGNISED_SCHEMA, BATCH_TEXTS, in_processes=True)


def _recognise(batch: pa.RecordBatch, *, masked_types: Sequence[str]) -> pa.RecordBatch:
    """Return what is found in the texts of a batch, then in its records."""
    is_record = batch.column("is_record")
    texts = recognise_texts(batch.filter(pc.invert(is_record)), masked_types=masked_types)
    records = mask_records(batch.filter(is_record), masked_types=masked_types)
    both = [pa.concat_arrays([texts.column(name), records.column(name)]) for name in RECOGNISED_SCHEMA.names]
    return pa.RecordBatch.from_arrays(both, schema=RECOGNISED_SCHEMA)


def mask_records(batch: pa.RecordBatch, *, masked_types: Sequence[str]) -> pa.RecordBatch:
    """Return JSON objects with their personal data masked, still as JSON (schema :data:`RECOGNISED_SCHEMA`)."""
    records = [json.loads(text) for text in batch.column("text").to_pylist()]
    for record in records:
        if not isinstance(record, dict):
            raise ValueError(f"a record must be a JSON object, got {type(record).__name__}")
    masked = zip(mask_json(records, masked_types), records, strict=True)
    shown = [None if each == record else json.dumps(each, ensure_ascii=False) for each, record in masked]
    spans = pa.nulls(batch.num_rows, RECOGNISED_SCHEMA.field("spans").type)
    columns = [batch.column("text_id"), batch.column("reading_key"), pa.array(shown, pa.string()), spans]
    return pa.RecordBatch.from_arrays(columns, schema=RECOGNISED_SCHEMA)


def mask_json(values: Sequence[Any], masked_types: Sequence[str]) -> list[Any]:
    """Return values of JSON with their personal data masked; each is read behind the name of its field."""
    lines = sorted({line for value in values for line in _list_lines(value)})
    hidden = frozenset(masked_types)
    read = find_spans(lines, is_tagged=False)
    found = {
        line: kept
        for line, spans in zip(lines, read, strict=True)
        if (kept := [span for span in _read_line(line, spans) if span.entity_type in hidden])
    }
    return [_mask(value, "", found) for value in values]


def _read_line(line: str, spans: Sequence[Span]) -> Sequence[Span]:
    """Return the spans of a line of a record; the value of a person field is one name as a whole."""
    field, is_field, value = line.partition(_FIELD_MARK)
    if not is_field or not is_person_field(field, value):
        return spans
    opening = len(field) + len(_FIELD_MARK)
    # an e-mail address or a number keeps its own mask
    if any(span.start <= opening and span.end == len(line) for span in spans):
        return spans
    return [Span(opening, len(line), "person", "field")]


def _list_lines(value: Any, name: str = "") -> Iterator[str]:
    """Yield the lines that are read of a record: names of fields, and single values after their name."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _list_lines(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _list_lines(each, name)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield f"{name}{_FIELD_MARK}{value}"


def _mask(value: Any, name: str, found: Mapping[str, Sequence[Span]]) -> Any:
    """Return a value of a record with the findings of its lines masked; a masked number becomes a text."""
    if isinstance(value, dict):
        return {apply_masks(key, found.get(key, ())): _mask(each, key, found) for key, each in value.items()}
    if isinstance(value, list):
        return [_mask(each, name, found) for each in value]
    line, opening = f"{name}{_FIELD_MARK}{value}", len(name) + len(_FIELD_MARK)
    spans = found.get(line, ()) if not isinstance(value, bool) else ()
    if not spans:
        return value
    # a span that begins in the name of the field may reach into the value
    inside = [span._replace(start=max(span.start, opening)) for span in spans if span.end > opening]
    return apply_masks(line, inside)[opening:] if inside else value


def expose_answers(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return one row per value of an answer with its origin: query, context or neither (schema :data:`EXPOSED_SCHEMA`).

    Parameters
    ----------
    batch : RecordBatch
        interaction_id, exposure_key, answer (str), spans (of the answer, as in :data:`RECOGNISED_SCHEMA`), query (str
        or null), contexts (list of str or null).
    """
    rows = []
    for row in batch.to_pylist():
        spans = [Span(span["start"], span["end"], span["entity_type"], span["rule"]) for span in row["spans"]]
        chunks = [chunk for chunk in row["contexts"] or [] if chunk]
        key = {"interaction_id": row["interaction_id"], "exposure_key": row["exposure_key"]}
        rows += [key | finding for finding in expose_spans(row["answer"], spans, row["query"] or "", chunks)]
    read_once.cache_clear()
    return pa.RecordBatch.from_pylist(rows, schema=EXPOSED_SCHEMA)
