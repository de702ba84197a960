"""Inputs that were never given: one list of what each of them would add to the report."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import blocks
from hcat.report.blocks import Gap, Section

#: Metrics of an input that are named; the others are counted.
MAXIMUM_METRICS = 4

#: Name of an input, and how it is given. The first are words of `requires` in the catalogue of metrics.
INPUTS: Mapping[str, tuple[str, str]] = {
    "query": ("query texts", "query_text of the interactions, or queries"),
    "answer": ("answers", "answer of the interactions"),
    "context": ("retrieved contexts", "retrievals, or contexts in calls"),
    "reference": ("reference answers", "reference_answer of the queries"),
    "relevance": (
        "relevance judgements or source chunks",
        "relevance_judgements, or source_chunk_ids of the queries, and chunk ids in the retrievals",
    ),
    "expectation": ("what queries are due", "expected_behaviour or reference_answer of the queries"),
    "samples": ("several answers to the same query", "one system answers a query again, with another sample_index"),
    "ratings": ("ratings", "hcat labels export writes a sheet, raters fill it in, hcat labels import reads it"),
    "documents": ("documents of the knowledge base", "documents, chunks or a corpus in the logs"),
    "test_set": ("production logs beside a test set", "both in the logs, each with enough clusters"),
    "versions": ("a second version", "two values of application_version that answer the same queries"),
    "wordings": (
        "several wordings of a question",
        "query_group, or variants with parent_query_id, and a reference answer",
    ),
    "people": (
        "queries asked for different people",
        "counterfactual variants of a test set (hcat test-set, hcat collect)",
    ),
    "attacks": (
        "adversarial variants of queries",
        "variants prompt_injection, contradicting_context or out_of_distribution, and their original queries",
    ),
    "times": ("times", "asked_at of the interactions, over several weeks"),
    "tags": ("topics and query types of the queries", "tags of the queries or of the interactions"),
    "languages": ("answers in a language that is read", "logs in one of hcat_tagger_languages"),
    "application": ("purpose and owner of the application", "a row in the seed applications"),
    "risks": ("risks and their controls", "rows in the seed risks"),
    "generated": (
        "a test set made from the documents (on request)",
        "dbt build --select +tag:test_set --indirect-selection cautious --vars '{hcat_test_set: true}'",
    ),
}


def describe_never_given(
    source: Warehouse, sections: Mapping[str, Section], titles: Mapping[str, str], settings: Mapping[str, Any]
) -> list[Row]:
    """Return the inputs that were never given and the modules that are switched off, with what each would add."""
    added: dict[str, list[str]] = {}
    for row in blocks.read(source, "list_waiting_metrics"):
        names = row["metric_names"]
        shown = ", ".join([*names[:MAXIMUM_METRICS], *(["..."] if len(names) > MAXIMUM_METRICS else [])])
        added[row["input"]] = [f"{len(names)} metric{'s' if len(names) > 1 else ''} ({shown})"]
    for name, section in sections.items():
        for gap in section.gaps:
            if gap.needs:
                added.setdefault(gap.needs, []).append(f"{titles[name]}: {gap.what}")
    given = [
        {"name": name, "supply": supply, "adds": added[key]} for key, (name, supply) in INPUTS.items() if key in added
    ]
    return given + [
        {
            "name": f"module {module}, switched off",
            "supply": f"hcat_modules: {{{module}: true}}",
            "adds": [mart for mart, of in source.switched_off.items() if of == module] or ["its metrics"],
        }
        for module in settings.get("modules_off") or ()
    ]


def leave_out_switched_off(source: Warehouse, section: Section) -> Section:
    """Return a section without the gaps of marts whose module is switched off: the list of inputs names the module."""
    gaps = [
        gap
        for gap in section.gaps
        if not any(re.search(rf"\b{mart}\b", f"{gap.what} {gap.supply}") for mart in source.switched_off)
    ]
    return section._replace(gaps=gaps)


def keep_unmet(gaps: Sequence[Gap]) -> list[Gap]:
    """Return the gaps that no input would fill: a missing mart, seed or decision."""
    return [gap for gap in gaps if not gap.needs]
