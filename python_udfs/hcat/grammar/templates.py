"""SQL templates with their checks and texts: who wrote them, which take precedence, and what became of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.grammar.criteria import CRITERIA, Check, TemplateReport, check_sql_template
from hcat.grammar.enumeration import enumerate_sql_templates
from hcat.grammar.materials import Materials, Settings
from hcat.grammar.prompts import generation_key, sql_templates_prompt, text_templates_prompt
from hcat.grammar.sql_rendering import render_query, write_sql_template
from hcat.grammar.sql_templates import SqlTemplate
from hcat.grammar.text_templates import (
    MAXIMUM_PER_STYLE,
    STYLES,
    TextTemplate,
    check_text_template,
    hypothesis_of,
    same_text_key,
    write_text_templates,
)

TEMPLATE_SCHEMA = schema(
    "string: candidate_id sql_template_id logic_id origin template_status status_detail sql_template sql_query",
    "list<string>: placeholders",
    "int64: template_number count_joins count_columns count_placeholders",
)
CHECK_SCHEMA = schema(
    "string: check_id candidate_id sql_template_id origin criterion outcome reason",
)
TEXT_SCHEMA = schema(
    "string: text_id text_template_id sql_template_id hypothesis style origin text_status status_detail text_template",
    "int64: text_number",
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


@dataclass(frozen=True, slots=True)
class Candidate:
    """An SQL template that somebody wrote, its report, and what became of it."""

    sql_template_id: str
    origin: str
    status: str
    detail: str
    report: TemplateReport

    @property
    def candidate_id(self) -> str:
        """Content key."""
        return hash_text("sql_candidate", self.sql_template_id, self.origin, self.report.text)


def collect_templates(materials: Materials) -> list[Candidate]:
    """Return every SQL template in order of precedence, with its criteria and its status."""
    schema, settings = materials.schema, materials.settings
    edits = {row["template_id"]: row for row in materials.edits.sort_by("template_id").to_pylist()}
    written = [
        ("person", row["template_id"], row["sql_template"]) for row in edits.values() if row["sql_template"] is not None
    ]
    key = generation_key(sql_templates_prompt(schema, settings.count_asked, settings.requirements))
    written += [("language_model", None, text) for text in materials.replies(key)]
    # so many that the limit is reached also where others wrote the same or people switched some off
    cap = settings.maximum_templates + len(written) + len(edits)
    enumerated = enumerate_sql_templates(schema, cap, settings.enumerated)
    written += [("enumerated", None, write_sql_template(template)) for template in enumerated]
    candidates: dict[str, Candidate] = {}
    accepted: list[SqlTemplate] = []
    for origin, given_id, text in written:
        report = check_sql_template(text, schema, settings.requirements, accepted)
        logic = None if report.template is None else report.template.sql_template_id
        candidate = _decide(
            origin, given_id or logic or hash_text("unreadable", text), report, edits, len(accepted), settings
        )
        if candidate.status == "accepted" and report.template is not None:
            accepted.append(report.template)
        candidates.setdefault(candidate.candidate_id, candidate)
    return list(candidates.values())


def _decide(
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


def make_templates(materials: Materials) -> pa.Table:
    """Return every SQL template with its checks and texts (schema :data:`MADE_SCHEMA`); only accepted ones have texts.

    Templates, criteria and texts stand in one table, so that all are made of the same materials; SQL takes it apart.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hcat.grammar.materials import gather
    >>> columns = {"table_name": ["branches"] * 2, "column_name": ["branch_name", "city"], "data_type": ["TEXT"] * 2}
    >>> key = {"constraint_name": ["k"], "constraint_type": ["PRIMARY KEY"], "table_name": ["branches"]}
    >>> edits = {"template_id": ["mine"], "sql_template": ["SELECT * FROM branches"], "is_enabled": [True]}
    >>> text_columns = ("sql_template_id", "style", "text_template")
    >>> materials = gather(
    ...     {"random_seed": 7},
    ...     pa.table(columns | {"count_rows": [2, 2]}),
    ...     pa.table(key | {"column_name": ["branch_name"]}),
    ...     pa.table(edits | {"reason": ["an example"]}),
    ...     pa.table({name: pa.array([], pa.string()) for name in text_columns}),
    ... )
    >>> [(row["origin"], row["template_status"]) for row in make_templates(materials).to_pylist()]
    [('person', 'rejected'), ('enumerated', 'accepted')]
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


def texts_table(materials: Materials) -> pa.Table:
    """Return every text template of the accepted SQL templates with its status (schema :data:`TEXT_SCHEMA`)."""
    settings = materials.settings
    by_people: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in materials.text_edits.sort_by([("style", "ascending"), ("text_template", "ascending")]).to_pylist():
        by_people[row["sql_template_id"], row["style"]].append(row)
    rows: list[dict[str, Any]] = []
    taken: set[str] = set()
    for candidate in collect_templates(materials):
        template = candidate.report.template
        if candidate.status != "accepted" or template is None:
            continue
        enumerated = write_text_templates(template, MAXIMUM_PER_STYLE)
        own: list[dict[str, Any]] = []
        for style in STYLES:
            edits = by_people[candidate.sql_template_id, style]
            key = generation_key(text_templates_prompt(template, materials.schema, style, settings.texts_per_style))
            written = [("person", row["text_template"]) for row in edits if row["is_enabled"]]
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
    used: dict[str, list[dict[str, Any]]] = {style: [] for style in STYLES}
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
