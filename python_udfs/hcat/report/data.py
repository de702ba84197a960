"""Data and sampling: records landed and rejected, composition of the interactions, and interactions without a score."""

from collections.abc import Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.privacy.masking import mask_text
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Gap, Section
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    MAXIMUM_SYSTEMS,
    format_difference_interval,
    format_period,
    format_points,
    ratio,
)
from hcat.report.test_set import describe_grammar, describe_test_set
from hcat.report.words import WORDS

#: Rows of each table, segments of each dimension, and examples of each reason.
MAXIMUM_REASONS: Final = 25
MAXIMUM_DELETIONS: Final = 20
MAXIMUM_UNTESTED: Final = 30
MAXIMUM_SEGMENTS: Final = 8
MAXIMUM_EXAMPLES: Final = 3
SCORE_STATUSES: Final = (
    "scored",
    "truncated",
    "refused",
    "not_applicable",
    "missing_input",
    "unsupported_language",
    "failed",
)

COUNT_STATUSES: Final = f"""
select metrics.metric_name, metrics.family, metrics.requires,
    {", ".join(f"count(*) filter (where evaluations.score_status = '{word}') as {word}" for word in SCORE_STATUSES)}
from fct_evaluations as evaluations
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
group by metrics.metric_name, metrics.family, metrics.requires
order by bool_or(metrics.is_primary) desc, metrics.family, metrics.metric_name
"""

LIST_RECORD_COUNTS: Final = "select * from int_records_counted order by entity"

# Each metric applies to interactions of its own; the metric that applies to most of them shows the composition.
DESCRIBE_COMPOSITION: Final = f"""
select
    dimension,
    segment,
    max(count_interactions) as count_interactions,
    max(count_clusters) as count_clusters,
    bool_and(is_small) as is_small
from fct_marginal_weaknesses
where dimension <> 'all'
group by dimension, segment
qualify row_number() over (partition by dimension order by max(count_interactions) desc, segment) <= {MAXIMUM_SEGMENTS}
order by dimension, count_interactions desc, segment
"""


def read_counts(source: Warehouse) -> Row | None:
    """Return the counts of the evaluated interactions; None where there are none."""
    counts = blocks.read(source, "count_records_evaluated")
    return counts[0] if counts and counts[0]["count_interactions"] else None


def describe_data(source: Warehouse, counts: Row | None) -> Section:
    """Return counts of landed and rejected records, the composition of the interactions, and what has no score."""
    documents = blocks.read(source, "count_documents")
    records = source.rows(LIST_RECORD_COUNTS, ["int_records_counted"])
    test_set = describe_test_set(source)
    return blocks.section(
        *_describe_counts(source, counts, documents),
        *_describe_deletions(source),
        *_describe_records(source, records),
        _describe_composition(source, counts),
        _describe_representativeness(source),
        *test_set,
        *describe_grammar(source),
        *_describe_statuses(source),
        gaps=_find_gaps(source, records, documents, bool(test_set)),
    )


def _describe_counts(source: Warehouse, counts: Row | None, documents: Sequence[Row]) -> list[Block | None]:
    if counts is None:
        return [blocks.absent("This warehouse holds no interactions, so nothing has been evaluated.")]
    base, logged = "no documents in the logs", "no queries in the logs; query texts come from the interactions"
    if documents and documents[0]["count_documents"]:
        base = f"{documents[0]['count_documents']:,} documents, {documents[0]['count_chunks']:,} chunks"
    if documents and documents[0]["count_queries"]:
        logged = f"{documents[0]['count_queries']:,} queries"
    size = f"{counts['count_interactions']:,} from {counts['count_clusters']:,} clusters, {format_period(counts)}"
    return [
        blocks.facts([("Interactions", size), ("Knowledge base", base), ("Test set", logged)]),
        blocks.query(
            source,
            "describe_systems",
            "Interactions by system. A cluster is a group of sibling questions, for instance the variants of one query."
            " Statistics count clusters, not rows.",
            MAXIMUM_SYSTEMS,
            "systems",
        ),
    ]


def say_what_was_deleted(source: Warehouse) -> str:
    """Return of which weeks only sums are left, and how many single interactions were deleted; empty if none was."""
    rows = source.rows("select * from fct_deletions", ["fct_deletions"])
    pruned = [row for row in rows if row["command"] == "prune"]
    count_forgotten = sum(row["count_interactions"] for row in rows if row["command"] == "forget")
    parts = []
    if pruned:
        count = sum(row["count_interactions"] for row in pruned)
        parts.append(
            f"Weeks before {max(row['weeks_before'] for row in pruned)}: sums only, {count:,} interactions deleted."
        )
    if count_forgotten:
        parts.append(f"{count_forgotten:,} single interactions deleted.")
    return " ".join(parts)


def _describe_deletions(source: Warehouse) -> list[Block | None]:
    rows = blocks.read(source, "list_deletions")
    if not rows:
        return []
    told = say_what_was_deleted(source)
    weeks = max((row["weeks_before"] for row in rows if row["weeks_before"]), default=None)
    if weeks is not None:
        told += f" Weekly means go on with the sums. All else in this report speaks of interactions from {weeks} on."
    return [
        blocks.paragraph(told),
        blocks.fold(
            "Deletions on request",
            blocks.table(
                "The digest is the SHA-256 over the sorted SHA-256 of the interaction ids. It proves which ids were"
                " deleted, and names none.",
                {"ids_sha256": Column("Digest of the ids", lambda row: row["ids_sha256"], "code")},
                rows,
                MAXIMUM_DELETIONS,
                "deletions",
            ),
        ),
    ]


def _mask(text: str | None) -> str:
    """Return an excerpt of a rejected record with the personal data that rules find in it masked."""
    return clean_label(mask_text(text or "", is_tagged=False), EXCERPT_CHARACTERS)


def _describe_records(source: Warehouse, counts: Sequence[Row]) -> list[Block | None]:
    landed = [row for row in counts if row["count_landed"]]
    if landed and not any(row["count_rejected"] for row in landed):
        told = ", ".join(f"{row['count_landed']:,} {row['entity'].replace('_', ' ')}" for row in landed)
        return [blocks.paragraph(f"Landed: {told}. No record was rejected.")]
    rejects = blocks.read(source, "list_rejects", characters=EXCERPT_CHARACTERS + 1, maximum=MAXIMUM_EXAMPLES)
    return [
        blocks.table(
            "Landed = staged + repeated + rejected. Rejected records are kept with their reason and are not evaluated.",
            ("entity", "count_landed", "count_staged", "count_repeated", "count_rejected"),
            landed or counts,
        ),
        blocks.table(
            "Rejected records by reason, with examples. Personal data that rules find in them is masked.",
            {
                "reject_reason": Column("Reason", lambda row: _mask(row["reject_reason"]), ""),
                "examples": Column("Examples", lambda row: blocks.lines(*map(_show_reject, row["examples"])), "wide"),
            },
            rejects,
            MAXIMUM_REASONS,
            "reasons",
        ),
    ]


def _show_reject(example: Row) -> Any:
    place = f"{clean_label(example['file'])}, row {example['place']}:"
    return blocks.rich("{} {}", blocks.small(place), blocks.code(_mask(example["excerpt"])))


def _describe_composition(source: Warehouse, counts: Row | None) -> Block | None:
    total = counts["count_interactions"] if counts else 0
    rows = source.rows(DESCRIBE_COMPOSITION, ["fct_marginal_weaknesses"])
    return blocks.fold(
        "Composition of the interactions",
        blocks.table(
            f"Interactions by segment, the {MAXIMUM_SEGMENTS} largest of each dimension. Subjects without queries are"
            " not evaluated.",
            ("dimension", "segment", "count_interactions", "count_clusters", "share", "is_small=Few clusters"),
            [{**row, "share": ratio(row["count_interactions"], total)} for row in rows],
            len(rows),
        ),
        level=3,
    )


def _describe_representativeness(source: Warehouse) -> Block | None:
    dimensions = blocks.read(source, "list_representativeness")
    if not any(row["_status"] == "compared" for row in dimensions):
        return None
    return blocks.fold(
        "Test set compared with production",
        blocks.table(
            "Shares of the segments in the test set and in production, compared over whole clusters. A difference that"
            " is not significant does not prove equality. Untested segments occur in production and not in the test"
            " set.",
            {"comparison": Column("Comparison", _show_comparison, "")},
            dimensions,
        ),
        blocks.query(
            source,
            "list_deviations",
            "Segments that are untested or whose share differs; differences in percentage points.",
            MAXIMUM_UNTESTED,
            "segments",
            shown={"difference": Column("Difference", _show_deviation)},
        ),
        level=3,
    )


def _show_comparison(row: Row) -> Any:
    if row["_status"] != "compared":
        return WORDS["data"]["representativeness_statuses"].get(row["_status"], row["_status"])
    is_like = row["_is_representative"]
    return blocks.pill("passed", "no difference shown") if is_like else blocks.pill("undecided", "differs")


def _show_deviation(row: Row) -> Any:
    interval = format_difference_interval(row["difference_lower"], row["difference_upper"], "share")
    return blocks.with_interval(format_points(row["difference"]), interval)


def _describe_statuses(source: Warehouse) -> list[Block | None]:
    rows = source.rows(COUNT_STATUSES, ["fct_evaluations", "dim_metrics"])
    if not rows:
        return [blocks.absent("No evaluation row: without interactions there is nothing to score.")]
    languages = ", ".join(
        f"{row['answer_language'] or 'undecided'} {row['count_interactions']:,} ({row['language_source']})"
        for row in blocks.read(source, "count_languages")
    )
    present = [status for status in SCORE_STATUSES if any(row[status] for row in rows)]
    return [
        blocks.fold(
            "Interactions without a score",
            blocks.table(
                "Every metric has one row per interaction; its status says why there is no score. missing_input: the"
                " logs lack what the metric needs. unsupported_language: the encoder or the classifier does not read"
                " the language of the answer. refused: the answer is a refusal. not_applicable: the metric does not"
                f" apply. failed: the computation failed. Languages of the answers: {languages or 'none'}.",
                ("metric_name", "family", *(f"{status}={status}" for status in present), "requires=Needs"),
                rows,
                len(rows),
            ),
            level=3,
        )
    ]


def _find_gaps(
    source: Warehouse, records: Sequence[Row], documents: Sequence[Row], has_test_set: bool
) -> list[Gap | bool]:
    """Return what a warehouse lacks, without documents or a test set made from them as well."""
    rows = blocks.read(source, "list_representativeness")
    has_documents = bool(documents and documents[0]["count_documents"])
    return [
        not records
        and Gap(
            "Counts of landed and rejected records: this copy of the warehouse lacks int_records_counted.",
            "the full warehouse",
        ),
        not source.has("fct_representativeness")
        and Gap(
            "Representativeness: how the test set differs from the queries of users. This warehouse lacks"
            " the mart fct_representativeness.",
            "`dbt build` with the current version of hcat, over production logs and a test set",
        ),
        source.has("fct_representativeness")
        and all(row["_status"] != "compared" for row in rows)
        and Gap(
            "how the test set differs from what users ask",
            "production logs and a test set, each with enough clusters",
            "test_set",
        ),
        bool(documents and not has_test_set and not has_documents)
        and Gap("topics of the knowledge base, and a test set made from it", "documents or chunks", "documents"),
        has_documents
        and not has_test_set
        and Gap("queries for every topic of the documents, with sampling weights", "a job on request", "generated"),
    ]
