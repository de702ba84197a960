"""The tables of GRAMMAR: a schema in, templates, texts, fillings with true answers and queries out.

Who wrote a template decides who wins: people's edits first, then imported ones, those of a language model and those of
the enumerator. All pass the same criteria.
"""

from __future__ import annotations

import datetime
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from hcat.engine.keys import hash_text
from hcat.grammar.filling import Value, check_answer, query_group_id, select_combinations, write_value
from hcat.grammar.importers import ImportFormatError, read_sql_templates, read_text_templates
from hcat.grammar.prompts import (
    MAXIMUM_TEMPLATES,
    PROMPT_REVISION,
    read_reply,
    sql_templates_prompt,
    templates_response,
    text_templates_prompt,
)
from hcat.grammar.schema import Schema, read_schema
from hcat.grammar.sql_templates import (
    CRITERIA,
    Check,
    Placeholder,
    Requirements,
    SqlTemplate,
    TemplateError,
    TemplateReport,
    check_sql_template,
    enumerate_sql_templates,
    read_sql_template,
    render_query,
    render_values,
    split_words,
    write_sql_template,
)
from hcat.grammar.text_templates import (
    HYPOTHESES,
    MAXIMUM_PER_STYLE,
    TextTemplate,
    check_text_template,
    fill_text,
    hypothesis_of,
    same_text_key,
    write_text_templates,
)
from hcat.language_models.conversation import KEY_VARIABLE, LEDGER_FIELDS, converse, drop_replays
from hcat.language_models.endpoint import UNSETTLED, LanguageModel, Service, in_waves
from hcat.language_models.replies import ReplyError

#: What became of an SQL template.
TEMPLATE_STATUSES: Final = (
    "accepted",
    "rejected",  # a criterion is broken
    "replaced",  # a person wrote another one under its id
    "disabled",  # by a person
    "over_limit",  # there were enough before it
)

#: What became of a text template.
TEXT_STATUSES: Final = (
    "used",
    "spare",  # its style had enough before it
    "faulty",
    "disabled",  # by a person
    "unbalanced",  # another style of the same SQL template has too few, and equal numbers are wanted
)

#: Who wrote a template, the first wins.
ORIGINS_IN_ORDER: Final = ("person", "imported", "language_model", "enumerated")

GENERATORS: Final = ("offline", "language_model")

#: Tag of a query that names its SQL template.
TEMPLATE_TAG: Final = "template"

SQL_STEP: Final = "sql_templates"
TEXT_STEP: Final = "text_templates"

TEMPLATE_SCHEMA = pa.schema(
    [
        ("candidate_id", pa.string()),
        ("sql_template_id", pa.string()),
        ("logic_id", pa.string()),
        ("origin", pa.string()),
        ("template_status", pa.string()),
        ("status_detail", pa.string()),
        ("sql_template", pa.string()),
        ("sql_query", pa.string()),
        ("placeholders", pa.list_(pa.string())),
        ("template_number", pa.int64()),
        ("count_joins", pa.int64()),
        ("count_columns", pa.int64()),
        ("count_placeholders", pa.int64()),
    ]
)
CHECK_SCHEMA = pa.schema(
    [
        ("check_id", pa.string()),
        ("candidate_id", pa.string()),
        ("sql_template_id", pa.string()),
        ("origin", pa.string()),
        ("criterion", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
    ]
)
TEXT_SCHEMA = pa.schema(
    [
        ("text_id", pa.string()),
        ("text_template_id", pa.string()),
        ("sql_template_id", pa.string()),
        ("hypothesis", pa.string()),
        ("style", pa.string()),
        ("origin", pa.string()),
        ("text_status", pa.string()),
        ("status_detail", pa.string()),
        ("text_template", pa.string()),
        ("text_number", pa.int64()),
    ]
)
#: Fields of a check and of a text that their SQL template says already.
_OF_THE_TEMPLATE: Final = frozenset({"candidate_id", "sql_template_id"})

#: One row per SQL template with its checks and its texts: what is made of one set of materials.
MADE_SCHEMA = pa.schema(
    [
        *TEMPLATE_SCHEMA,
        *[
            (name, pa.list_(pa.struct([each for each in schema if each.name not in _OF_THE_TEMPLATE])))
            for name, schema in (("checks", CHECK_SCHEMA), ("texts", TEXT_SCHEMA))
        ],
    ]
)
FILLING_SCHEMA = pa.schema(
    [
        ("query_group", pa.string()),
        ("sql_template_id", pa.string()),
        ("answer_status", pa.string()),
        ("reference_answer", pa.string()),
        ("answer_type", pa.string()),
        ("sql_text", pa.string()),
        ("placeholders", pa.list_(pa.string())),
        ("filled_values", pa.list_(pa.string())),
        ("count_fillings_possible", pa.int64()),
    ]
)
QUERY_SCHEMA = pa.schema(
    [
        ("query_id", pa.string()),
        ("query_group", pa.string()),
        ("sql_template_id", pa.string()),
        ("text_template_id", pa.string()),
        ("tags", pa.string()),
        ("query_text", pa.string()),
    ]
)
RERUN_SCHEMA = pa.schema(
    [("query_group", pa.string()), ("answer_status", pa.string()), ("reference_answer", pa.string())]
)
IMPORT_SCHEMA = pa.schema(
    [
        ("import_id", pa.string()),
        ("kind", pa.string()),
        ("style", pa.string()),
        ("sql_template", pa.string()),
        ("text_template", pa.string()),
        ("import_number", pa.int64()),
    ]
)
CALL_SCHEMA = pa.schema(
    [
        ("call_id", pa.string()),
        ("generation_key", pa.string()),
        ("sql_template_id", pa.string()),
        ("style", pa.string()),
        *LEDGER_FIELDS,
    ]
)

_PLACES = frozenset(
    ("address", "city", "country", "county", "district", "location", "place", "region", "street", "town", "village")
)

Run = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is wanted.

    Parameters
    ----------
    random_seed : int
        Of the choice of fillings.
    maximum_templates : int
        SQL templates in all, at least 1.
    texts_per_style : int
        Text templates of each style for each SQL template, in [1, 4].
    maximum_fillings : int
        Combinations of values per SQL template, at least 1.
    hypotheses : tuple of str
        Of :data:`~hcat.grammar.text_templates.HYPOTHESES`.
    requirements : Requirements
        Of every template, whoever wrote it (the specific requirements of GRAMMAR, Table 4).
    enumerated : Requirements
        Of those that are enumerated, within the former.
    generator : {"offline", "language_model"}
        Whether a language model is asked too.
    """

    random_seed: int
    maximum_templates: int
    texts_per_style: int
    maximum_fillings: int
    hypotheses: tuple[str, ...]
    requirements: Requirements
    enumerated: Requirements
    generator: str = "offline"

    def __post_init__(self) -> None:
        """Refuse what cannot be met."""
        for name in ("maximum_templates", "maximum_fillings"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 1 <= self.texts_per_style <= MAXIMUM_PER_STYLE:
            raise ValueError(f"texts_per_style must lie in [1, {MAXIMUM_PER_STYLE}], got {self.texts_per_style}")
        if self.generator not in GENERATORS:
            raise ValueError(f"hcat_generator must be one of {', '.join(GENERATORS)}, got {self.generator!r}")
        unknown = [name for name in self.hypotheses if name not in HYPOTHESES]
        if unknown or not self.hypotheses:
            raise ValueError(f"hypotheses must be of {', '.join(HYPOTHESES)}, got {', '.join(unknown) or 'none'}")

    @property
    def styles(self) -> tuple[str, ...]:
        """Styles of the hypotheses in their order."""
        return tuple(style for hypothesis in self.hypotheses for style in HYPOTHESES[hypothesis])

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> Settings:
        """Return the settings that stand in the project's vars."""
        wanted = _requirements(settings["requirements"])
        own = _requirements({**settings["requirements"], **settings["enumerated"]})
        enumerated = replace(
            own,
            minimum_joins=max(own.minimum_joins, wanted.minimum_joins),
            maximum_joins=min(own.maximum_joins, wanted.maximum_joins),
            maximum_columns=min(own.maximum_columns, wanted.maximum_columns),
            maximum_placeholders=min(own.maximum_placeholders, wanted.maximum_placeholders),
        )
        return cls(
            random_seed=int(settings["random_seed"]),
            maximum_templates=int(settings["templates"]),
            texts_per_style=int(settings["texts_per_style"]),
            maximum_fillings=int(settings["fillings"]),
            hypotheses=tuple(settings["hypotheses"]),
            requirements=wanted,
            enumerated=enumerated,
            generator=str(settings["generator"]),
        )


def _requirements(settings: Mapping[str, Any]) -> Requirements:
    known = {name: settings[name] for name in Requirements.__slots__ if name in settings}
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise ValueError(f"requirements are {', '.join(Requirements.__slots__)}, got {', '.join(unknown)}")
    return Requirements(**{**known, "tables": frozenset(known.get("tables", ()))})


def schema_of(columns: pa.Table, constraints: pa.Table) -> Schema:
    """Return the schema that the introspected rows describe; ``columns`` also carries the count of rows."""
    tables = {row["table_name"]: row["count_rows"] for row in columns.to_pylist()}
    return read_schema(
        columns, constraints, [{"table_name": name, "count_rows": count} for name, count in tables.items()]
    )


# ---- imports ------------------------------------------------------------------------------------------------------


def read_imports(files: Mapping[str, str]) -> pa.Table:
    """Return the templates of files that the paper's tool saved (schema :data:`IMPORT_SCHEMA`).

    Parameters
    ----------
    files : mapping
        ``sql_templates`` or a style -> path of the file.

    Raises
    ------
    ImportFormatError
        If a file is not of its shape or cannot be read; the message names it.
    ValueError
        If a name is neither ``sql_templates`` nor a style.
    """
    rows: list[dict[str, Any]] = []
    for name, path in sorted(files.items(), key=lambda pair: (pair[0] != SQL_STEP, pair[0])):
        if name != SQL_STEP:
            hypothesis_of(name)
        try:
            content = Path(path).read_text(encoding="utf-8")
            if name == SQL_STEP:
                rows += [_import_row(SQL_STEP, None, found.text, None) for found in read_sql_templates(content)]
            else:
                rows += [
                    _import_row(TEXT_STEP, name, template, text)
                    for template, texts in read_text_templates(content).items()
                    for text in texts
                ]
        except (OSError, UnicodeDecodeError) as error:
            raise ImportFormatError(f"{path} must be a readable file of UTF-8: {type(error).__name__}") from None
        except ImportFormatError as error:
            raise ImportFormatError(f"{path}: {error}") from None
    distinct = {row["import_id"]: row for row in rows}
    return pa.Table.from_pylist(
        [row | {"import_number": number} for number, row in enumerate(distinct.values())], schema=IMPORT_SCHEMA
    )


def _import_row(kind: str, style: str | None, sql_template: str, text: str | None) -> dict[str, Any]:
    return {
        "import_id": hash_text("import", kind, style or "", sql_template, text or ""),
        "kind": kind,
        "style": style,
        "sql_template": sql_template,
        "text_template": text,
    }


# ---- SQL templates ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidate:
    """An SQL template that somebody wrote, what the criteria say of it, and what became of it."""

    sql_template_id: str
    origin: str
    status: str
    detail: str
    report: TemplateReport

    @property
    def candidate_id(self) -> str:
        """Content key."""
        return hash_text("sql_candidate", self.sql_template_id, self.origin, self.report.text)


@dataclass(frozen=True, slots=True)
class Materials:
    """Everything that templates are made of: the schema, people's seeds, imported files and answers of a model."""

    schema: Schema
    settings: Settings
    edits: pa.Table
    text_edits: pa.Table
    imports: pa.Table
    calls: pa.Table = field(default_factory=CALL_SCHEMA.empty_table)

    def replies(self, key: str) -> list[str]:
        """Return the templates of the last usable reply under a generation key."""
        for row in self.calls.to_pylist():
            if row["generation_key"] == key and row["is_last"] and row["call_status"] == "answered":
                return read_reply(row["answer"], MAXIMUM_TEMPLATES)[1]
        return []


def gather(
    settings: Mapping[str, Any],
    columns: pa.Table,
    constraints: pa.Table,
    edits: pa.Table,
    text_edits: pa.Table,
    imports: pa.Table,
    calls: pa.Table | None = None,
) -> Materials:
    """Return the materials of templates from the tables that hold them.

    Parameters
    ----------
    settings : mapping
        As :meth:`Settings.from_mapping` reads it.
    columns, constraints : Table
        As :func:`hcat.engine.relations.describe_columns` and :func:`~hcat.engine.relations.describe_constraints` return
        them; ``columns`` may also have is_descriptive.
    edits : Table
        template_id, sql_template, is_enabled, reason.
    text_edits : Table
        sql_template_id, style, text_template, is_enabled, reason.
    imports : Table
        Schema :data:`IMPORT_SCHEMA`.
    calls : Table, optional
        Schema :data:`CALL_SCHEMA`.
    """
    known = CALL_SCHEMA.empty_table() if calls is None else calls
    schema = schema_of(columns, constraints)
    return Materials(schema, Settings.from_mapping(settings), edits, text_edits, imports, known)


def collect_templates(materials: Materials) -> list[Candidate]:
    """Return every SQL template in the order in which they win, with its criteria and status.

    A row of the seed with the id of a generated template takes its place, or switches it off.
    """
    schema, settings = materials.schema, materials.settings
    edits = {row["template_id"]: row for row in materials.edits.sort_by("template_id").to_pylist()}
    written = [
        ("person", row["template_id"], row["sql_template"]) for row in edits.values() if row["sql_template"] is not None
    ]
    written += [
        ("imported", None, row["sql_template"])
        for row in materials.imports.sort_by("import_number").to_pylist()
        if row["kind"] == SQL_STEP
    ]
    key = generation_key(sql_templates_prompt(schema, _count_asked(settings), settings.requirements))
    written += [("language_model", None, text) for text in materials.replies(key)]
    # so many that the limit is reached also where others wrote the same or people switched some off
    enumeration = enumerate_sql_templates(
        schema, settings.maximum_templates + len(written) + len(edits), settings.enumerated
    )
    written += [("enumerated", None, write_sql_template(template)) for template in enumeration.templates]
    candidates: dict[str, Candidate] = {}
    accepted: list[SqlTemplate] = []
    for origin, given_id, text in written:
        report = check_sql_template(text, schema, settings.requirements, accepted)
        logic = None if report.template is None else report.template.sql_template_id
        candidate = _judge(
            origin, given_id or logic or hash_text("unreadable", text), report, edits, len(accepted), settings
        )
        if candidate.status == "accepted" and report.template is not None:
            accepted.append(report.template)
        candidates.setdefault(candidate.candidate_id, candidate)
    return list(candidates.values())


def _judge(
    origin: str,
    sql_template_id: str,
    report: TemplateReport,
    edits: Mapping[str, Mapping[str, Any]],
    count_accepted: int,
    settings: Settings,
) -> Candidate:
    edit = edits.get(sql_template_id)
    broken = [f"{check.criterion}: {check.reason}" for check in report.checks if check.outcome == "broken"]
    if edit is not None and not edit["is_enabled"]:
        status, detail = "disabled", edit["reason"] or "by a person"
    elif edit is not None and origin != "person":
        status, detail = "replaced", edit["reason"] or "by a person"
    elif broken:
        status, detail = "rejected", "; ".join(broken)
    elif count_accepted >= settings.maximum_templates:
        status, detail = "over_limit", f"{settings.maximum_templates} templates are wanted"
    else:
        status, detail = "accepted", ""
    return Candidate(sql_template_id, origin, status, detail, report)


def _count_asked(settings: Settings) -> int:
    return min(settings.maximum_templates, MAXIMUM_TEMPLATES)


def make_templates(materials: Materials) -> pa.Table:
    """Return every SQL template with its checks and texts (schema :data:`MADE_SCHEMA`); only accepted ones have texts.

    One table, so that templates, criteria and texts are of the same materials; SQL takes it apart.
    """
    checks, texts = (
        _lists_by(table, key)
        for table, key in ((checks_table(materials), "candidate_id"), (texts_table(materials), "sql_template_id"))
    )
    rows = [
        row
        | {
            "checks": checks[row["candidate_id"]],
            "texts": texts[row["sql_template_id"]] if row["template_status"] == "accepted" else [],
        }
        for row in templates_table(materials).to_pylist()
    ]
    return pa.Table.from_pylist(rows, schema=MADE_SCHEMA)


def _lists_by(table: pa.Table, key: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in table.to_pylist():
        found[row[key]].append({name: value for name, value in row.items() if name not in _OF_THE_TEMPLATE})
    return found


def templates_table(materials: Materials) -> pa.Table:
    """Return one row per SQL template in their order (schema :data:`TEMPLATE_SCHEMA`)."""
    rows = []
    for number, candidate in enumerate(collect_templates(materials)):
        template = candidate.report.template
        rows.append(
            {
                "candidate_id": candidate.candidate_id,
                "sql_template_id": candidate.sql_template_id,
                "logic_id": None if template is None else template.sql_template_id,
                "origin": candidate.origin,
                "template_status": candidate.status,
                "status_detail": candidate.detail or None,
                "sql_template": candidate.report.text,
                "sql_query": None if template is None else render_query(template, materials.schema).sql,
                "placeholders": None if template is None else [str(each) for each in template.placeholders],
                "template_number": number,
                "count_joins": None if template is None else len(template.joins),
                "count_columns": None if template is None else len(template.selected),
                "count_placeholders": None if template is None else len(template.placeholders),
            }
        )
    return pa.Table.from_pylist(rows, schema=TEMPLATE_SCHEMA)


def checks_table(materials: Materials) -> pa.Table:
    """Return one row per SQL template and criterion (schema :data:`CHECK_SCHEMA`)."""
    rows = []
    for candidate in collect_templates(materials):
        by_name: dict[str, Check] = {check.criterion: check for check in candidate.report.checks}
        for criterion in CRITERIA:
            rows.append(
                {
                    "check_id": hash_text("check", candidate.candidate_id, criterion),
                    "candidate_id": candidate.candidate_id,
                    "sql_template_id": candidate.sql_template_id,
                    "origin": candidate.origin,
                    "criterion": criterion,
                    "outcome": by_name[criterion].outcome,
                    "reason": by_name[criterion].reason or None,
                }
            )
    return pa.Table.from_pylist(rows, schema=CHECK_SCHEMA)


# ---- text templates -----------------------------------------------------------------------------------------------


def texts_table(materials: Materials) -> pa.Table:
    """Return every text template of the accepted SQL templates with its status (schema :data:`TEXT_SCHEMA`).

    Each style gets the same number: people's texts first, then imported ones, those of a language model and those of
    the writer. A text that another SQL template has already is a fault: it would ask two things at once.
    """
    settings = materials.settings
    imported = _imported_texts(materials)
    by_people: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in materials.text_edits.sort_by([("style", "ascending"), ("text_template", "ascending")]).to_pylist():
        by_people[row["sql_template_id"], row["style"]].append(row)
    rows: list[dict[str, Any]] = []
    taken: set[str] = set()
    for candidate in collect_templates(materials):
        template = candidate.report.template
        if candidate.status != "accepted" or template is None:
            continue
        enumerated = write_text_templates(template, MAXIMUM_PER_STYLE, settings.hypotheses)
        own: list[dict[str, Any]] = []
        for style in settings.styles:
            edits = by_people[candidate.sql_template_id, style]
            key = generation_key(_text_prompt(template, materials.schema, style, settings))
            written = [("person", row["text_template"]) for row in edits if row["is_enabled"]]
            written += [("imported", text) for text in imported.get((template.sql_template_id, style), ())]
            written += [("language_model", text) for text in materials.replies(key)]
            written += [("enumerated", text.text) for text in enumerated if text.style == style]
            disabled = {same_text_key(row["text_template"]): row["reason"] for row in edits if not row["is_enabled"]}
            own += _choose_texts(candidate.sql_template_id, template, style, written, disabled, taken, settings)
        _drop_unbalanced(own, settings)
        rows += own
    return pa.Table.from_pylist([row | {"text_number": number} for number, row in enumerate(rows)], schema=TEXT_SCHEMA)


def _choose_texts(
    sql_template_id: str,
    template: SqlTemplate,
    style: str,
    written: Iterable[tuple[str, str]],
    disabled: Mapping[str, str | None],
    taken: set[str],
    settings: Settings,
) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    count = 0
    for origin, text in written:
        made = TextTemplate(template.sql_template_id, hypothesis_of(style), style, text, origin)
        key = same_text_key(text)
        faults = check_text_template(text, template, [text] if key in taken else [])
        if key in disabled:
            status, detail = "disabled", disabled[key] or "by a person"
        elif faults:
            status, detail = "faulty", ", ".join(faults)
        elif count >= settings.texts_per_style:
            status, detail = "spare", f"{settings.texts_per_style} texts per style are wanted"
        else:
            status, detail = "used", ""
            count += 1
            taken.add(key)
        text_id = hash_text("text_candidate", sql_template_id, origin, made.text_template_id)
        rows.setdefault(
            text_id,
            {
                "text_id": text_id,
                "text_template_id": made.text_template_id,
                "sql_template_id": sql_template_id,
                "hypothesis": made.hypothesis,
                "style": style,
                "origin": origin,
                "text_status": status,
                "status_detail": detail or None,
                "text_template": text,
            },
        )
    return list(rows.values())


def _drop_unbalanced(rows: Iterable[dict[str, Any]], settings: Settings) -> None:
    """Give up the texts of an SQL template one style of which has too few of them."""
    used: dict[str, list[dict[str, Any]]] = {style: [] for style in settings.styles}
    for row in rows:
        if row["text_status"] == "used":
            used[row["style"]].append(row)
    short = [style for style, found in used.items() if len(found) < settings.texts_per_style]
    for found in used.values() if short else ():
        for row in found:
            row["text_status"] = "unbalanced"
            row["status_detail"] = (
                f"{settings.texts_per_style} texts per style are wanted, {', '.join(short)} has fewer"
            )


def _imported_texts(materials: Materials) -> dict[tuple[str, str], list[str]]:
    """Return imported texts by the logic of the SQL template that they ask, and style."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in materials.imports.sort_by("import_number").to_pylist():
        if row["kind"] == TEXT_STEP:
            try:
                template = read_sql_template(row["sql_template"], materials.schema)
            except TemplateError:
                continue  # the SQL template itself is rejected with its reason
            found[template.sql_template_id, row["style"]].append(row["text_template"])
    return found


# ---- calls of a language model --------------------------------------------------------------------------------------


def generation_key(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the content key of a first prompt: the schema or the template, the style, the count and the rules."""
    return hash_text("grammar", PROMPT_REVISION, json.dumps(list(messages), ensure_ascii=False, sort_keys=True))


def _text_prompt(template: SqlTemplate, schema: Schema, style: str, settings: Settings) -> list[dict[str, str]]:
    return text_templates_prompt(template, schema, style, settings.texts_per_style)


def call_for_templates(
    materials: Materials, service: Mapping[str, Any], earlier: pa.Table | None = None
) -> Iterator[pa.RecordBatch]:
    """Ask a language model for SQL templates, then for texts of those accepted; yield the ledger of new calls.

    Offline nothing is asked. What was answered before is not asked again. A prompt holds names, kinds and keys of the
    schema and templates with placeholders, never a row.

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
    prompt = sql_templates_prompt(schema, _count_asked(settings), settings.requirements)
    asked: list[dict[str, Any]] = []
    if generation_key(prompt) not in settled:
        asked = _ask(model, prompt, _count_asked(settings), {"sql_template_id": None, "step": SQL_STEP, "style": None})
        yield pa.RecordBatch.from_pylist(drop_replays(asked, written), schema=CALL_SCHEMA)
    known = pa.concat_tables([pa.Table.from_pylist(asked, schema=CALL_SCHEMA), before])
    work: list[tuple[list[dict[str, str]], dict[str, Any]]] = []
    for candidate in collect_templates(replace(materials, calls=known)):
        template = candidate.report.template
        if candidate.status != "accepted" or template is None:
            continue
        for style in settings.styles:
            prompt = _text_prompt(template, schema, style, settings)
            if generation_key(prompt) not in settled:
                shared = {"sql_template_id": candidate.sql_template_id, "step": TEXT_STEP, "style": style}
                work.append((prompt, shared))
    most = 1 + model.service.repairs
    for rows in in_waves(model, work, most, lambda each: _ask(model, each[0], settings.texts_per_style, each[1])):
        yield pa.RecordBatch.from_pylist(drop_replays(rows, written), schema=CALL_SCHEMA)


def _ask(
    model: LanguageModel, prompt: list[dict[str, str]], count: int, shared: Mapping[str, Any]
) -> list[dict[str, Any]]:
    def read(said: str) -> list[str]:
        status, templates = read_reply(said, count)
        if status != "read":
            raise ReplyError(f"a reply is one JSON object of the schema, got {status}")
        return templates

    key = generation_key(prompt)
    called = {**shared, "generation_key": key}
    rows, _ = converse(model, called, key, prompt, templates_response(count), read, PROMPT_REVISION)
    return rows


# ---- fillings and queries -------------------------------------------------------------------------------------------


def answer_fillings(
    run: Run, templates: pa.Table, schema: Schema, settings: Mapping[str, Any]
) -> Iterator[pa.RecordBatch]:
    """Fill the accepted SQL templates, run them, and yield what they answer (schema :data:`FILLING_SCHEMA`).

    Parameters
    ----------
    run : callable
        SELECT statement with ``?`` and the values bound to them -> rows.
    templates : Table
        Schema :data:`TEMPLATE_SCHEMA`.
    schema : Schema
        Whose names the SQL is made of.
    settings : mapping
        As :meth:`Settings.from_mapping` reads it.
    """
    wanted = Settings.from_mapping(settings)
    values: dict[Placeholder, list[Any]] = {}
    for row in templates.sort_by("template_number").to_pylist():
        if row["template_status"] != "accepted":
            continue
        template = read_sql_template(row["sql_template"], schema)
        rendered = render_query(template, schema)
        for placeholder in template.placeholders:
            if placeholder not in values:
                values[placeholder] = [found[0] for found in run(render_values(placeholder, schema), ())]
        chosen = select_combinations(template, values, wanted.maximum_fillings, wanted.random_seed)
        rows = []
        for filling in chosen.rows:
            by_placeholder = dict(zip(chosen.placeholders, filling, strict=True))
            bound = [by_placeholder[placeholder] for placeholder in rendered.parameters]
            check = check_answer(run(rendered.sql, bound))
            rows.append(
                {
                    "query_group": query_group_id(template, filling),
                    "sql_template_id": row["sql_template_id"],
                    "answer_status": check.status,
                    "reference_answer": check.answer,
                    "answer_type": answer_type_of(template, schema),
                    "sql_text": write_statement(rendered.sql, bound),
                    "placeholders": [str(placeholder) for placeholder in chosen.placeholders],
                    "filled_values": [write_value(value) for value in filling],
                    "count_fillings_possible": chosen.count_possible,
                }
            )
        yield pa.RecordBatch.from_pylist(rows, schema=FILLING_SCHEMA)


def answer_type_of(template: SqlTemplate, schema: Schema) -> str:
    """Return the tag of the raw contract: numeric (numbers and dates), location (by the column's words), entity, or
    description where several columns are asked for."""
    if len(template.selected) > 1:
        return "description"
    place = template.selected[0]
    table = schema.table(template.tables[place.source])
    column = None if table is None else table.column(place.column)
    if column is None:
        raise ValueError(f"the schema has no column {template.tables[place.source]}.{place.column}")
    if column.kind in ("number", "date"):
        return "numeric"
    return "location" if _PLACES & set(split_words(column.name)) else "entity"


def write_statement(sql: str, values: Sequence[Value]) -> str:
    """Return SQL that runs by itself: each ``?`` of rendered SQL, whose names hold none, as a literal.

    Raises
    ------
    ValueError
        If the number of values is not that of the ``?``.
    """
    parts = sql.split("?")
    if len(parts) != len(values) + 1:
        raise ValueError(f"a value is needed for every ?, got {len(values)} for {len(parts) - 1}")
    written = [parts[0]]
    for value, part in zip(values, parts[1:], strict=True):
        written += [write_literal(value), part]
    return "".join(written)


def write_literal(value: Value) -> str:
    """Return a value as an SQL literal; quotes in a text are doubled.

    Raises
    ------
    ValueError
        If it is of another type or not finite.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime.datetime):
        return f"timestamp '{value.isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"date '{value.isoformat()}'"
    if isinstance(value, datetime.time):
        return f"time '{value.isoformat()}'"
    write_value(value)  # refuses what is not finite
    return str(value)


def rerun_answers(run: Run, statements: pa.Table) -> pa.Table:
    """Return what stored statements answer now (schema :data:`RERUN_SCHEMA`), ordered by group.

    Parameters
    ----------
    run : callable
        As in :func:`answer_fillings`.
    statements : Table
        query_group, sql_text.
    """
    distinct = {row["query_group"]: row["sql_text"] for row in statements.to_pylist()}
    rows = []
    for group, sql in sorted(distinct.items()):
        check = check_answer(run(sql, ()))
        rows.append({"query_group": group, "answer_status": check.status, "reference_answer": check.answer})
    return pa.Table.from_pylist(rows, schema=RERUN_SCHEMA)


def fill_queries(fillings: pa.Table, texts: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield every used text in every filling with a single answer (schema :data:`QUERY_SCHEMA`)."""
    by_template: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in texts.sort_by("text_number").to_pylist():
        if row["text_status"] == "used":
            by_template[row["sql_template_id"]].append(row)
    for filling in fillings.to_pylist():
        if filling["answer_status"] != "single_answer":
            continue
        said = {
            Placeholder(*name[1:-1].split(".", 1)): value
            for name, value in zip(filling["placeholders"], filling["filled_values"], strict=True)
        }
        group = filling["query_group"]
        rows = [
            {
                "query_id": hash_text("query", group, text["text_template_id"]),
                "query_group": group,
                "sql_template_id": filling["sql_template_id"],
                "text_template_id": text["text_template_id"],
                # other answers of one template are its rivals (int_answers_to_judge)
                "tags": json.dumps({text["hypothesis"]: text["style"], TEMPLATE_TAG: filling["sql_template_id"]}),
                "query_text": fill_text(text["text_template"], said),
            }
            for text in by_template[filling["sql_template_id"]]
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=QUERY_SCHEMA)
