"""What no log can tell of the assistant, from `application.yml`: its parts, its owners, and the conclusion."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, model_validator

from hcat.engine.keys import hash_file
from hcat.engine.warehouse import Place, Row, Warehouse
from hcat.engine.yaml_files import Part, read_part
from hcat.language.display import clean_label, clean_text
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Section
from hcat.report.scope import MAXIMUM_APPLICATIONS, list_applications
from hcat.report.showing import ANSWER_CHARACTERS, format_day

FILE_NAME: Final = "application.yml"
#: Versions side by side: the candidate, the baseline, and others from the newest on.
MAXIMUM_VERSIONS: Final = 4

LIST_VERSIONS: Final = """
select
    application,
    application_version,
    any_value(version_role order by version_role) as version_role,
    max(asked_at) as last_asked_at
from fct_interactions
group by application, application_version
order by
    application, list_position(['candidate', 'baseline'], any_value(version_role order by version_role)) nulls last,
    last_asked_at desc nulls last, application_version
"""

Text = Annotated[str, Field(max_length=ANSWER_CHARACTERS)]
#: Without quotes 1.10 is the number 1.1.
Name = Annotated[str, Field(strict=True)]
#: A number would be read as seconds since 1970.
Day = Annotated[date, Field(strict=True)]


class Version(Part):
    """What a version is made of."""

    language_model: Text | None = None
    prompt_version: Text | None = None
    retriever: Text | None = None
    chunking: Text | None = None
    index_date: Day | None = None
    what_changed: Text | None = None


class Monitoring(Part):
    """Who watches the assistant, how often, and what happens at an alarm."""

    frequency: Text | None = None
    responsible: Text | None = None
    escalation: Text | None = None


class Application(Part):
    """How an application is kept in the inventory, watched and made."""

    inventory_id: Text | None = None
    tier: Text | None = None
    vendor: Text | None = None
    monitoring: Monitoring = Monitoring()
    versions: dict[Name, Version] = Field(default_factory=dict)


class Finding(Part):
    """Who deals with a finding, or with all findings of a segment, and until when."""

    finding: Annotated[Text, Field(min_length=6)] | None = None
    segment: Text | None = None
    owner: Text | None = None
    due_date: Day | None = None
    action: Text | None = None

    @model_validator(mode="after")
    def _check_name(self) -> Finding:
        if not (self.finding or self.segment):
            raise ValueError("must name a finding by its id, or a segment such as topic = mortgages")
        return self

    def covers(self, row: Row) -> bool:
        """Return whether a finding is the one of this id, or lies in this segment."""
        if self.finding:
            return bool(row["key"].startswith(self.finding))
        parts = {part.strip() for part in (self.segment or "").split(",")}
        return parts <= {part.strip() for part in row["segment"].split(",")}


class Validator(Part):
    """What an independent validator concludes."""

    conclusion: Text | None = None
    conditions: Text | None = None
    valid_until: Day | None = None
    attests: Text | None = None


class Statements(Part):
    """The file."""

    is_made_up: bool = False
    applications: dict[Name, Application] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    validator: Validator = Validator()


def find_statements(place: Place) -> Path | None:
    """Return the file beside the dbt project; that of the demo where the demo is built."""
    folder = place.project or Path()
    path = folder / "demo" / FILE_NAME if os.environ.get("HCAT_DEMO") == "1" else folder / FILE_NAME
    return path if path.is_file() else None


def read_statements(path: Path | None) -> Statements:
    """Return what the file states; one line on the first wrong key."""
    return Statements() if path is None else read_part(path, Statements)


def describe_assistant(
    source: Warehouse, statements: Statements, path: Path | None, findings: Sequence[Row]
) -> Section:
    """Return purpose, inventory, monitoring and the parts of each version."""
    seed = {row["application"]: row for row in list_applications(source)}
    evaluated: dict[str, list[Row]] = {}
    for row in source.rows(LIST_VERSIONS, ["fct_interactions.version_role"]):
        evaluated.setdefault(row["application"] or "unnamed", []).append(row)
    shown: list[Block | None] = []
    for name in list(dict.fromkeys([*evaluated, *seed]))[:MAXIMUM_APPLICATIONS]:
        stated = statements.applications.get(name, Application())
        shown += _describe_application(name, seed.get(name), stated, statements.is_made_up)
        shown.append(_compare_versions(stated.versions, evaluated.get(name, ())))
    if path is None:
        note = f"No {FILE_NAME} was given: hcat init writes one into a new project, and hcat report reads it there."
    else:
        note = f"As stated in {path.name} (SHA-256 {hash_file(path)}). No log can confirm it."
    unknown = [*(statements.applications.keys() - evaluated.keys())]
    unknown += [
        str(each.finding or each.segment) for each in statements.findings if not any(map(each.covers, findings))
    ]
    if unknown:
        note += f" Nothing in this build is called: {', '.join(map(clean_label, sorted(unknown)))}."
    return blocks.section(*shown, blocks.paragraph(note, "note"))


def _describe_application(name: str, row: Row | None, stated: Application, is_made_up: bool) -> list[Block | None]:
    title: Any = clean_label(name)
    if is_made_up or (row and row["is_made_up"]):
        title = blocks.rich("{} {}", title, blocks.pill("undecided", "made up for the demo"))
    of_seed = {"purpose": "Purpose", "limits": "Limits of use", "owner_role": "Owner", "materiality": "Materiality"}
    of_seed["risk_appetite"] = "Risk appetite"
    watched = stated.monitoring
    pairs = [
        *((said, row[field] if row else None) for field, said in of_seed.items()),
        *(("Inventory id", stated.inventory_id), ("Tier", stated.tier), ("Vendor", stated.vendor)),
        *(("Monitoring", watched.frequency), ("Responsible", watched.responsible), ("Escalation", watched.escalation)),
    ]
    return [blocks.heading(title), blocks.facts([(said, say_stated(value)) for said, value in pairs])]


def _compare_versions(stated: Mapping[str, Version], evaluated: Sequence[Row]) -> Block | None:
    roles = {row["application_version"] or "": row["version_role"] for row in evaluated}
    names = [*roles, *(name for name in stated if name not in roles)][:MAXIMUM_VERSIONS]

    def show(version: str) -> Column:
        said = stated.get(version, Version())
        role = {"candidate": ", candidate", "baseline": ", baseline"}.get(roles.get(version, ""), "")
        return Column(f"{clean_label(version)}{role}", lambda row: say_stated(getattr(said, row["field"])), "wide")

    rows = [{"field": field, "part": field.replace("_", " ").capitalize()} for field in Version.model_fields]
    return blocks.table("What each version is made of.", ("part=Part", *map(show, names)), rows) if names else None


def describe_conclusion(statements: Statements) -> Block | None:
    """Return what the validator concludes, for the page to sign; None where nothing is stated."""
    stated = statements.validator
    if stated == Validator():
        return None
    made_up = " (made up for the demo)" if statements.is_made_up else ""
    pairs = [
        (name.replace("_", " ").capitalize(), say_stated(getattr(stated, name))) for name in Validator.model_fields
    ]
    pairs[0] = (f"Conclusion{made_up}", pairs[0][1])
    return blocks.facts(pairs)


def say_owner(statements: Statements, row: Row) -> str:
    """Return who deals with a finding and until when: as the file states, else as the seed finding_decisions does."""
    stated = next((each for each in statements.findings if each.covers(row)), None)
    registered = row["owner"] if row["owner"] != "no owner" else None
    owner, due, action = (stated.owner, stated.due_date, stated.action) if stated else (None, None, None)
    said = f"owner: {say_stated(owner or registered)}, due: {say_stated(due)}"
    return f"{said}; {clean_text(action, ANSWER_CHARACTERS)}" if action else said


def say_stated(value: str | date | None) -> str:
    """Return a statement as text, cleaned."""
    if isinstance(value, date):
        return format_day(value)
    return clean_text(value, ANSWER_CHARACTERS) if value else "not stated"
