"""The document: all sections in the order in which a validator reads them, in one HTML file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from hcat.engine.files import replacing
from hcat.engine.warehouse import Place, Warehouse, check_finished, open_warehouse
from hcat.language.display import clean_label
from hcat.report.calibration.section import describe_calibration
from hcat.report.changes import describe_changes
from hcat.report.conversations import describe_conversations
from hcat.report.data import describe_data
from hcat.report.decision import describe_decision
from hcat.report.inputs import keep_unmet, mark_switched_off
from hcat.report.judges import describe_judges
from hcat.report.ledger import Build, describe_ledger, read_build
from hcat.report.limitations import describe_limitations
from hcat.report.metrics import describe_metrics
from hcat.report.monitoring import describe_monitoring
from hcat.report.outcomes import describe_outcomes
from hcat.report.privacy_and_bias import describe_bias, describe_privacy
from hcat.report.query_groups import describe_query_groups
from hcat.report.ratings import describe_ratings
from hcat.report.robustness import describe_robustness
from hcat.report.safety import describe_safety
from hcat.report.scope import describe_scope
from hcat.report.showing import (
    ANSWER_CHARACTERS,
    QUERY_CHARACTERS,
    SENTENCE_CHARACTERS,
    break_name,
    format_number,
    format_percent,
    format_time,
)
from hcat.report.verdict import describe_verdict
from hcat.report.weaknesses import describe_weaknesses

#: Sections in their order: id, title. The ids are keys of the context and names of the templates.
SECTIONS = (
    ("scope", "Purpose and scope"),
    ("changes", "Changes since the signed report"),
    ("data", "Data and sampling"),
    ("metrics", "Conceptual soundness of the metrics"),
    ("outcomes", "Outcomes analysis"),
    ("calibration", "Calibration evidence"),
    ("weaknesses", "Weaknesses"),
    ("privacy", "Personal data"),
    ("bias", "Equal treatment"),
    ("robustness", "Robustness"),
    ("safety", "Risk and safety"),
    ("limitations", "Limitations"),
    ("monitoring", "Monitoring plan"),
    ("sign_off", "Sign-off"),
    ("ledger", "Run ledger"),
)


#: The explorer of the same build: where it lies beside the report, findings and answers lead to it.
EXPLORER_FILE: Final = "explorer.html"


def write_report(warehouse: Path | Place, output: Path, metric_name: str | None = None) -> Path:
    """Write the report of the last build as one HTML file and return its path."""
    page = render_report(warehouse, metric_name, output.with_name(EXPLORER_FILE))
    output.parent.mkdir(parents=True, exist_ok=True)
    with replacing(output) as unfinished:
        unfinished.write_text(page, encoding="utf-8", newline="\n")
    return output


def render_report(warehouse: Path | Place, metric_name: str | None = None, explorer: Path | None = None) -> str:
    """Return the report as HTML text; links lead to ``explorer`` if it is of this build, the rest as `write_report`."""
    import jinja2

    with open_warehouse(warehouse) as source:
        check_finished(source)
        context = build_context(source, metric_name)
    run_id = context["changes"]["run_id"]
    context["explorer"] = explorer.name if explorer is not None and _is_page_of(explorer, run_id) else ""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=format_number, percent=format_percent, label=clean_label, breakable=break_name)
    return drop_dead_links(environment.get_template("report.html.j2").render(context))


def _is_page_of(explorer: Path, run_id: str) -> bool:
    """Return whether an explorer holds a build: where the command failed, the page of an earlier one may lie there."""
    # its blocks are written without blanks
    return explorer.is_file() and f'"run":{{"id":"{run_id}"'.encode() in explorer.read_bytes()


def drop_dead_links(page: str) -> str:
    """Return the page with links to parts that this build lacks as plain text."""
    known = set(re.findall(r'<[a-z][^<>]* id="([^"]+)"', page))
    return re.sub(r'<a href="#([^"]+)">(.*?)</a>', lambda link: link[0] if link[1] in known else link[2], page)


def build_context(source: Warehouse, metric_name: str | None = None) -> dict[str, Any]:
    """Return everything that the templates show, by section; ``metric_name`` and errors as in :func:`write_report`."""
    build = read_build(source)
    sections: dict[str, Any] = {
        "scope": describe_scope(source, build),
        "data": describe_data(source),
        "changes": describe_changes(source, build),
        "metrics": describe_metrics(source, build),
        "outcomes": describe_outcomes(source, build),
        "calibration": describe_calibration(source, build.settings) | {"judges": describe_judges(source)},
        "weaknesses": describe_weaknesses(source, build, metric_name),
        "privacy": describe_privacy(source),
        "bias": describe_bias(source),
        "robustness": describe_robustness(source),
        "safety": describe_safety(source),
        "monitoring": describe_monitoring(source, build),
    }
    # query groups are a part of the section on robustness, which lists their missing evidence
    query_groups = describe_query_groups(source)
    sections["robustness"]["gaps"] += query_groups["gaps"]
    ratings = describe_ratings(source)
    mark_switched_off(source, sections)
    _mark_empty(sections, query_groups, ratings)
    limitations = describe_limitations(source, build, sections, dict(SECTIONS))
    shown = [(name, title) for name, title in SECTIONS if not sections.get(name, {}).get("is_empty")]
    return {
        **sections,
        "decision": describe_decision(sections, limitations, ratings["labels"]),
        "query_groups": query_groups,
        "conversations": describe_conversations(source),
        "sections": [{"id": name, "title": title} for name, title in shown],
        "left_out": [title for name, title in SECTIONS if (name, title) not in shown],
        "header": _describe_build(build, sections),
        "confidence": "–" if build.confidence is None else f"{build.confidence * 100:g} %",
        "lengths": {"query": QUERY_CHARACTERS, "answer": ANSWER_CHARACTERS, "sentence": SENTENCE_CHARACTERS},
        "ratings": ratings,
        "limitations": limitations,
        "ledger": describe_ledger(build),
    }


def _mark_empty(sections: dict[str, Any], query_groups: dict[str, Any], ratings: dict[str, Any]) -> None:
    """Mark sections that show nothing, because what they show was never given; the list of inputs names that."""
    bias, robustness = sections["bias"], sections["robustness"]
    shown = {
        "calibration": sections["calibration"]["state"] != "no_labels" or ratings["kinds"] or ratings["compared"],
        "bias": bias["found"] or bias["equivalent"] or bias["others"],
        "robustness": robustness["pairs"]
        or robustness["variation"]
        or query_groups["correctness"]
        or query_groups["rates"]
        or query_groups["variants"],
    }
    for name, section in sections.items():
        section["is_empty"] = not shown.get(name, True) and not keep_unmet(section.get("gaps", ()))


def _describe_build(build: Build, sections: dict[str, Any]) -> dict[str, Any]:
    run, data, weaknesses = build.run, sections["data"], sections["weaknesses"]
    drift, findings = sections["monitoring"]["drift"], weaknesses["findings"]
    pairs = sections["robustness"]["pairs"]
    return {
        "run": run,
        "started_at": format_time(run["started_at"]) if run else "unknown",
        "systems": [row["system"] for row in data["systems"]],
        "counts": data["counts"],
        "period": data["period"],
        "count_metrics": len(build.metrics),
        "count_primary": len(build.primary),
        "verdict": describe_verdict(run, sections["outcomes"]["gates"]),
        "count_open_findings": None if findings is None else findings["count_open"],
        "count_open_confirmed": None if findings is None else findings["count_open_confirmed"],
        "count_drifting": None if drift is None or not drift["is_tested"] else drift["count_drifting"],
        "count_worse": sum(1 for pair in pairs for row in pair["rows"] if row["words"] == "worse") if pairs else None,
        "count_gaps": sum(len(keep_unmet(section.get("gaps", ()))) for section in sections.values()),
    }
