"""The document: all sections in the order in which a validator reads them, in one HTML file."""

import re
from pathlib import Path
from typing import Any, Final

from hcat.engine.files import write_whole
from hcat.engine.warehouse import Place, Warehouse, check_finished, open_warehouse
from hcat.language.display import clean_label
from hcat.report import blocks
from hcat.report.application import Statements, describe_assistant, describe_conclusion, read_statements
from hcat.report.blocks import keep
from hcat.report.calibration.section import describe_calibration, describe_labels
from hcat.report.changes import describe_changes, show_changes
from hcat.report.data import describe_data, read_counts
from hcat.report.decision import describe_decisions, describe_reading, list_to_read
from hcat.report.inputs import keep_unmet, leave_out_switched_off
from hcat.report.ledger import Build, describe_ledger, describe_verdict, read_build
from hcat.report.limitations import describe_limitations
from hcat.report.metrics import describe_metrics
from hcat.report.monitoring import describe_monitoring
from hcat.report.outcomes import describe_gates, describe_outcomes
from hcat.report.privacy_and_bias import describe_bias, describe_privacy
from hcat.report.questions import describe_better, describe_changing, describe_how_often, describe_sure, describe_where
from hcat.report.robustness import describe_headlines, describe_robustness
from hcat.report.safety import describe_safety
from hcat.report.scope import describe_scope, list_applications
from hcat.report.showing import format_number, format_period, format_time
from hcat.report.weaknesses import describe_claims, describe_weaknesses

#: Questions in their order, which everybody reads: id, title. Then the appendix, section by section.
QUESTIONS: Final = (
    ("reading", "Read these answers first"),
    ("how_often", "How often is it wrong?"),
    ("where", "Where is it wrong?"),
    ("better", "Is it better than before?"),
    ("changes", "Is it changing?"),
    ("sure", "How sure is this?"),
    ("limitations", "What are the limits?"),
    ("assistant", "The assistant"),
    ("sign_off", "Sign-off"),
)
APPENDIX: Final = (
    ("scope", "Scope and risks"),
    ("data", "Data and sampling"),
    ("metrics", "Conceptual soundness of the metrics"),
    ("outcomes", "Scores"),
    ("calibration", "Calibration evidence"),
    ("weaknesses", "Segments"),
    ("privacy", "Personal data"),
    ("bias", "Equal treatment"),
    ("robustness", "Robustness"),
    ("safety", "Risk and safety"),
    ("monitoring", "Monitoring plan"),
    ("ledger", "Run ledger"),
)
SECTIONS: Final = (*QUESTIONS, *APPENDIX)

#: The explorer of the same build: where it lies beside the report, findings and answers lead to it.
EXPLORER_FILE: Final = "explorer.html"


def write_report(warehouse: Path | Place, output: Path, application: Path | None = None) -> Path:
    """Write the report of the last build as one HTML file and return its path."""
    write_whole(output, render_report(warehouse, output.with_name(EXPLORER_FILE), application))
    return output


def render_report(warehouse: Path | Place, explorer: Path | None = None, application: Path | None = None) -> str:
    """Return the report as HTML; `application` tells what no log can, and `explorer` is linked if of this build."""
    import jinja2

    statements = read_statements(application)
    with open_warehouse(warehouse) as source:
        check_finished(source)
        build = read_build(source)
        beside = explorer.name if explorer is not None and _is_page_of(explorer, build) else ""
        context = build_context(source, build, beside, statements, application)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=format_number, label=clean_label)
    page = environment.get_template("report.html.j2").render(context)
    # a link to a part that this build lacks becomes plain text
    known = set(re.findall(r'<[a-z][^<>]* id="([^"]+)"', page))
    return re.sub(r'<a href="#([^"]+)">(.*?)</a>', lambda link: link[0] if link[1] in known else link[2], page)


def _is_page_of(explorer: Path, build: Build) -> bool:
    """Return whether an explorer holds a build: where the command failed, the page of an earlier one may lie there."""
    # its blocks are written without blanks
    run_id = clean_label(build.run["run_id"]) if build.run else ""
    return explorer.is_file() and f'"run":{{"id":"{run_id}"'.encode() in explorer.read_bytes()


def build_context(
    source: Warehouse, build: Build, explorer: str, statements: Statements, application: Path | None
) -> dict[str, Any]:
    """Return everything that the templates show."""
    counts = read_counts(source)
    gates = describe_gates(source, build.run)
    claims = describe_claims(source)
    changes = describe_changes(source, build)
    labels = describe_labels(source)
    changed = show_changes(changes, build.level)
    owners = dict.fromkeys(clean_label(row["owner_role"]) for row in list_applications(source) if row["owner_role"])
    appendix = {
        "scope": describe_scope(source, gates["rows"]),
        "data": describe_data(source, counts),
        "metrics": describe_metrics(source, build),
        "outcomes": describe_outcomes(source, build),
        "calibration": describe_calibration(source, build),
        "weaknesses": describe_weaknesses(source, claims),
        "privacy": describe_privacy(source),
        "bias": describe_bias(source, build),
        "robustness": describe_robustness(source, build),
        "safety": describe_safety(source, build),
        "monitoring": describe_monitoring(source),
    }
    sections = {name: leave_out_switched_off(source, section) for name, section in appendix.items()}
    limitations = describe_limitations(source, build, sections, dict(SECTIONS), gates["rows"])
    shown = {
        "reading": describe_reading(source, list_to_read(source), explorer),
        "how_often": describe_how_often(source, gates),
        "where": describe_where(source, claims, explorer, statements),
        "better": describe_better(source, describe_headlines(source)),
        "changes": changed._replace(blocks=[*keep(describe_changing(source)), *changed.blocks]),
        "sure": describe_sure(source, labels),
        "limitations": limitations["section"],
        "assistant": describe_assistant(source, statements, application, claims["findings"] or ()),
        "sign_off": blocks.section(describe_conclusion(statements)),
        **{name: section for name, section in sections.items() if not section.is_empty or keep_unmet(section.gaps)},
        "ledger": describe_ledger(build),
    }
    return {
        "questions": [(name, title, shown[name]) for name, title in QUESTIONS],
        "appendix": [(name, title, shown[name]) for name, title in APPENDIX if name in shown],
        "left_out": [title for name, title in APPENDIX if name not in shown],
        "decisions": describe_decisions(source),
        "signers": [*owners, "an independent validator"],
        "changes": changes,
        "limitations": limitations,
        "header": {
            "run": build.run,
            # it stands in the style of every printed page, where nothing is escaped
            "build": re.sub(r"[^A-Za-z0-9_-]", "", build.run["run_id"]) if build.run else "unknown",
            "started_at": format_time(build.run["started_at"]) if build.run else "unknown",
            "counts": counts,
            "level": build.level,
            "period": format_period(counts) if counts else "",
            "verdict": describe_verdict(build.run, gates),
        },
    }
