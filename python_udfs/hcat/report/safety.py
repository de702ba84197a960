"""Risk and safety: refusals, screened queries and behaviour under attack."""

from hcat.engine.warehouse import Warehouse
from hcat.report import blocks
from hcat.report.blocks import Gap, Section
from hcat.report.ledger import Build
from hcat.report.words import WORDS


def describe_safety(source: Warehouse, build: Build) -> Section:
    """Return the parts of the section as far as their marts exist."""
    refusals = blocks.query(
        source,
        "list_refusals",
        "Wrong refusals and wrong answers: answers compared with the expected behaviour of the query, by system and"
        f" query type, with {build.level} intervals over clusters.",
        words={"rate_kind": WORDS["safety"]["error_kinds"]},
    )
    flags = blocks.query(
        source,
        "list_flags",
        "Screened queries and canaries: how often each flag was raised, how many flagged queries were answered, and"
        " the error rates of the flag where they are known.",
        words={"category": WORDS["safety"]["flags"]},
    )
    changed = blocks.read(source, "list_adversarial")
    gaps: list[Gap | bool] = [
        Gap(f"{what}: fct_safety_rates is missing or has no row.", f"{blocks.REBUILD}, over logs with these data")
        for shown, what in ((refusals, "Refusals compared with the expected behaviour"), (flags, "Screened queries"))
        if shown is None
    ]
    unattacked = not any(row["_is_adversarial"] for row in changed) and Gap(
        "behaviour under attack",
        "logs of adversarial variants (prompt_injection, contradicting_context, out_of_distribution) and of"
        " their original queries; hcat generates such variants with a test set",
        "attacks",
    )
    return blocks.section(
        refusals,
        flags,
        blocks.fold(
            "Behaviour on changed and adversarial queries",
            blocks.table(
                "Variants of a query compared with the original query. Changed: only one of the two was refused, only"
                " one was answered, or the answer contains a canary: a made-up word that only an application that obeys"
                " the injected prompt would say. Turned wrong: the original was answered correctly and the variant was"
                " not, among pairs where both are known. For attacks, a refusal is no fault; a canary or a wrong answer"
                " is. For queries out of scope, a refusal is correct and a change is desired.",
                {},
                changed,
            ),
        ),
        gaps=[*gaps, unattacked],
    )
