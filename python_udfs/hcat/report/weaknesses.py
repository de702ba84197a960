"""Weaknesses: findings with what labels say of them, the weakest segments, and causes of failures."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote as quote_url

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Gap, Section
from hcat.report.decision import describe_conversations
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    MAXIMUM_SYSTEMS,
    describe_segment,
    format_difference,
    format_difference_interval,
    format_number,
    format_percent,
    format_value,
    to_anchor,
)
from hcat.report.words import QUERIES, WORDS

#: Cells in the table of the weakest segments: at most, and at least where fewer are weak.
MAXIMUM_DIFFERENCES: Final = 20
MINIMUM_DIFFERENCES: Final = 8
#: Characters of an id that identify it.
IDENTIFIER_CHARACTERS: Final = 12
#: Rows of the register, and characters of the texts of their examples.
MAXIMUM_FINDINGS: Final = 40
EXAMPLE_CHARACTERS: Final = 140
#: Findings of the report, one of each hole.
MAXIMUM_HOLES: Final = 10
#: Other findings of a hole that are named; the explorer lists all.
MAXIMUM_OVERLAPS: Final = 3
#: What labels say of a finding -> the colour of its pill.
LABEL_STATES: Final = {"supported": "passed", "contradicted": "failed", "silent": "not_evaluated"}

#: What the tests of weakness are read from.
TESTED: Final = ("fct_marginal_weaknesses", "fct_bivariate_weaknesses")
#: Below it a weak cell says how many documents it is about.
FEW_DOCUMENTS: Final = 10
TEST_STATUSES: Final = WORDS["weaknesses"]["test_statuses"]
MEASUREMENTS: Final = WORDS["weaknesses"]["measurements"]
RETESTS: Final = WORDS["weaknesses"]["retests"]

CELLS: Final = QUERIES["cells"]

# A pair with a dimension of one segment repeats a marginal cell.
LIST_TESTED: Final = f"""
with constant as ({QUERIES["list_constant_dimensions"]}),

cells as ({CELLS}),

ranked as (
    select *, row_number() over (
        order by is_weak desc nulls last, family <> 'headline', q_value nulls last, difference desc, metric_name,
            weakness_id
    ) as place
    from cells
    where
        test_status = 'tested' and difference is not null
        and (
            second_dimension is null
            or (first_dimension not in (from constant) and second_dimension not in (from constant))
        )
)

select *
from ranked
where place <= if(is_weak, $maximum, $minimum) or list_contains($keys::varchar[], weakness_id)
order by place
"""

COUNT_TESTS: Final = f"""
with cells as ({CELLS})

select
    count(*) filter (where test_status = 'tested') as count_tested,
    list(concat_ws(' and ', first_segment, second_segment) || ' (' || metric_name || ')' order by q_value)
    filter (where is_weak) as _weak,
    metric_name in (select metric_name from dim_metrics where is_deciding) as _is_deciding
from cells
where test_status <> 'not_in_family'
group by metric_name
order by metric_name
"""


def describe_weaknesses(source: Warehouse, claims: Mapping[str, Any]) -> Section:
    """Return the weakest segments, causes of failures and conversations."""
    # the table also holds the cell of every finding that is shown, so that a finding leads to its cell
    shown = {
        "maximum": MAXIMUM_DIFFERENCES,
        "minimum": MINIMUM_DIFFERENCES,
        "keys": [row["key"] for row in claims["findings"] or ()],
    }
    cells = source.rows(LIST_TESTED, TESTED, **shown)
    causes = blocks.query(
        source,
        "count_retrieval_causes",
        "If a source chunk was retrieved, generation failed; otherwise retrieval failed.",
        MAXIMUM_SYSTEMS,
        "systems",
    )
    is_unknown = not causes and bool(source.rows("select 1 from fct_failure_causes limit 1", ["fct_failure_causes"]))
    return blocks.section(
        blocks.heading("Weakest segments"),
        _list_differences(cells),
        blocks.heading("Causes of failures") if causes else None,
        causes,
        *describe_conversations(source),
        gaps=[
            blocks.lacks_mart(source, TESTED[0], "Tests of weakness"),
            blocks.lacks_mart(source, "fct_findings", "The register of findings"),
            blocks.lacks_mart(
                source, "fct_failure_causes", "Cause (retrieval or generation) of every failing interaction"
            ),
            is_unknown
            and Gap("whether retrieval or generation caused a failure", "source chunks of the queries", "relevance"),
        ],
    )


def describe_claims(source: Warehouse) -> dict[str, Any]:
    """Return counts of tests, and the findings as the first page shows them; None without a register of findings."""
    tests = source.rows(COUNT_TESTS, [*TESTED, "dim_metrics.is_deciding"])
    if not source.has("fct_findings"):
        return {"findings": None, "tests": tests}
    rows = blocks.read(source, "list_findings")
    return {"findings": [_show_finding(row) for row in rows[:MAXIMUM_FINDINGS]], "tests": tests}


def _show_finding(row: Row) -> Row:
    measurement = row["measurement"]
    return {
        "key": row["finding_id"],
        "anchor": to_anchor("finding", row["finding_id"][:IDENTIFIER_CHARACTERS]),
        "cell": to_anchor("cell", row["finding_id"][:IDENTIFIER_CHARACTERS]),
        "finding_id": clean_label(row["finding_id"])[:IDENTIFIER_CHARACTERS],
        "kind": row["kind"],
        "confirmation": _describe_confirmation(row),
        "segment": describe_segment(row),
        "segments": [
            (row[f"{place}_dimension"], row[f"{place}_segment"])
            for place in ("first", "second")
            if row[f"{place}_dimension"] is not None
        ],
        "cost": _describe_cost(row),
        "weight": _describe_weight(row),
        "leading": row["leading_finding_id"],
        "page_rank": row["page_rank"],
        "labels": row["labels_say"] or "silent",
        "labels_state": LABEL_STATES[row["labels_say"] or "silent"],
        "counts": _describe_labels(row),
        "examples": [
            {
                "answer_anchor": to_anchor("answer", example["interaction_id"]),
                "interaction_id": clean_label(example["interaction_id"]),
                "query": clean_text(example["query"], EXAMPLE_CHARACTERS),
                "answer": clean_text(example["answer"], EXAMPLE_CHARACTERS),
            }
            for example in row["examples"] or ()
        ],
        "metric_name": row["metric_name"],
        "measurement": MEASUREMENTS.get(measurement, measurement),
        "status": str(row["status"]).replace("_", " "),
        "severity": row["severity"] or "–",
        "owner": clean_label(row["owner"]) if row["owner"] else "no owner",
        "note": clean_text(row["note"], EXCERPT_CHARACTERS),
        "difference": format_difference(row["difference"], measurement),
        "interval": format_difference_interval(row["difference_lower"], row["difference_upper"], measurement),
        "unit": "" if measurement == "mean_score" else " percentage points",
        "retest": RETESTS.get(row["retest_result"], row["retest_result"]),
    }


def _describe_weight(row: Row) -> str:
    """Return the severity of a finding, and the answers a week that fail there and would not fail elsewhere."""
    if row["severity"] is None or row["failed_answers_a_week"] is None:
        return row["severity"] or ""
    count = format_number(row["failed_answers_a_week"])
    asked = WORDS["weaknesses"]["asked"][row["failed_answers_basis"]]
    return f"{row['severity']}: {count} more failed answers a week ({asked})"


def _describe_cost(row: Row) -> str:
    """Return the share of all failures of the metric that the finding explains; empty where means are compared."""
    if row["share_explained"] is None:
        return ""
    lower = row["share_explained_lower"]
    bound = "" if lower is None else f" (at least {format_percent(lower)})"
    share = format_percent(row["share_explained"])
    metric = clean_label(row["metric_name"])
    return f"{share} of all failures by {metric} would go if these answers failed as rarely as others{bound}"


def _describe_confirmation(row: Row) -> str:
    """Return what new clusters said, or how many interactions the finding waits for."""
    if row["confirmation_status"] not in ("confirmed", "not_confirmed"):
        needed = row["count_needed_to_confirm"]
        return f"Not yet confirmed: {needed:,} more answers are needed." if needed else ""
    words = str(row["confirmation_status"]).replace("_", " ")
    difference = format_difference(row["new_difference"], row["measurement"])
    difference += "" if row["measurement"] == "mean_score" else " percentage points"
    is_same = row["confirmed_on"] == "same_documents"
    about = f" about the same {row['count_second_clusters']} documents" if is_same else ""
    return f"{words.capitalize()} on {row['count_new_interactions']:,} new answers{about}: {difference}."


def _describe_labels(row: Row) -> str:
    """Return how many labelled answers fail in the cell and elsewhere, and who rated them."""
    faults = f"; most faults: {row['common_fault']}" if row["common_fault"] else ""
    if not row["labels_say"]:
        return f"no labels{faults}"
    inside, outside = (
        f"{row[f'count_failed_labels_{side}']} of {row[f'count_labels_{side}']}" for side in ("inside", "outside")
    )
    raters = {"person": "people", "language_model": "a language model", "rule": "a rule", "mixed": "several kinds"}
    by = raters.get(row["labels_by"], "unknown raters")
    return f"{inside} labelled answers fail, elsewhere {outside}; rated by {by}{faults}"


def list_findings(rows: Sequence[Row]) -> list[Row]:
    """Return the open findings that lead a hole, in the order of the mart, each with the others of its hole."""
    others: dict[str, list[str]] = {}
    for row in rows:
        if row["leading"] != row["key"]:
            others.setdefault(row["leading"], []).append(f"{row['segment']} ({row['metric_name']})")
    return [row | {"others": others.get(row["key"], [])} for row in rows if row["page_rank"] is not None]


def show_findings(rows: Sequence[Row], claims: Mapping[str, Any], explorer: str) -> list[Block | None]:
    """Return the findings with three answers each, or what no finding means."""
    silent = [clean_label(name) for row in claims["tests"] if not row["_is_deciding"] for name in row["_weak"] or ()]
    more = f"Weak by scores that may not decide: {len(silent)}, first {', '.join(silent[:3])}." if silent else ""
    if not rows:
        has_tests = any(row["count_tested"] for row in claims["tests"])
        told = "No tested segment is shown to be weak" if has_tests else "No segment could be tested"
        if claims["findings"] is None:
            told = "The module findings is off, and keeps no register: no segment is called weak here"
        return [
            blocks.paragraph(
                f"{told} by a score that may decide. That proves no strength: read the answers above. {more}".strip()
            )
        ]
    return [
        blocks.table(
            "Segments whose answers fail more often than the others, one row for each hole. Labels support a finding"
            " where its labelled answers fail more often than others, beyond chance.",
            (
                Column("Where", lambda row: _name_hole(row, explorer), "wide"),
                Column(
                    "Worse by",
                    lambda row: blocks.lines(
                        blocks.with_interval(f"{row['difference']}{row['unit']}", row["interval"]),
                        blocks.small(row["weight"]),
                    ),
                    "wide",
                ),
                Column(
                    "Labels",
                    lambda row: blocks.lines(blocks.pill(row["labels_state"], row["labels"]), row["counts"]),
                    "wide",
                ),
                Column("Three answers", lambda row: blocks.lines(*map(_show_example, row["examples"])), "wide"),
            ),
            rows,
            MAXIMUM_HOLES,
            "findings",
            anchor=lambda row: row["anchor"],
        ),
        blocks.paragraph(more, "note") if more else None,
    ]


def _name_hole(row: Row, explorer: str) -> Any:
    others = [other for other in dict.fromkeys(row["others"]) if other != row["segment"]]
    small = (
        f"found by {row['metric_name']}; {row['kind']}. {row['confirmation']}".strip(),
        row["cost"],
        row["dealt"],
        row["note"],
        f"Overlapping findings: {len(others)}, first: {'; '.join(others[:MAXIMUM_OVERLAPS])}" if others else "",
    )
    inside = blocks.link(f"{explorer}#/findings/{quote_url(row['finding_id'])}", "in the explorer") if explorer else ""
    named = blocks.rich("{} {}", blocks.code(blocks.link(row["cell"], row["finding_id"])), blocks.small(inside))
    return blocks.lines(blocks.rich("<b>{}</b>", row["segment"]), named, *map(blocks.small, small))


def _show_example(example: Row) -> Any:
    asked = blocks.code(blocks.link(example["answer_anchor"], example["interaction_id"]))
    return blocks.rich("{} {} <b>→</b> {}", asked, example["query"], example["answer"])


def say_standing(cell: Row) -> str:
    """Return what the test says of a cell."""
    count = cell["count_second_clusters"]
    few = f", about {count} documents" if count and count < FEW_DOCUMENTS else ""
    return f"weak{few}" if cell["is_weak"] else "not shown to be weak"


def _list_differences(cells: Sequence[Row]) -> Block:
    """Return the differences of cells to the rest."""
    return blocks.table(
        "Headline: q bounds the chance of any false flag among the cells declared in advance; other: q controls the"
        " false discovery rate (docs/weakness.md). Detectable: the smallest true difference that the test would find in"
        " four of five cases. ‡ marks cells where one cluster holds more than a fifth of the interactions.",
        (
            Column("Segment", _name_segment, ""),
            "metric_name",
            "measurement",
            "count_scored=n",
            "count_clusters",
            "count_second_clusters",
            Column("Value", lambda row: format_value(row["value"], row["measurement"])),
            Column("Rest", lambda row: format_value(row["rest_value"], row["measurement"])),
            Column("Difference", show_difference),
            "q_value=q",
            "family=Tests",
            Column("Result", say_standing, ""),
            Column(
                "Detectable", lambda row: format_difference(row["minimum_detectable_difference"], row["measurement"])
            ),
            "count_needed_to_flag",
            "count_needed_to_confirm",
        ),
        cells,
        len(cells),
        words={"measurement": MEASUREMENTS},
        anchor=lambda row: to_anchor("cell", row["weakness_id"][:IDENTIFIER_CHARACTERS]),
    ) or blocks.absent(
        "No cell could be tested: too few clusters, no threshold, or no scores. The limits count the reasons."
    )


def _name_segment(cell: Row) -> Any:
    dominated = f"‡ largest cluster {format_percent(cell['largest_cluster_share'])}" if cell["is_dominated"] else ""
    back = blocks.link(to_anchor("finding", cell["weakness_id"][:IDENTIFIER_CHARACTERS]), "finding")
    return blocks.lines(describe_segment(cell), blocks.small(back), blocks.small(dominated))


def show_difference(row: Row) -> Any:
    """Return the difference of a row with its interval, in the unit of its measurement."""
    measurement = row["measurement"]
    return blocks.with_interval(
        format_difference(row["difference"], measurement),
        format_difference_interval(row["difference_lower"], row["difference_upper"], measurement),
    )
