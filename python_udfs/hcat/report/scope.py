"""Scope: the risks that the seeds state with their gates, and what the answers cost."""

from collections.abc import Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import blocks
from hcat.report.blocks import Column, Gap, Section
from hcat.report.outcomes import show_verdict
from hcat.report.showing import to_anchor
from hcat.report.words import QUERIES

#: Applications shown.
MAXIMUM_APPLICATIONS: Final = 12

_GUIDANCE: Final = (
    blocks.rich(
        "<strong>SR 26-2 (United States, 2026)</strong> replaced SR 11-7 (2011) on 17 April 2026. It ties the depth of"
        " validation to materiality, and it leaves generative AI out of its scope. No rule of it demands this report"
        " for a RAG assistant. Its principles still fit: conceptual soundness, outcomes analysis, monitoring, and"
        " validation by people who did not build the system."
    ),
    blocks.rich("<strong>SS1/23 (United Kingdom, 2023)</strong> binds banks in the United Kingdom."),
    "This text rests on secondary sources on SR 26-2 and not on the letter. Ask those who answer for regulation in your"
    " organisation what applies to you.",
)


def list_applications(source: Warehouse) -> list[Row]:
    """Return what the seed states of each application."""
    return source.rows("select * from applications order by application", ["applications"])


def describe_scope(source: Warehouse, gates: Sequence[Row]) -> Section:
    """Return risks as the seeds state them, and what the answers cost."""
    stated = list_applications(source)
    risks = source.rows(QUERIES["list_risks"], ["risks"])
    verdicts = {row["anchor"]: row["verdict"] for row in gates}
    return blocks.section(
        blocks.table(
            "Risks as stated in the seed risks, with the verdict of their gate in this build. A risk without a gate is"
            " monitored but blocks no release.",
            {
                "metric_name": Column("Metric", _show_metric, ""),
                "control_gate": Column("Gate", lambda row: _show_gate(row, verdicts), ""),
            },
            risks,
            noun="risks",
        ),
        blocks.query(
            source,
            "list_costs",
            "Speed and cost of the answers, as the log says: latency in seconds, cost in the currency of the log."
            " Nothing is judged by it; fct_assistant_costs has every week.",
        ),
        blocks.fold("Which guidance applies", blocks.bullets(_GUIDANCE), level=3, anchor="guidance"),
        gaps=_find_gaps(source, stated, risks),
    )


def _show_metric(row: Row) -> Any:
    metric, criterion = row["metric_name"], row["_criterion"]
    return blocks.lines(
        blocks.link(to_anchor("metric", metric), blocks.break_name(metric)) if metric else "",
        blocks.small(f"raters judge {criterion}" if criterion else ""),
    )


def _show_gate(row: Row, verdicts: dict[str, str]) -> Any:
    if not row["control_gate"]:
        return blocks.small("none")
    anchor = to_anchor("gate", row["control_gate"])
    # a risk whose gate did not run has no control
    verdict = show_verdict(verdicts.get(anchor, "not_evaluated"))
    return blocks.lines(blocks.link(anchor, blocks.break_name(clean_label(row["control_gate"]))), verdict)


def _find_gaps(source: Warehouse, stated: Sequence[Row], risks: Sequence[Row]) -> list[Gap | bool]:
    asked = source.rows("select distinct application from fct_interactions", ["fct_interactions"])
    unstated = {row["application"] for row in asked if row["application"]} - {row["application"] for row in stated}
    named = ", ".join(sorted(map(clean_label, unstated))[:MAXIMUM_APPLICATIONS])
    supply = "a row per application in the seed applications"
    lacking = "this copy of the warehouse lacks the seed"
    if not source.has("applications"):
        purpose: Gap | bool = Gap(
            f"Purpose, limits, owner and materiality: {lacking} applications.", "the full warehouse"
        )
    elif not stated:
        purpose = Gap("purpose, limits, owner and materiality, which no log can tell", supply, "application")
    else:
        purpose = bool(unstated) and Gap(
            f"Purpose and owner of {named}: the seed applications has no row for them.", supply
        )
    controls = Gap("risks with the verdicts of the gates that control them", "rows in the seed risks", "risks")
    absent = Gap(f"Risks and their controls: {lacking} risks.", "the full warehouse")
    return [purpose, not risks and (controls if source.has("risks") else absent)]
