"""The test set generated from documents: topics, sampling, accepted and rejected queries, and variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import blocks
from hcat.report.blocks import Block, Column
from hcat.report.showing import format_number
from hcat.report.words import QUERIES

MAXIMUM_STRATA: Final = 25


def describe_test_set(source: Warehouse) -> list[Block]:
    """Return strata, queries and variants of the test set; nothing where this warehouse has no test set."""
    if not source.has("dim_topics", "fct_test_queries"):
        return []
    topics = source.rows(
        "select topic_id, topic_name, count_chunks, is_noise from dim_topics where count_chunks > 0", ["dim_topics"]
    )
    if not topics:
        return []
    told = (
        f"{sum(not row['is_noise'] for row in topics):,} topics hold {sum(row['count_chunks'] for row in topics):,}"
        " chunks of the knowledge base; dim_topics lists them, and fct_chunk_topics has their places in two dimensions."
    )
    return blocks.keep(
        (
            blocks.heading("Test set made from the documents"),
            blocks.paragraph(told),
            *(blocks.paragraph(sentence, "note") for sentence in _list_sentences(source)),
            blocks.fold(
                "Strata and queries",
                _list_strata(source, {row["topic_id"]: row["topic_name"] for row in topics}),
                blocks.table(
                    "Queries by type: candidates, and queries accepted into the test set.",
                    ("query_type", "expected_behaviour", "generator", "count_candidates", "count_accepted"),
                    source.rows(QUERIES["test_set_count_queries"], ["fct_test_queries", "fct_rejected_queries"]),
                ),
            ),
        )
    )


def _list_sentences(source: Warehouse) -> list[str]:
    """Return how stable the topics are, and what was rejected, varied and asked of a language model."""
    varied = {"seed": "other seeds"}
    sentences = [
        f"Stability ({varied.get(row['variation'], 'other samples of the texts')}): adjusted Rand index"
        f" {format_number(row['mean_adjusted_rand'])} on average and at least"
        f" {format_number(row['minimum_adjusted_rand'])}, over {row['count_pairs']:,} pairs of fits of"
        f" {row['count_texts']:,} texts ({blocks.say(row['method'])}, {blocks.say(row['reduction'])}); silhouette"
        f" coefficient {format_number(row['silhouette'])}."
        for row in source.rows(QUERIES["list_stability"], ["fct_topic_stability"])
    ]
    for start, texts, end in (
        (
            "Rejected",
            [
                f"{blocks.say(row['reason'])} {row['count_rejected']:,}"
                for row in source.rows(QUERIES["count_reasons"], ["fct_rejected_queries"])
            ],
            " (fct_rejected_queries)",
        ),
        (
            "Calls of a language model",
            [
                f"{clean_label(row['model'])}, {blocks.say(row['call_status'])} {row['count_calls']:,}"
                for row in source.rows(QUERIES["test_set_count_calls"], ["fct_generation_calls"])
            ],
            " (fct_generation_calls holds every prompt and answer)",
        ),
    ):
        if texts:
            sentences.append(f"{start}: {', '.join(texts)}{end}.")
    return sentences


def _list_strata(source: Warehouse, names: Mapping[str, str]) -> Block | None:
    rows = source.rows(QUERIES["list_strata"], ["fct_sampling_strata"])
    stratum = Column(
        "Stratum",
        lambda row: clean_label(" | ".join(names.get(part, part) for part in row["stratum_label"].split(" | "))),
    )
    chunks = ("count_population=Chunks", "share_population=Share")
    if rows and all(row["plan_status"] == "all_chunks" for row in rows):
        # figures of a draw would mean nothing
        caption = (
            f"All {sum(row['count_population'] for row in rows):,} chunks were taken. Nothing was drawn, so every"
            " weight is 1 and no sampling error is stated."
        )
        return blocks.table(
            caption, (stratum, *chunks, "count_accepted=Accepted queries"), rows, MAXIMUM_STRATA, "strata"
        )
    return blocks.table(
        "Sampling by stratum: chunks planned and drawn, queries accepted. Weights correct for rejected queries.",
        (
            stratum,
            *chunks,
            "count_planned",
            "count_sampled=Drawn",
            Column("Allocation", _describe_allocation, ""),
            "count_accepted=Accepted queries",
            "count_accepted_effective=Effective number",
            "weighting_status=Weights from",
        ),
        rows,
        MAXIMUM_STRATA,
        "strata",
    )


def _describe_allocation(row: Row) -> str:
    is_whole = row["allocation_status"] == "all_taken"
    return "all chunks taken" if is_whole else blocks.say(f"{row['allocation']}, {row['allocation_status']}")
