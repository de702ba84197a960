"""Limitations that the evidence shows: missing scores, tests, decisions and marts; and limits of the method."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import blocks
from hcat.report.blocks import Column, Section
from hcat.report.inputs import describe_never_given, keep_unmet
from hcat.report.ledger import VOID_DECISIONS, Build
from hcat.report.showing import format_percent, ratio
from hcat.report.weaknesses import TEST_STATUSES

#: What holds for every build: title and text.
LIMITS: Final = yaml.safe_load(Path(__file__).with_name("limits.yml").read_text(encoding="utf-8"))


def describe_limitations(
    source: Warehouse, build: Build, sections: Mapping[str, Section], titles: Mapping[str, str], gates: Sequence[Row]
) -> dict[str, Any]:
    """Return the missing evidence of all sections, the inputs that were never given, and the section itself."""
    gaps = [
        {"section": name, "what": gap.what, "supply": gap.supply}
        for name, one in sections.items()
        for gap in keep_unmet(one.gaps)
    ]
    never_given = describe_never_given(source, sections, titles, build.settings)
    provisional = [metric["metric_name"] for metric in build.metrics if metric["is_provisional"]]
    expired = [metric["metric_name"] for metric in build.metrics if metric["is_decision_expired"]]
    return {
        "provisional": provisional,
        "expired": expired,
        "section": blocks.section(
            blocks.heading("Missing evidence") if gaps else None,
            blocks.table(
                "",
                (
                    Column("Section", lambda row: blocks.link(row["section"], titles[row["section"]]), ""),
                    "what=What is missing",
                    "supply=What would supply it",
                ),
                gaps,
                len(gaps),
            ),
            blocks.fold(
                f"What needs data that was never given ({len(never_given)})",
                blocks.table(
                    "Each row is an input that the logs do not hold, with what it would add to this report. Nothing was"
                    " computed in its place.",
                    ("name=Input", "adds=What it would add", "supply=How it is given"),
                    [{**row, "adds": "; ".join(row["adds"])} for row in never_given],
                    len(never_given),
                ),
                level=3,
                anchor="never_given",
            )
            or blocks.paragraph(
                "" if gaps else "No section of this report lacks evidence, and no input is missing.",
                anchor="never_given",
            ),
            blocks.heading("Limits of this build"),
            blocks.bullets(_list_limits(source, build, gates, provisional, expired)),
            blocks.heading("Limits of the method"),
            blocks.bullets([blocks.rich("<strong>{}</strong> {}", limit["title"], limit["text"]) for limit in LIMITS]),
        ),
    }


def _list_limits(
    source: Warehouse, build: Build, gates: Sequence[Row], provisional: Sequence[str], expired: Sequence[str]
) -> list[Any]:
    void = [
        f"{metric['metric_name']} ({VOID_DECISIONS[metric['decision_status']]})"
        for metric in build.metrics
        if metric.get("decision_status") in VOID_DECISIONS
    ]
    found: list[tuple[str, str]] = []
    for title, names, words in (
        ("Gates not evaluated", _of_verdict(gates, "not_evaluated"), "too few observations, or no measurement"),
        (
            "Gates undecided",
            _of_verdict(gates, "undecided"),
            "the interval contains the limit; more clusters would decide",
        ),
        ("Provisional decisions", provisional, "nobody has approved these thresholds"),
        ("Void decisions", void, "not applied"),
        ("Expired decisions", expired, "past their date"),
    ):
        if names:
            found.append((title, f"({words}): {', '.join(names)}."))
    for row in blocks.read(source, "count_small"):
        if row["count_cells"]:
            share = format_percent(ratio(row["count_small"], row["count_cells"]))
            found.append(
                (
                    f"Segments of {row['kind']}:",
                    f"{row['count_small']:,} of {row['count_cells']:,} ({share}) have too few clusters.",
                )
            )
    for row in blocks.read(source, "count_test_statuses"):
        if row["test_status"] != "tested":
            status = TEST_STATUSES.get(row["test_status"], row["test_status"])
            found.append((f"{row['count_cells']:,} cells {status}.", ""))
    found += [
        (
            "No score",
            f"for {row['count_unscored']:,} of {row['count_evaluations']:,} interactions"
            f" ({row['count_missing_input']:,} for missing input, {row['count_failed']:,} because the computation"
            f" failed): {row['metric_names']}.",
        )
        for row in blocks.read(source, "count_unscored")
    ]
    return [blocks.rich("<strong>{}</strong> {}", title, text) for title, text in found]


def _of_verdict(gates: Sequence[Row], verdict: str) -> list[str]:
    """Return the gates of a verdict, each with what it has and needs."""
    return [
        f"{row['gate_name']} (n = {row['n'] or 0:,}; {row['minimum_n']:,} needed)"
        if row["minimum_n"] is not None and (row["n"] or 0) < row["minimum_n"]
        else row["gate_name"]
        for row in gates
        if row["verdict"] == verdict
    ]
