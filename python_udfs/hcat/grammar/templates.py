"""SQL templates with their checks and texts: who wrote them, which take precedence, and what became of each."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.grammar.criteria import ENUMERATED, TemplateReport, check_sql_template
from hcat.grammar.enumeration import enumerate_sql_templates
from hcat.grammar.materials import Materials
from hcat.grammar.prompts import generation_key, sql_templates_prompt, text_templates_prompt
from hcat.grammar.schema import Schema
from hcat.grammar.sql_rendering import render_query, write_sql_template
from hcat.grammar.sql_templates import SqlTemplate
from hcat.grammar.text_templates import (
    HYPOTHESIS_OF,
    MAXIMUM_PER_STYLE,
    STYLES,
    check_text_template,
    same_text_key,
    write_text_templates,
)

CHECK_SCHEMA: Final = schema("string: check_id origin criterion outcome reason")
TEXT_SCHEMA: Final = schema(
    "string: text_id text_template_id hypothesis style origin text_status status_detail text_template",
    "int64: text_number",
)
#: One row per SQL template with its checks and its texts: what is made of one set of materials.
MADE_SCHEMA: Final = pa.schema(
    [
        *schema(
            "string: candidate_id sql_template_id logic_id origin template_status status_detail sql_template sql_query",
            "list<string>: placeholders",
            "int64: template_number count_joins count_columns count_placeholders",
        ),
        ("checks", pa.list_(pa.struct(list(CHECK_SCHEMA)))),
        ("texts", pa.list_(pa.struct(list(TEXT_SCHEMA)))),
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
    key = generation_key(sql_templates_prompt(schema, settings.count_asked))
    written += [("language_model", None, text) for text in materials.replies(key)]
    # so many that the limit is reached also where others wrote the same or people switched some off
    cap = settings.maximum_templates + len(written) + len(edits)
    enumerated = enumerate_sql_templates(schema, cap, ENUMERATED)
    written += [("enumerated", None, write_sql_template(template)) for template in enumerated]
    candidates: dict[str, Candidate] = {}
    accepted: list[SqlTemplate] = []
    for origin, given_id, text in written:
        report = check_sql_template(text, schema, accepted)
        logic = None if report.template is None else report.template.sql_template_id
        sql_template_id = given_id or logic or hash_text("unreadable", text)
        edit = edits.get(sql_template_id)
        broken = [f"{check.criterion}: {check.reason}" for check in report.checks if check.outcome == "broken"]
        status, detail = "accepted", ""
        if edit is not None and not edit["is_enabled"]:
            status, detail = "disabled", edit["reason"] or "by a person"
        elif edit is not None and origin != "person":
            status, detail = "replaced", edit["reason"] or "by a person"
        elif broken:
            status, detail = "rejected", "; ".join(broken)
        elif len(accepted) >= settings.maximum_templates:
            status, detail = "over_limit", f"{settings.maximum_templates} templates are wanted"
        elif report.template is not None:
            accepted.append(report.template)
        candidate = Candidate(sql_template_id, origin, status, detail, report)
        candidates.setdefault(candidate.candidate_id, candidate)
    return list(candidates.values())


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
    by_people: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in materials.text_edits.sort_by([("style", "ascending"), ("text_template", "ascending")]).to_pylist():
        by_people[row["sql_template_id"], row["style"]].append(row)
    rows = []
    taken: set[str] = set()
    numbers = itertools.count()
    for number, candidate in enumerate(collect_templates(materials)):
        template = candidate.report.template
        of_template = {} if template is None else _describe(template, materials.schema)
        texts: list[dict[str, Any]] = []
        if template is not None and candidate.status == "accepted":
            texts = _write_texts(candidate.sql_template_id, template, by_people, taken, materials)
        rows.append(
            of_template
            | {
                "candidate_id": candidate.candidate_id,
                "sql_template_id": candidate.sql_template_id,
                "origin": candidate.origin,
                "template_status": candidate.status,
                "status_detail": candidate.detail or None,
                "sql_template": candidate.report.text,
                "template_number": number,
                "checks": [
                    {
                        "check_id": hash_text("check", candidate.candidate_id, check.criterion),
                        "origin": candidate.origin,
                        "criterion": check.criterion,
                        "outcome": check.outcome,
                        "reason": check.reason or None,
                    }
                    for check in candidate.report.checks
                ],
                "texts": [text | {"text_number": next(numbers)} for text in texts],
            }
        )
    return pa.Table.from_pylist(rows, schema=MADE_SCHEMA)


def _describe(template: SqlTemplate, schema: Schema) -> dict[str, Any]:
    return {
        "logic_id": template.sql_template_id,
        "sql_query": render_query(template, schema)[0],
        "placeholders": [str(each) for each in template.placeholders],
        "count_joins": len(template.joins),
        "count_columns": len(template.selected),
        "count_placeholders": len(template.placeholders),
    }


def _write_texts(
    sql_template_id: str,
    template: SqlTemplate,
    by_people: Mapping[tuple[str, str], list[dict[str, Any]]],
    taken: set[str],
    materials: Materials,
) -> list[dict[str, Any]]:
    """Return every text template of an accepted SQL template with its status."""
    wanted = materials.settings.texts_per_style
    rows: dict[str, dict[str, Any]] = {}
    for style, enumerated in write_text_templates(template, MAXIMUM_PER_STYLE).items():
        edits = by_people[sql_template_id, style]
        prompt = text_templates_prompt(template, materials.schema, style, wanted)
        written = [("person", row["text_template"]) for row in edits if row["is_enabled"]]
        written += [("language_model", text) for text in materials.replies(generation_key(prompt))]
        written += [("enumerated", text) for text in enumerated]
        disabled = {same_text_key(row["text_template"]): row["reason"] for row in edits if not row["is_enabled"]}
        count = 0
        for origin, text in written:
            text_template_id = hash_text("text_template", template.sql_template_id, style, text)
            text_id = hash_text("text_candidate", sql_template_id, origin, text_template_id)
            key = same_text_key(text)
            faults = check_text_template(text, template, [text] if key in taken else [])
            if key in disabled:
                status, detail = "disabled", disabled[key] or "by a person"
            elif faults:
                status, detail = "faulty", ", ".join(faults)
            elif count >= wanted:
                status, detail = "spare", f"{wanted} texts per style are wanted"
            else:
                status, detail = "used", None
                count += 1
                taken.add(key)
            row = (text_id, text_template_id, HYPOTHESIS_OF[style], style, origin, status, detail, text)
            rows.setdefault(text_id, dict(zip(TEXT_SCHEMA.names[:-1], row, strict=True)))
    _drop_unbalanced(rows.values(), wanted)
    return list(rows.values())


def _drop_unbalanced(rows: Iterable[dict[str, Any]], wanted: int) -> None:
    """Give up the texts of an SQL template one style of which has too few of them."""
    used: dict[str, list[dict[str, Any]]] = {style: [] for style in STYLES}
    for row in rows:
        if row["text_status"] == "used":
            used[row["style"]].append(row)
    short = [style for style, found in used.items() if len(found) < wanted]
    for found in used.values() if short else ():
        for row in found:
            row["text_status"] = "unbalanced"
            row["status_detail"] = f"{wanted} texts per style are wanted, {', '.join(short)} has fewer"
