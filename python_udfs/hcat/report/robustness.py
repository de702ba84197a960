"""Robustness: comparison of versions, variation between answers to one query, and groups of queries."""

from typing import Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import blocks
from hcat.report.blocks import Block, Gap, Section
from hcat.report.ledger import Build
from hcat.report.showing import format_difference, format_difference_interval, format_value
from hcat.report.words import WORDS


def describe_robustness(source: Warehouse, build: Build) -> Section:
    """Return what comparisons of versions can show, replicates and query groups as far as their marts exist."""
    pairs = describe_headlines(source)
    replicated = blocks.query(
        source,
        "list_variation",
        "Standard deviation of the scores between queries and within a query. Flip rate: probability that two"
        f" answers to one query disagree on passing. Intervals are at {build.level}.",
        words={"status": WORDS["robustness"]["replicate_statuses"]},
    )
    groups, gap_of_groups = describe_query_groups(source, build)
    one_version = not pairs and Gap(
        "whether a newer version is better or worse",
        "logs in which two versions of an application answer the same queries",
        "versions",
    )
    unrepeated = not replicated and Gap(
        "whether the same query gets the same answer",
        "logs in which one system answers the same query several times",
        "samples",
    )
    return blocks.section(
        *(
            blocks.paragraph(blocks.rich("<strong>{application}, {baseline} → {candidate}:</strong> {caveats}", **pair))
            for pair in pairs
            if pair["caveats"]
        ),
        blocks.fold("Variation between answers to the same query", replicated, level=3),
        *groups,
        gaps=[
            blocks.lacks_mart(source, "fct_version_comparisons", "Comparison of versions", one_version),
            blocks.lacks_mart(source, "fct_replicate_variation", "Variation between answers", unrepeated),
            gap_of_groups,
        ],
        is_empty=not (pairs or replicated or groups),
    )


#: Days below which a day may be what differs.
FEW_DAYS: Final = 10


def describe_headlines(source: Warehouse) -> list[Row]:
    """Return the pairs of versions with the comparison that says whether the newer one is better."""
    return [
        {
            "application": clean_label(pair["application"]),
            "baseline": clean_label(pair["baseline_version"]),
            "candidate": clean_label(pair["candidate_version"]),
            "headline": _find_headline(pair) if pair["family"] == "headline" else None,
            "caveats": _list_caveats(pair),
        }
        for pair in blocks.read(source, "list_pairs")[:3]
    ]


def _list_caveats(row: Row) -> str:
    """Return what a comparison of versions cannot tell."""
    found = []
    if row["day_standard_error"] is None and (row["count_days"] or FEW_DAYS) < FEW_DAYS:
        found.append(
            f"A version answered on few days ({row['count_days']}), and few of its queries on several: a difference of"
            " days cannot be told from one of versions."
        )
    if row["is_shared_easier"]:
        found.append(
            "The shared queries are easier than those that only the newer version was asked, of which"
            f" {format_value(row['others_value'], row['measurement'])} fail: nothing is known about these."
        )
    return " ".join(found)


def _find_headline(row: Row) -> Row:
    """Return the answer to the two questions of a release: is it better, and is a loss excluded."""
    measurement = row["measurement"]
    target = _name_difference(row["target_difference"], measurement)
    needed = ""
    if row["queries_needed"] is not None:
        needed = f"To see a difference of {target} you need {row['queries_needed']:,} queries"
    if needed and row["replicates_needed"] is not None:
        needed += f", or {row['replicates_needed']:,} answers of each version to each of these {row['count_pairs']:,}"
    tolerated = _name_difference(row["tolerated_loss"], measurement)
    return row | {
        "difference": format_difference(row["difference"], measurement),
        "interval": format_difference_interval(row["difference_lower"], row["difference_upper"], measurement),
        "words": WORDS["robustness"]["verdicts"][row["verdict"]][1],
        "reason": WORDS["robustness"]["comparison_statuses"].get(row["status"], row["status"]),
        "release": WORDS["robustness"]["release_answers"][row["release_answer"]].format(tolerated=tolerated),
        "needed": needed and f"{needed}.",
        "unit": "" if measurement == "mean_score" else " percentage points",
    }


def _name_difference(difference: float, measurement: str) -> str:
    return f"{difference:g}" if measurement == "mean_score" else f"{100 * difference:g} percentage points"


SCOPES: Final = WORDS["query_groups"]["scopes"]


def describe_query_groups(source: Warehouse, build: Build) -> tuple[list[Block], Gap | bool]:
    """Return true correctness and robustness as far as their marts exist, and what is missing."""
    missing = source.lacks("fct_robustness_groups", "fct_answer_correctness")
    if missing:
        return [], blocks.lacks_mart(source, missing[0], "Robustness to paraphrased or otherwise changed queries")
    rates = blocks.query(
        source,
        "query_groups_list_rates",
        "Robustness R is the share of right answers outside of gap groups. Accuracy is R (1 − λ), where λ is the share"
        f" of answers in gap groups. The {build.level} intervals resample whole groups. R is higher for small groups.",
        words={"scope": SCOPES, "status": WORDS["query_groups"]["rate_statuses"]},
        scopes=list(SCOPES),
    )
    correctness = blocks.query(
        source,
        "count_correctness",
        "True correctness of the answers. Labels take precedence over rules, and rules over the comparison of facts"
        " with the reference answer. Answers that none of them can decide stay undecided and enter no rate below.",
    )
    explained = (
        "A group is a set of queries that ask for the same fact. It is robust when every answer is right, and not"
        " robust when only some are right. It is a gap when every answer is wrong; the documents may then lack the"
        " knowledge. In a group that is not robust, a wrong answer is a fault of the language model when its"
        " context held a document that was enough for a right answer. Otherwise it is a fault of retrieval."
    )
    shown = blocks.keep((correctness, *((blocks.paragraph(explained), rates) if rates else ())))
    if shown:
        shown.insert(0, blocks.heading("Query groups and true correctness"))
    # a group of one query has no meaningful type
    groups = source.rows(
        "select 1 from fct_robustness_groups where count_queries > 1 limit 1", ["fct_robustness_groups"]
    )
    return shown, not groups and Gap(
        "whether an answer depends on the wording of the query",
        "logs that ask for one fact in several wordings (query_group, or variants with parent_query_id) and hold its"
        " reference answer",
        "wordings",
    )
