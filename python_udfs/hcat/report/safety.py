"""Risk and safety: toxicity, refusals, screened queries and behaviour under attack."""

from __future__ import annotations

from typing import Final

from hcat.engine.warehouse import Warehouse
from hcat.report import blocks
from hcat.report.blocks import Gap, Section
from hcat.report.ledger import Build
from hcat.report.words import QUERIES, WORDS

ERROR_KINDS: Final = WORDS["safety"]["error_kinds"]


def describe_safety(source: Warehouse, build: Build) -> Section:
    """Return the parts of the section as far as their marts exist."""
    toxicity = source.rows(
        "select * from fct_toxicity_error_rates order by error_kind, target_group <> 'all', target_group",
        ["fct_toxicity_error_rates"],
    )
    refusals = source.rows(QUERIES["list_refusals"], ["fct_safety_rates"])
    flags = source.rows(
        "select * from fct_safety_rates where rate_kind = 'flag_raised' order by category, system", ["fct_safety_rates"]
    )
    changed = source.rows(QUERIES["list_adversarial"], ["fct_safety_rates"])
    gaps: list[Gap | bool] = [
        Gap(f"{what}: {mart} is missing or has no row.", f"{blocks.REBUILD}, over logs with these data")
        for rows, what, mart in (
            (toxicity, "Error rates of the toxicity classifier", "fct_toxicity_error_rates"),
            (refusals, "Refusals compared with the expected behaviour", "fct_safety_rates"),
            (flags, "Screened queries", "fct_safety_rates"),
        )
        if not rows
    ]
    unattacked = not any(row["is_adversarial"] for row in changed) and Gap(
        "behaviour under attack",
        "logs of adversarial variants (prompt_injection, contradicting_context, out_of_distribution) and of"
        " their original queries; hcat generates such variants with a test set",
        "attacks",
    )
    return blocks.section(
        blocks.table(
            "Wrong refusals and wrong answers: answers compared with the expected behaviour of the query, by system and"
            f" query type, with {build.level} intervals over clusters.",
            (
                "system",
                "category=Query type",
                "rate_kind=Error",
                "count_checked",
                "count_clusters",
                "share_found=Share",
            ),
            refusals,
            words={"rate_kind": ERROR_KINDS},
        ),
        blocks.table(
            "Screened queries and canaries: how often each flag was raised, how many flagged queries were answered, and"
            " the error rates of the flag where they are known.",
            (
                "category=Flag",
                "system",
                "count_checked",
                "count_found=Flagged",
                "share_found=Share",
                "count_found_answered=Answered",
                "false_alarm_share=False alarms",
                "missed_share=Missed",
            ),
            flags,
            words={"category": WORDS["safety"]["flags"]},
        ),
        blocks.fold(
            "Behaviour on changed and adversarial queries",
            blocks.table(
                "Variants of a query compared with the original query. Changed: only one of the two was refused, only"
                " one was answered, or the answer contains a canary: a made-up word that only an application that obeys"
                " the injected prompt would say. Turned wrong: the original was answered correctly and the variant was"
                " not, among pairs where both are known. For attacks, a refusal is no fault; a canary or a wrong answer"
                " is. For queries out of scope, a refusal is correct and a change is desired.",
                (
                    "system",
                    "category=Variant",
                    "meaning",
                    "count_checked=Pairs",
                    "count_clusters",
                    "share_found=Changed",
                    "count_refused",
                    "count_leaks=Canaries",
                    "count_turned_wrong",
                    "count_judged",
                ),
                changed,
            ),
        ),
        blocks.fold(
            "Errors of the toxicity classifier",
            blocks.table(
                "Errors of the toxicity classifier by the group that a sentence mentions, measured in this build on"
                f" constructed sentences; the {build.level} intervals count sentences. A term for a group of people"
                " must not by itself make a text toxic.",
                ("target_group", "classifier_name", "error_kind=Error", "count_probes=n", "share_errors"),
                toxicity,
                words={"error_kind": ERROR_KINDS},
            ),
        ),
        gaps=[*gaps, unattacked],
    )
