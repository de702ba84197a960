"""Data and sampling: records landed and rejected, composition of the interactions, and interactions without a score."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.privacy.masking import mask_text
from hcat.report.deletions import describe_deletions
from hcat.report.grammar import describe_grammar
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    MAXIMUM_SYSTEMS,
    Gap,
    distinct_labels,
    format_difference_interval,
    format_number,
    format_percent,
    format_period,
    format_points,
    group_by,
    ratio,
)
from hcat.report.test_set import describe_test_set

MAXIMUM_REASONS = 25
MAXIMUM_EXAMPLES = 3
ENTITIES = ("interactions", "retrievals", "queries", "documents", "chunks", "ratings", "relevance_judgements", "spans")
SCORE_STATUSES = ("scored", "truncated", "refused", "not_applicable", "missing_input", "unsupported_language", "failed")

COUNT_RECORDS_EVALUATED = """
select
    count(*) as count_interactions,
    count(distinct cluster_id) as count_clusters,
    count(distinct system) as count_systems,
    count(distinct topic) as count_topics,
    count(distinct query_type) as count_query_types,
    count(distinct language) as count_languages,
    count(*) filter (where is_answered) as count_answered,
    count(*) filter (where is_refusal) as count_refusals,
    min(asked_at) as first_asked_at,
    max(asked_at) as last_asked_at
from fct_interactions
"""

COUNT_DOCUMENTS = (
    "select count(*) as count_documents, coalesce(sum(count_chunks), 0) as count_chunks from dim_documents"
)
COUNT_QUERIES = "select count(*) as count_queries from dim_queries"

DESCRIBE_SYSTEMS = """
select
    system,
    count(*) as count_interactions,
    count(distinct cluster_id) as count_clusters,
    count(*) filter (where is_answered) as count_answered,
    count(*) filter (where is_refusal) as count_refusals,
    count(*) filter (where is_refusal and expected_behaviour = 'answer') as count_refused_wrongly,
    count(*) filter (where expected_behaviour = 'refuse') as count_refusals_due,
    count(*) filter (where is_answered and not is_refusal and expected_behaviour = 'refuse') as count_answered_wrongly
from fct_interactions
group by system
order by count_interactions desc, system
"""

COUNT_STATUSES = """
select metrics.family, metrics.metric_name, metrics.is_primary, metrics.requires, evaluations.score_status,
    count(*) as count_evaluations
from fct_evaluations as evaluations
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
group by metrics.family, metrics.metric_name, metrics.is_primary, metrics.requires, evaluations.score_status
order by metrics.family, metrics.metric_name, evaluations.score_status
"""

COUNT_LANGUAGES = """
select answer_language, language_source, count(*) as count_interactions
from fct_interactions
where is_answered
group by answer_language, language_source
order by count_interactions desc, answer_language nulls last, language_source
"""

LIST_RECORD_COUNTS = "select * from int_records_counted order by entity"

COUNT_REJECT_REASONS = """
select left(reject_reason, $characters) as reject_reason, count(*) as count_rejected
from stg_rejected_records
where entity = $entity and kind = 'record'
group by left(reject_reason, $characters)
order by count_rejected desc, reject_reason
"""

LIST_REJECT_EXAMPLES = """
select left(reject_reason, $characters) as reject_reason, source_file, source_row,
    record_excerpt
from stg_rejected_records
where entity = $entity and kind = 'record'
qualify row_number() over (
    partition by left(reject_reason, $characters) order by source_file, source_row, record_id
) <= $maximum
order by reject_reason, source_file, source_row, record_id
"""

#: Segments listed per dimension, largest first.
MAXIMUM_SEGMENTS = 8
MAXIMUM_UNTESTED = 30

# Each metric applies to interactions of its own; the metric that applies to most of them shows the composition.
DESCRIBE_COMPOSITION = """
select
    dimension,
    segment,
    max(count_interactions) as count_interactions,
    max(count_clusters) as count_clusters,
    bool_and(is_small) as is_small
from fct_marginal_weaknesses
group by dimension, segment
order by dimension, count_interactions desc, segment
"""


LIST_REPRESENTATIVENESS = """
select
    dimension,
    any_value(status order by status = 'compared' desc) as status,
    count(*) as count_segments,
    count(*) filter (where is_untested) as count_untested,
    sum(count_test_set) as count_test_set,
    sum(count_production) as count_production,
    max(statistic) as statistic,
    max(limit_value) as limit_value,
    bool_and(is_representative) as is_representative
from fct_representativeness
group by dimension
order by dimension
"""

# Untested segments first, then the largest deviations from production.
LIST_DEVIATIONS = """
select dimension, segment, status, count_test_set, count_production, share_test_set, share_production, difference,
    difference_lower, difference_upper, is_untested
from fct_representativeness
where is_untested or difference_lower > 0 or difference_upper < 0
order by is_untested desc, abs(difference) desc nulls last, dimension, segment
"""

COUNT_COMPARED = "select dimension from fct_representativeness where status = 'compared' limit 1"

REPRESENTATIVENESS_STATUSES = {
    "compared": "compared",
    "too_few_clusters": "too few clusters to compare",
    "no_production": "no production logs",
    "no_test_set": "no test set",
}


def describe_data(source: Warehouse) -> dict[str, Any]:
    """Return counts of landed and rejected records, and the composition of the evaluated interactions."""
    counts = source.rows(COUNT_RECORDS_EVALUATED, ["fct_interactions"])
    systems = source.rows(DESCRIBE_SYSTEMS, ["fct_interactions"])
    documents = source.rows(COUNT_DOCUMENTS, ["dim_documents"])
    queries = source.rows(COUNT_QUERIES, ["dim_queries"])
    labels = distinct_labels([row["system"] for row in systems[:MAXIMUM_SYSTEMS]])
    records = _describe_records(source)
    test_set = describe_test_set(source)
    return {
        "counts": counts[0] if counts and counts[0]["count_interactions"] else None,
        "period": format_period(counts[0]) if counts else "",
        "documents": documents[0] if documents else None,
        "queries": queries[0] if queries else None,
        "systems": [{**row, "system": labels[row["system"]]} for row in systems[:MAXIMUM_SYSTEMS]],
        "count_left_out": max(0, len(systems) - MAXIMUM_SYSTEMS),
        "deletions": describe_deletions(source),
        "records": records,
        "composition": _describe_composition(source),
        "statuses": _describe_statuses(source),
        "representativeness": _describe_representativeness(source),
        "test_set": test_set,
        "grammar": describe_grammar(source),
        "gaps": [
            *_find_gaps(source, bool(records["counts"])),
            *_find_gaps_of_documents(documents[0] if documents else None, test_set is not None),
        ],
    }


def _describe_composition(source: Warehouse) -> list[Row]:
    rows = source.rows(DESCRIBE_COMPOSITION, ["fct_marginal_weaknesses"])
    by_dimension = group_by([row for row in rows if row["dimension"] != "all"], "dimension")
    total = max((row["count_interactions"] for row in rows), default=0)
    return [
        {
            "dimension": dimension,
            "count_segments": len(segments),
            "count_small": sum(1 for row in segments if row["is_small"]),
            "segments": [
                {
                    "segment": clean_label(row["segment"]),
                    "count_interactions": row["count_interactions"],
                    "count_clusters": row["count_clusters"],
                    "share": format_percent(ratio(row["count_interactions"], total)),
                    "is_small": row["is_small"],
                }
                for row in segments[:MAXIMUM_SEGMENTS]
            ],
            "count_left_out": max(0, len(segments) - MAXIMUM_SEGMENTS),
        }
        for dimension, segments in by_dimension.items()
    ]


def _mask(text: str | None) -> str:
    """Return an excerpt of a rejected record with the personal data that rules find in it masked."""
    return clean_label(mask_text(text or "", is_tagged=False), EXCERPT_CHARACTERS)


def _describe_records(source: Warehouse) -> dict[str, Any]:
    counts = {row["entity"]: row for row in source.rows(LIST_RECORD_COUNTS, ["int_records_counted"])}
    rejected = []
    for entity in ENTITIES:
        of_entity = {"entity": entity, "characters": EXCERPT_CHARACTERS + 1}
        reasons = source.rows(COUNT_REJECT_REASONS, ["stg_rejected_records"], **of_entity)
        if not reasons:
            continue
        examples = group_by(
            source.rows(LIST_REJECT_EXAMPLES, ["stg_rejected_records"], **of_entity, maximum=MAXIMUM_EXAMPLES),
            "reject_reason",
        )
        rejected.append(
            {
                "entity": entity,
                "count_left_out": max(0, len(reasons) - MAXIMUM_REASONS),
                "reasons": [
                    {
                        "reason": _mask(reason["reject_reason"]),
                        "count": reason["count_rejected"],
                        "examples": [
                            {
                                "place": f"{clean_label(example['source_file'])}, row {example['source_row']}",
                                "excerpt": _mask(example["record_excerpt"]),
                            }
                            for example in examples.get(reason["reject_reason"], [])
                        ],
                    }
                    for reason in reasons[:MAXIMUM_REASONS]
                ],
            }
        )
    landed = [counts[entity] for entity in ENTITIES if entity in counts]
    return {
        "counts": [row for row in landed if row["count_landed"]] or landed,
        "never_landed": [row["entity"].replace("_", " ") for row in landed if not row["count_landed"]],
        "rejected": rejected,
    }


def _describe_statuses(source: Warehouse) -> dict[str, Any]:
    rows = source.rows(COUNT_STATUSES, ["fct_evaluations", "dim_metrics"])
    present = [status for status in SCORE_STATUSES if any(row["score_status"] == status for row in rows)]
    by_metric: dict[str, Row] = {}
    for row in rows:
        entry = by_metric.setdefault(
            row["metric_name"],
            {
                "metric_name": row["metric_name"],
                "family": row["family"],
                "is_primary": row["is_primary"],
                "requires": (row["requires"] or "").replace("|", ", "),
                "counts": {},
            },
        )
        entry["counts"][row["score_status"]] = row["count_evaluations"]
    described = [
        {**entry, "counts": [entry["counts"].get(status, 0) for status in present]} for entry in by_metric.values()
    ]
    languages = source.rows(COUNT_LANGUAGES, ["fct_interactions"])
    count = sum(row["count_interactions"] for row in languages)
    return {
        "statuses": present,
        "rows": described,
        "languages": [
            {
                "language": row["answer_language"] or "undecided",
                "source": row["language_source"],
                "count": row["count_interactions"],
                "share": format_percent(row["count_interactions"] / count),
            }
            for row in languages
        ],
    }


def _describe_representativeness(source: Warehouse) -> dict[str, Any] | None:
    if not source.has("fct_representativeness"):
        return None
    rows = source.rows(LIST_REPRESENTATIVENESS, ["fct_representativeness"])
    deviations = source.rows(LIST_DEVIATIONS, ["fct_representativeness"])
    return {
        "dimensions": [
            {
                **row,
                "status": REPRESENTATIVENESS_STATUSES.get(row["status"], row["status"]),
                "is_compared": row["status"] == "compared",
                "statistic": format_number(row["statistic"]),
                "limit": format_number(row["limit_value"]),
            }
            for row in rows
        ],
        "deviations": [
            {
                **row,
                "segment": clean_label(row["segment"]),
                "test_set": format_percent(row["share_test_set"]),
                "production": format_percent(row["share_production"]),
                "difference": format_points(row["difference"]),
                "interval": format_difference_interval(row["difference_lower"], row["difference_upper"], "share"),
            }
            for row in deviations[:MAXIMUM_UNTESTED]
        ],
        "count_left_out": max(0, len(deviations) - MAXIMUM_UNTESTED),
        "is_compared": any(row["status"] == "compared" for row in rows),
    }


def _find_gaps(source: Warehouse, has_counts: bool) -> list[Gap]:
    gaps = []
    if not has_counts:
        gaps.append(
            Gap(
                "Counts of landed and rejected records: this copy of the warehouse lacks int_records_counted.",
                "the full warehouse",
            )
        )
    if not source.has("fct_representativeness"):
        gaps.append(
            Gap(
                "Representativeness: how the test set differs from the queries of customers. This warehouse lacks"
                " the mart fct_representativeness.",
                "`dbt build` with the current version of hcat, over production logs and a test set",
            )
        )
    elif not source.rows(COUNT_COMPARED, ["fct_representativeness"]):
        gaps.append(
            Gap(
                "how the test set differs from what customers ask",
                "production logs and a test set, each with enough clusters",
                "test_set",
            )
        )
    return gaps


def _find_gaps_of_documents(documents: Row | None, has_test_set: bool) -> list[Gap]:
    """Return what a warehouse lacks without documents, or without a test set made from them."""
    if documents is None or has_test_set:
        return []
    if not documents["count_documents"]:
        return [Gap("topics of the knowledge base, and a test set made from it", "documents or chunks", "documents")]
    return [Gap("queries for every topic of the documents, with sampling weights", "a job on request", "generated")]
