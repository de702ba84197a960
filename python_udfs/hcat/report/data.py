"""Data and sampling: systems, records landed and rejected, the test set and how it differs from production."""

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
)
from hcat.report.test_set import describe_grammar, describe_test_set
from hcat.report.words import WORDS

#: Examples of each reason.
MAXIMUM_EXAMPLES: Final = 3
LIST_RECORD_COUNTS: Final = "select * from int_records_counted order by entity"


def read_counts(source: Warehouse) -> Row | None:
    """Return the counts of the evaluated interactions; None where there are none."""
    counts = blocks.read(source, "count_records_evaluated")
    return counts[0] if counts and counts[0]["count_interactions"] else None


def describe_data(source: Warehouse, counts: Row | None) -> Section:
    """Return systems, counts of landed and rejected records, and the test set beside production."""
    documents = blocks.read(source, "count_documents")
    records = source.rows(LIST_RECORD_COUNTS, ["int_records_counted"])
    test_set = describe_test_set(source)
    return blocks.section(
        *_describe_counts(source, counts, documents),
        _describe_deletions(source),
        *_describe_records(source, records),
        _describe_representativeness(source),
        *test_set,
        *describe_grammar(source),
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
    languages = ", ".join(
        f"{row['answer_language'] or 'undecided'} {row['count_interactions']:,} ({row['language_source']})"
        for row in blocks.read(source, "count_languages")
    )
    return [
        blocks.facts(
            [("Interactions", size), ("Languages", languages), ("Knowledge base", base), ("Test set", logged)]
        ),
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


def _describe_deletions(source: Warehouse) -> Block | None:
    told = say_what_was_deleted(source)
    if not told:
        return None
    weeks = source.rows("select max(weeks_before) as last from fct_deletions", ["fct_deletions"])[0]["last"]
    if weeks is not None:
        told += f" Weekly means go on with the sums. All else in this report speaks of interactions from {weeks} on."
    return blocks.paragraph(f"{told} fct_deletions has the proof.")


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
            noun="reasons",
        ),
    ]


def _show_reject(example: Row) -> Any:
    place = f"{clean_label(example['file'])}, row {example['place']}:"
    return blocks.rich("{} {}", blocks.small(place), blocks.code(_mask(example["excerpt"])))


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
            noun="segments",
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
        blocks.lacks_mart(source, "fct_representativeness", "How the test set differs from the queries of users"),
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
