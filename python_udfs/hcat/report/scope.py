"""Purpose and scope: the use, risks and risk appetite that the seeds state, and the versions evaluated."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report.ledger import Build
from hcat.report.showing import ANSWER_CHARACTERS, Gap, format_number, format_percent, to_anchor

#: Applications, versions and risks shown; the number left out is shown below them.
MAXIMUM_APPLICATIONS = 12
MAXIMUM_VERSIONS = 20
MAXIMUM_RISKS = 60

LIST_APPLICATIONS = "select * from applications order by application"

LIST_RISKS = "select * from risks order by application, risk_id"

LIST_APPETITES = "select * from risk_appetites order by confidence desc, risk_appetite"

COUNT_VERSIONS = """
select
    application,
    application_version,
    count(*) as count_interactions,
    count(distinct cluster_id) as count_clusters,
    min(asked_at) as first_asked_at,
    max(asked_at) as last_asked_at
from fct_interactions
group by application, application_version
order by application, application_version
"""

LIST_CONTROLS = """
select gate_name, verdict, severity
from fct_threshold_gates
where run_id = $run_id
order by gate_name
"""


def describe_scope(source: Warehouse, build: Build) -> dict[str, Any]:
    """Return purpose, limits, owner, risks and appetite as the seeds state them, and the versions evaluated."""
    stated = source.rows(LIST_APPLICATIONS, ["applications"])
    versions = source.rows(COUNT_VERSIONS, ["fct_interactions"])
    risks = source.rows(LIST_RISKS, ["risks"])
    named = {row["application"] for row in stated}
    unstated = sorted(
        {clean_label(row["application"]) for row in versions if row["application"] and row["application"] not in named}
    )
    return {
        "applications": [
            {
                "application": clean_label(row["application"]),
                "purpose": clean_text(row["purpose"], ANSWER_CHARACTERS),
                "limits": clean_text(row["limits"], ANSWER_CHARACTERS),
                "owner_role": clean_label(row["owner_role"]),
                "materiality": clean_label(row["materiality"]),
                "risk_appetite": clean_label(row["risk_appetite"]),
                "is_made_up": row["is_made_up"],
            }
            for row in stated[:MAXIMUM_APPLICATIONS]
        ],
        "count_applications_left_out": max(0, len(stated) - MAXIMUM_APPLICATIONS),
        "versions": [
            {
                **row,
                "application": clean_label(row["application"]) if row["application"] else "not named in the logs",
                "application_version": clean_label(row["application_version"])
                if row["application_version"]
                else "not logged",
                "first": _format_day(row["first_asked_at"]),
                "last": _format_day(row["last_asked_at"]),
            }
            for row in versions[:MAXIMUM_VERSIONS]
        ],
        "count_versions_left_out": max(0, len(versions) - MAXIMUM_VERSIONS),
        "risks": _describe_risks(source, build, risks[:MAXIMUM_RISKS]),
        "count_risks_left_out": max(0, len(risks) - MAXIMUM_RISKS),
        "appetites": [
            {
                "risk_appetite": clean_label(row["risk_appetite"]),
                "confidence": format_percent(row["confidence"]),
                "false_accepts": format_percent(row["tolerated_false_accept_share"]),
                "false_rejects": format_percent(row["tolerated_false_reject_share"]),
                "costs": f"{format_number(row['cost_false_accept'])} : {format_number(row['cost_false_reject'])}",
                "rationale": clean_text(row["rationale"], ANSWER_CHARACTERS),
            }
            for row in source.rows(LIST_APPETITES, ["risk_appetites"])
        ],
        "gaps": _find_gaps(source, stated, risks, unstated),
    }


def _describe_risks(source: Warehouse, build: Build, risks: list[Row]) -> list[Row]:
    run = build.run
    gates = source.rows(LIST_CONTROLS, ["fct_threshold_gates"], run_id=run["run_id"]) if run else []
    verdicts = {row["gate_name"]: row["verdict"] for row in gates}
    return [
        {
            "risk_id": clean_label(row["risk_id"]),
            "application": clean_label(row["application"]),
            "description": clean_text(row["description"], ANSWER_CHARACTERS),
            "mitigation": clean_text(row["mitigation"], ANSWER_CHARACTERS),
            "metric_name": row["metric_name"] or "",
            "criterion": row["criterion"] or "",
            "metric_anchor": to_anchor("metric", row["metric_name"] or ""),
            "gate_anchor": to_anchor("gate", row["control_gate"] or ""),
            "gate": clean_label(row["control_gate"]) if row["control_gate"] else "",
            # a risk whose gate did not run has no control
            "verdict": verdicts.get(row["control_gate"], "not_evaluated") if row["control_gate"] else "",
            "is_made_up": row["is_made_up"],
        }
        for row in risks
    ]


def _find_gaps(source: Warehouse, stated: list[Row], risks: list[Row], unstated: list[str]) -> list[Gap]:
    gaps = []
    if not source.has("applications"):
        gaps.append(
            Gap(
                "Purpose, limits, owner and materiality of the application: this copy of the warehouse lacks the seed"
                " applications.",
                "the full warehouse with the seed applications",
            )
        )
    elif not stated:
        gaps.append(
            Gap(
                "purpose, limits, owner and materiality, which no log can tell",
                "a row per application in the seed applications",
                "application",
            )
        )
    elif unstated:
        gaps.append(
            Gap(
                f"Purpose and owner of {', '.join(unstated[:MAXIMUM_APPLICATIONS])}: the seed applications has no"
                " row for them.",
                "a row per application in the seed applications",
            )
        )
    if not risks:
        gaps.append(
            Gap(
                "risks with the verdicts of the gates that control them"
                if source.has("risks")
                else "Risks and their controls.",
                "rows in the seed risks" if source.has("risks") else "the full warehouse with the seed risks",
                "risks" if source.has("risks") else "",
            )
        )
    return gaps


def _format_day(value: Any) -> str:
    return "not logged" if value is None else f"{value:%Y-%m-%d}"
