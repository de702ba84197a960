"""The test set generated from documents: topics, sampling, accepted and rejected queries, and variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report.charts.topics import TopicCloud, draw_topics
from hcat.report.showing import format_number, format_percent, group_by, ratio

#: Largest number of chunks drawn; the chart thins them further.
MAXIMUM_POINTS = 4000
MAXIMUM_TOPICS = 25
MAXIMUM_STRATA = 25

LIST_TOPICS = """
select topic_id, topic_name, count_chunks, count_documents, share_chunks, count_added, mean_similarity, is_noise
from dim_topics
where count_chunks > 0
order by is_noise, count_chunks desc, topic_id
"""

# A hash order chooses the chunks, so that every run draws the same ones.
LIST_POINTS = """
select topic_id, x, y
from fct_chunk_topics
qualify row_number() over (order by md5(chunk_id), chunk_id) <= $maximum
order by topic_id, chunk_id
"""

LIST_STABILITY = """
select variation, method, reduction, count_topics, count_texts, count_pairs, mean_adjusted_rand, minimum_adjusted_rand,
    silhouette
from fct_topic_stability
where is_current
order by variation
"""

LIST_STRATA = """
select stratum_label, count_population, share_population, count_planned, count_sampled, allocation, allocation_status,
    weighting_status, count_accepted, count_accepted_effective, plan_status
from fct_sampling_strata
order by count_population desc, stratum_label
"""

COUNT_QUERIES = """
with queries as (
    select query_type, expected_behaviour, generator, true as is_accepted from fct_test_queries
    union all
    select query_type, expected_behaviour, generator, false as is_accepted from fct_rejected_queries
)

select
    query_type,
    expected_behaviour,
    generator,
    count(*) as count_candidates,
    count(*) filter (where is_accepted) as count_accepted
from queries
group by query_type, expected_behaviour, generator
order by query_type, expected_behaviour, generator
"""

COUNT_REASONS = """
select reason, count(*) as count_rejected
from fct_rejected_queries
group by reason
order by count_rejected desc, reason
"""

COUNT_VARIANTS = """
select variant_type, meaning, count(*) as count_variants
from fct_test_variants
group by variant_type, meaning
order by meaning, variant_type
"""

COUNT_CALLS = """
select model, call_status, count(*) as count_calls, sum(prompt_tokens) as prompt_tokens,
    sum(completion_tokens) as completion_tokens
from fct_generation_calls
group by model, call_status
order by model, call_status
"""


def describe_test_set(source: Warehouse) -> dict[str, Any] | None:
    """Return topics, strata, queries and variants of the test set; None where this warehouse has no test set."""
    if not source.has("dim_topics", "fct_test_queries"):
        return None
    topics = source.rows(LIST_TOPICS, ["dim_topics"])
    strata = source.rows(LIST_STRATA, ["fct_sampling_strata"])
    names = {row["topic_id"]: row["topic_name"] for row in topics}
    return {
        "topics": [_describe_topic(number, row) for number, row in enumerate(topics[:MAXIMUM_TOPICS], start=1)],
        "count_topics_left_out": max(0, len(topics) - MAXIMUM_TOPICS),
        "picture": _draw(source, topics[:MAXIMUM_TOPICS]),
        "stability": [
            {
                **row,
                "mean": format_number(row["mean_adjusted_rand"]),
                "minimum": format_number(row["minimum_adjusted_rand"]),
                "silhouette": format_number(row["silhouette"]),
            }
            for row in source.rows(LIST_STABILITY, ["fct_topic_stability"])
        ],
        # nothing was drawn: shares of a draw, effective numbers and weights would mean nothing
        "count_all_taken": sum(row["count_population"] for row in strata)
        if strata and all(row["plan_status"] == "all_chunks" for row in strata)
        else None,
        "strata": [
            {
                **row,
                "allocation_text": _describe_allocation(row),
                "stratum_label": _name_stratum(row["stratum_label"], names),
                "share": format_percent(row["share_population"]),
                "effective": format_number(row["count_accepted_effective"]),
            }
            for row in strata[:MAXIMUM_STRATA]
        ],
        "count_strata_left_out": max(0, len(strata) - MAXIMUM_STRATA),
        "queries": [
            {
                **row,
                "query_type": clean_label(row["query_type"]),
                "share": format_percent(ratio(row["count_accepted"], row["count_candidates"])),
            }
            for row in source.rows(COUNT_QUERIES, ["fct_test_queries", "fct_rejected_queries"])
        ],
        "reasons": source.rows(COUNT_REASONS, ["fct_rejected_queries"]),
        "variants": source.rows(COUNT_VARIANTS, ["fct_test_variants"]),
        "calls": [
            {**row, "model": clean_label(row["model"])} for row in source.rows(COUNT_CALLS, ["fct_generation_calls"])
        ],
    }


def _name_stratum(label: str, names: Mapping[str, str]) -> str:
    """Return the label of a stratum with the names of topics in place of their ids."""
    return clean_label(" | ".join(names.get(segment, segment) for segment in label.split(" | ")))


def _describe_allocation(row: Row) -> str:
    if row["allocation_status"] == "all_taken":
        return "all chunks taken"
    return f"{row['allocation']}, {row['allocation_status']}".replace("_", " ")


def _describe_topic(number: int, row: Row) -> Row:
    return {
        **row,
        "number": None if row["is_noise"] else number,
        "topic_name": clean_label(row["topic_name"]),
        "share": format_percent(row["share_chunks"]),
        "similarity": format_number(row["mean_similarity"]),
    }


def _draw(source: Warehouse, topics: list[Row]) -> str | None:
    points = group_by(source.rows(LIST_POINTS, ["fct_chunk_topics"], maximum=MAXIMUM_POINTS), "topic_id")
    clouds = [
        TopicCloud(
            clean_label(row["topic_name"]),
            row["count_chunks"],
            [(point["x"], point["y"]) for point in points.get(row["topic_id"], [])],
            row["is_noise"],
        )
        for row in topics
    ]
    if not any(cloud.points for cloud in clouds):
        return None
    return draw_topics(clouds, "Chunks of the knowledge base in two dimensions, by topic")
