"""Weaknesses: findings with what labels say of them, the weakest segments, and causes of failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote as quote_url

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import blocks, charts
from hcat.report.blocks import Block, Column, Gap, Section
from hcat.report.causes import describe_causes
from hcat.report.ledger import Build
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    describe_segment,
    format_difference,
    format_difference_interval,
    format_number,
    format_percent,
    format_value,
    group_by,
    to_anchor,
)
from hcat.report.worst import describe_conversations
from hcat.statistics.intervals import wilson_interval

MARGINAL: Final = "fct_marginal_weaknesses"
BIVARIATE: Final = "fct_bivariate_weaknesses"
#: Dimensions with a segment that holds every interaction: such a segment is the whole, and its pairs repeat others.
LIST_CONSTANT_DIMENSIONS: Final = """
select distinct segments.dimension
from fct_marginal_weaknesses as segments
inner join fct_marginal_weaknesses as whole
    on segments.metric_name = whole.metric_name and whole.dimension = 'all'
where segments.dimension <> 'all' and segments.count_interactions = whole.count_interactions
"""
#: Cells in the figure of the weakest segments: at most, and at least where fewer are weak.
MAXIMUM_DIFFERENCES: Final = 20
MINIMUM_DIFFERENCES: Final = 8
#: Characters of an id that identify it.
IDENTIFIER_CHARACTERS: Final = 12
#: Rows of the register, those of them that are not folded away, examples of each, and characters of their texts.
MAXIMUM_FINDINGS: Final = 40
COUNT_UNFOLDED_FINDINGS: Final = 3
COUNT_FINDING_EXAMPLES: Final = 3
EXAMPLE_CHARACTERS: Final = 140
#: Findings of the report, one of each hole.
MAXIMUM_HOLES: Final = 10
#: Normal quantile of the intervals of labels of a cell (95 %).
LABEL_QUANTILE: Final = 1.96

#: Columns that the tests of weakness add to both marts.
TESTED: Final = tuple(
    f"{mart}.{column}"
    for mart in (MARGINAL, BIVARIATE)
    for column in (
        "test_status",
        "family",
        "measurement",
        "difference_lower",
        "q_value",
        "count_needed_to_flag",
        "is_dominated",
        "is_weak",
    )
)

TEST_STATUSES: Final = {
    "tested": "tested",
    "too_few_clusters": "not tested: too few clusters",
    "no_threshold": "not tested: no threshold has been decided",
    "no_scores": "not tested: no scores",
    "constant": "not tested: all scores are equal",
    "no_rest": "not tested: no other interactions to compare with",
    "not_in_family": "not tested: metric outside the declared family of tests",
}
MEASUREMENTS: Final = {
    "mean_score": "mean score",
    "share_failing": "share beyond the threshold",
    "share_failing_of_all": "share beyond the threshold, refusals counted",
}
RETESTS: Final = {
    "weak": "weak",
    "no_longer_weak": "no longer weak",
    "not_shown": "not shown weak; the weakness may persist",
    "not_retested": "not tested in this build",
}
CAUSES_UNKNOWN: Final = Gap(
    "whether retrieval or generation caused a failure", "source chunks of the queries", "relevance"
)
FINDING_STATES: Final = {
    "open": "failed",
    "in_progress": "undecided",
    "accepted": "not_evaluated",
    "closed_by_data": "passed",
}

# Both marts in one shape: a marginal cell has no second segment.
CELLS: Final = """
select
    marginal_weakness_id as weakness_id, metric_name, dimension as first_dimension, segment as first_segment,
    null::varchar as second_dimension, null::varchar as second_segment, count_scored, count_clusters,
    count_documents, largest_cluster_share, is_dominated, family, measurement, count_needed_to_flag,
    count_needed_to_confirm,
    value, rest_value, difference, difference_lower, difference_upper, q_value, margin,
    minimum_detectable_difference, severity, test_status, is_weak, count_failing, count_clusters_effective,
    shrunken_value
from fct_marginal_weaknesses
where dimension <> 'all'
union all
select
    bivariate_weakness_id as weakness_id, metric_name, first_dimension, first_segment,
    second_dimension, second_segment, count_scored, count_clusters, count_documents,
    largest_cluster_share, is_dominated, family, measurement, count_needed_to_flag, count_needed_to_confirm,
    value, rest_value, difference, difference_lower, difference_upper, q_value, margin,
    minimum_detectable_difference, severity, test_status, is_weak, count_failing, count_clusters_effective,
    shrunken_value
from fct_bivariate_weaknesses
"""

# A pair with a dimension of one segment repeats a marginal cell.
LIST_TESTED: Final = f"""
with constant as ({LIST_CONSTANT_DIMENSIONS}),

cells as ({CELLS})

select *
from cells
where
    test_status = 'tested' and difference is not null
    and (
        second_dimension is null
        or (first_dimension not in (from constant) and second_dimension not in (from constant))
    )
    and ($weakness_ids is null or list_contains($weakness_ids::varchar[], weakness_id))
order by
    is_weak desc nulls last,
    family <> 'headline',
    q_value nulls last,
    difference desc,
    metric_name,
    weakness_id
limit $maximum
"""

COUNT_TESTS: Final = f"""
with cells as ({CELLS})

select
    metric_name,
    any_value(measurement order by measurement) as measurement,
    count(*) as count_cells,
    count(*) filter (where test_status = 'tested') as count_tested,
    count(*) filter (where family = 'headline') as count_headline,
    count(*) filter (where test_status = 'too_few_clusters') as count_too_few,
    count(*) filter (where is_weak) as count_weak,
    median(minimum_detectable_difference) as median_detectable
from cells
where test_status <> 'not_in_family'
group by metric_name
order by metric_name
"""

# What a finding costs: the failures that its cell has beyond the rate of the rest, as a share of all failures of the
# metric. The lower bound of the difference gives what it costs at least, and findings are ranked by that.
LIST_FINDINGS: Final = """
with findings as ({findings}),

cells as (
    select marginal_weakness_id as cell_id, measurement, count_scored, count_interactions from fct_marginal_weaknesses
    union all
    select bivariate_weakness_id, measurement, count_scored, count_interactions from fct_bivariate_weaknesses
),

wholes as (
    select metric_name, measurement, value, count_scored, count_interactions
    from fct_marginal_weaknesses
    where dimension = 'all'
),

sizes as (
    select
        findings.finding_id,
        case
            when findings.measurement = 'share_failing' then cells.count_scored / (wholes.count_scored * wholes.value)
            when findings.measurement = 'share_failing_of_all'
                then cells.count_interactions / (wholes.count_interactions * wholes.value)
        end as failures_per_difference
    from findings
    inner join cells on findings.finding_id = cells.cell_id and findings.measurement = cells.measurement
    inner join wholes
        on findings.metric_name = wholes.metric_name and findings.measurement = wholes.measurement and wholes.value > 0
),

examples as (
    select
        examples.weakness_id,
        list(
            struct_pack(interaction_id := examples.interaction_id, query := interactions.query_text,
                answer := interactions.answer)
            order by examples.rank, examples.interaction_id
        ) as examples
    from fct_weakness_examples as examples
    inner join fct_interactions as interactions on examples.interaction_id = interactions.interaction_id
    where examples.rank <= $count_examples
    group by examples.weakness_id
)

select
    findings.*,
    greatest(findings.difference * sizes.failures_per_difference, 0) as share_explained,
    greatest(findings.difference_lower * sizes.failures_per_difference, 0) as share_explained_lower,
    examples.examples
from findings
left join sizes on findings.finding_id = sizes.finding_id
left join examples on findings.finding_id = examples.weakness_id
order by
    findings.status = 'closed_by_data',
    share_explained_lower desc nulls last,
    findings.kind <> 'confirmed',
    findings.last_seen_build_number desc,
    findings.metric_name,
    findings.finding_id
"""

# Without a register of findings, the weak cells of this build take its place: seen once, and never tested again.
WEAK_CELLS: Final = f"""
select
    weakness_id as finding_id, metric_name, measurement, first_dimension, first_segment, second_dimension,
    second_segment, difference, difference_lower, difference_upper, severity, count_needed_to_confirm,
    'waiting' as confirmation_status, 'suspected' as kind, 'open' as status,
    null::varchar as owner, null::varchar as note, null::double as new_difference,
    null::bigint as count_new_interactions, null::varchar as retest_result,
    built.started_at as first_seen_at, built.started_at as last_seen_at, built.build_number as last_seen_build_number
from ({CELLS})
left join (select started_at, build_number from dim_runs order by build_number desc limit 1) as built on true
where is_weak
"""

LIST_DECIDING: Final = "select metric_name from dim_metrics where is_deciding"

# Labelled answers of the candidate inside and outside of a cell; the verdict counts where raters decided it.
COUNT_LABELS_OF: Final = """
with labelled as (
    select interaction_id, verdict = 'failing' as is_failed
    from fct_verdicts
    where $metric_name = 'verdict' and decided_by in ('person', 'language_model')
    union all
    select interaction_id, human_label = 0
    from fct_evaluations
    where metric_name = $metric_name and human_label is not null
),

inside as (
    select interaction_id
    from int_interaction_segments
    where list_contains($cells::varchar[], dimension || '=' || segment)
    group by interaction_id
    having count(distinct dimension) = $count_cells
)

select
    labelled.interaction_id in (from inside) as is_inside,
    count(*) filter (where labelled.is_failed) as count_failed,
    count(*) as count_labels
from labelled
inner join fct_verdicts as verdicts on labelled.interaction_id = verdicts.interaction_id
where verdicts.is_in_release_population
group by is_inside
"""

LIST_EXAMPLES: Final = """
select weakness_id, rank, interaction_id, raw_score, is_failing
from fct_weakness_examples
where list_contains($weakness_ids::varchar[], weakness_id)
order by weakness_id, rank, interaction_id
"""


def describe_weaknesses(source: Warehouse, build: Build, claims: Mapping[str, Any]) -> Section:
    """Return the weakest segments, the tests, causes of failures and conversations."""
    ranked = source.rows(LIST_TESTED, TESTED, weakness_ids=None, maximum=MAXIMUM_DIFFERENCES)
    cells = [cell for number, cell in enumerate(ranked) if cell["is_weak"] or number < MINIMUM_DIFFERENCES]
    findings = claims["findings"]
    # the table also holds the cell of every finding that is shown, so that a finding leads to its cell
    drawn = {cell["weakness_id"] for cell in cells}
    known = [row["key"] for row in findings["rows"] if row["key"] not in drawn] if findings else []
    others = source.rows(LIST_TESTED, TESTED, weakness_ids=known, maximum=len(known)) if known else []
    keys = [cell["weakness_id"] for cell in (*cells, *others)]
    examples = group_by(source.rows(LIST_EXAMPLES, ["fct_weakness_examples"], weakness_ids=keys), "weakness_id")
    causes, has_causes = describe_causes(source)
    return blocks.section(
        blocks.heading("Weakest segments"),
        *_describe_differences(build, cells, others, examples),
        _count_tests(claims["tests"]),
        *causes,
        *describe_conversations(source),
        gaps=[
            *blocks.lacks_mart(source, MARGINAL, "Tests of weakness"),
            *([] if findings is not None else blocks.lacks_mart(source, "fct_findings", "The register of findings")),
            *blocks.lacks_mart(source, "fct_weakness_examples", "Worst interactions of the weakest segments"),
            *blocks.lacks_mart(
                source, "fct_failure_causes", "Cause (retrieval or generation) of every failing interaction"
            ),
            *([] if has_causes else [CAUSES_UNKNOWN]),
        ],
    )


def describe_claims(source: Warehouse) -> dict[str, Any]:
    """Return what the first page says of weaknesses: findings, cells to read, and counts of tests."""
    return {
        "findings": describe_findings(source),
        "tests": source.rows(COUNT_TESTS, TESTED),
    }


def describe_findings(source: Warehouse) -> dict[str, Any] | None:
    """Return the findings as the first page and the register show them; None in a warehouse without a register."""
    has_register = "fct_findings" not in source.switched_off
    if has_register and not source.has("fct_findings"):
        return None
    query = LIST_FINDINGS.format(findings="select * from fct_findings" if has_register else WEAK_CELLS)
    reads = [
        *(["fct_findings"] if has_register else []),
        *TESTED,
        "fct_weakness_examples",
        "fct_interactions",
        "dim_runs",
    ]
    rows = source.rows(query, reads, count_examples=COUNT_FINDING_EXAMPLES)
    not_closed = [row for row in rows if row["status"] != "closed_by_data"]
    return {
        "rows": [_show_finding(row) for row in rows[:MAXIMUM_FINDINGS]],
        "count_open": len(not_closed),
        "count_open_confirmed": sum(1 for row in not_closed if row["kind"] == "confirmed"),
        "count_left_out": max(0, len(rows) - MAXIMUM_FINDINGS),
    }


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
        "state": FINDING_STATES.get(row["status"], "not_evaluated"),
        "severity": row["severity"] or "–",
        "owner": clean_label(row["owner"]) if row["owner"] else "no owner",
        "note": clean_text(row["note"], EXCERPT_CHARACTERS),
        "difference": format_difference(row["difference"], measurement),
        "interval": format_difference_interval(row["difference_lower"], row["difference_upper"], measurement),
        "unit": "" if measurement == "mean_score" else " percentage points",
        "retest": RETESTS.get(row["retest_result"], row["retest_result"]),
        "first_seen": f"{row['first_seen_at']:%Y-%m-%d}",
        "last_seen": f"{row['last_seen_at']:%Y-%m-%d}",
    }


def _describe_cost(row: Row) -> str:
    """Return the share of all failures of the metric that the finding explains; empty where means are compared."""
    if row["share_explained"] is None:
        return ""
    lower = row["share_explained_lower"]
    bound = "" if lower is None else f" (at least {format_percent(lower)})"
    return f"{format_percent(row['share_explained'])} of all failures come from here{bound}"


def _describe_confirmation(row: Row) -> str:
    """Return what new clusters said, or how many interactions the finding waits for."""
    if row["confirmation_status"] not in ("confirmed", "not_confirmed"):
        needed = row["count_needed_to_confirm"]
        return f"Not yet confirmed: {needed:,} more answers are needed." if needed else ""
    words = str(row["confirmation_status"]).replace("_", " ")
    difference = format_difference(row["new_difference"], row["measurement"])
    return f"{words.capitalize()} on {row['count_new_interactions']:,} new answers: {difference}."


def list_findings(source: Warehouse, findings: Mapping[str, Any] | None) -> list[Row]:
    """Return open findings on metrics that may decide, one of each hole, with what the labels say of it.

    Cells that overlap are one hole: the first of them stands for the others, and names them.
    """
    may_decide = {row["metric_name"] for row in source.rows(LIST_DECIDING, ["dim_metrics.is_deciding"])}
    chosen: list[Row] = []
    for row in findings["rows"] if findings else ():
        if row["status"] not in ("open", "in progress") or row["metric_name"] not in may_decide:
            continue
        segments = _to_segments(row["segments"])
        hole = next((each for each in chosen if _crosses(segments, each["parts"])), None)
        if hole is None:
            chosen.append({**row, "parts": segments, "others": []})
        else:
            hole["others"].append(row["segment"])
    return [row | _ask_labels(source, row) for row in chosen]


def _to_segments(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return segment by dimension; a joint dimension `topic x query_type` is taken apart where its segment allows."""
    segments: dict[str, str] = {}
    for dimension, segment in pairs:
        names, values = dimension.split(" x "), segment.split(" x ")
        segments |= dict(zip(names, values, strict=True)) if len(names) == len(values) else {dimension: segment}
    return segments


def _crosses(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    shared = first.keys() & second.keys()
    return bool(shared) and all(first[name] == second[name] for name in shared)


def _ask_labels(source: Warehouse, row: Row) -> Row:
    """Return whether labels support a finding: its labelled answers fail more often than others, beyond chance."""
    cells = [f"{dimension}={segment}" for dimension, segment in row["parts"].items()]
    found = source.rows(
        COUNT_LABELS_OF,
        ["int_interaction_segments", "fct_verdicts.is_in_release_population", "fct_evaluations"],
        cells=cells,
        count_cells=len(cells),
        metric_name=row["metric_name"],
    )
    counts = {each["is_inside"]: (each["count_failed"], each["count_labels"]) for each in found}
    inside, outside = counts.get(True, (0, 0)), counts.get(False, (0, 0))
    said = f"{inside[0]} of {inside[1]} labelled answers fail, elsewhere {outside[0]} of {outside[1]}"
    if not inside[1] or not outside[1]:
        return {"state": "not_evaluated", "labels": "silent", "counts": said}
    rest = outside[0] / outside[1]
    low, high = wilson_interval(inside[0] / inside[1], inside[1], LABEL_QUANTILE)
    if low > rest:
        return {"state": "passed", "labels": "supported", "counts": said}
    if high < rest:
        return {"state": "failed", "labels": "contradicted", "counts": said}
    return {"state": "undecided", "labels": "silent", "counts": said}


def show_findings(rows: Sequence[Row], claims: Mapping[str, Any], explorer: str) -> list[Block | None]:
    """Return the findings with three answers each, or what no finding means."""
    findings = claims["findings"]
    count_open = findings["count_open"] if findings else 0
    count_told = len(rows) + sum(len(row["others"]) for row in rows)
    count_silent = max(0, count_open - count_told)
    more = f"{count_silent} more weak cells rest on scores that are shown, not admitted." if count_silent else ""
    if not rows:
        has_tests = any(row["count_tested"] for row in claims["tests"])
        told = "No tested segment is shown to be weak" if has_tests else "No segment could be tested"
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
                    "Worse by", lambda row: blocks.with_interval(f"{row['difference']}{row['unit']}", row["interval"])
                ),
                Column(
                    "Labels", lambda row: blocks.lines(blocks.pill(row["state"], row["labels"]), row["counts"]), "wide"
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
        f"Overlaps with: {'; '.join(others)}" if others else "",
    )
    return blocks.lines(
        blocks.rich("<b>{}</b>", row["segment"]), _name_finding(row, explorer), *(blocks.small(one) for one in small)
    )


def _name_finding(row: Row, explorer: str) -> Any:
    inside = blocks.link(f"{explorer}#/findings/{quote_url(row['finding_id'])}", "in the explorer") if explorer else ""
    return blocks.spaced([blocks.code(blocks.link(row["cell"], row["finding_id"])), blocks.small(inside)], " ")


def _show_example(example: Row) -> Any:
    asked = blocks.code(blocks.link(example["answer_anchor"], example["interaction_id"]))
    return blocks.rich("{} {} <b>→</b> {}", asked, example["query"], example["answer"])


def describe_size(row: Row) -> str:
    """Return the number of clusters of a cell, and of the documents that they share."""
    clusters, documents = f"{row['count_clusters']:,} clusters", row["count_documents"]
    return clusters if documents is None else f"{clusters}, documents: {documents:,}"


def _describe_differences(
    build: Build,
    cells: Sequence[Row],
    others: Sequence[Row],
    examples: Mapping[str, Sequence[Row]],
) -> list[Block | None]:
    """Return the picture of the differences in shares to the rest, and a table with those in scores as well."""
    if not cells:
        return [
            blocks.absent(
                "No cell could be tested: too few clusters, no threshold, or no scores. The table below counts the"
                " reasons."
            )
        ]
    shares = [cell for cell in cells if cell["measurement"] != "mean_score"]
    shown = [
        _draw_differences(build, shares) if shares else None,
        blocks.fold("Table behind the figure", _list_differences([*cells, *others], examples)),
    ]
    if any(cell["is_weak"] for cell in cells):
        return shown
    return [
        blocks.paragraph(
            "No tested cell is weak. The table counts what was tested and what the tests could have found."
        ),
        blocks.fold("Segments with the largest differences", *shown),
    ]


def _draw_differences(build: Build, cells: Sequence[Row]) -> Block:
    unit = "share beyond the threshold, percentage points"
    drawn = [
        charts.Difference(
            *_name_cell(cell),
            cell["difference"],
            cell["difference_lower"],
            cell["difference_upper"],
            bool(cell["is_weak"]),
            f"n {cell['count_scored']:,}, {cell['count_clusters']:,} clusters: {say_standing(cell)}",
        )
        for cell in cells
    ]
    label = f"Weakest segments by {unit}: difference to all other interactions with interval; see the table"
    svg = charts.draw_differences(
        drawn, f"difference to all other interactions: {unit}", ("better", "worse"), True, label
    )
    caption = (
        f"Difference between the segment and all other interactions ({unit}), with {build.level} intervals over whole"
        " clusters; values to the right of the line are worse, whether high or low scores are better. Diamonds: weak."
        " Circles: not shown to be weak. n is the number of scored interactions."
    )
    return blocks.picture(svg, caption)


def say_standing(cell: Row) -> str:
    """Return what the test says of a cell."""
    return "weak" if cell["is_weak"] else "not shown to be weak"


def _name_cell(cell: Row) -> tuple[str, str]:
    """Return the two lines that name a cell in the figure: its segment, and its second segment with the metric."""
    measured = cell["metric_name"] + (", refusals counted" if cell["measurement"] == "share_failing_of_all" else "")
    if cell["second_dimension"] is None:
        return describe_segment(cell), measured
    first = {"dimension": cell["first_dimension"], "segment": cell["first_segment"]}
    second = {"dimension": cell["second_dimension"], "segment": cell["second_segment"]}
    return describe_segment(first), f"and {describe_segment(second)}: {measured}"


def _list_differences(cells: Sequence[Row], examples: Mapping[str, Sequence[Row]]) -> Block | None:
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
            "count_documents",
            Column("Value", lambda row: format_value(row["value"], row["measurement"])),
            Column("Rest", lambda row: format_value(row["rest_value"], row["measurement"])),
            Column("Difference", show_difference),
            "q_value=q",
            "family=Tests",
            Column("Result", say_standing, ""),
            "severity",
            Column(
                "Detectable", lambda row: format_difference(row["minimum_detectable_difference"], row["measurement"])
            ),
            "count_needed_to_flag",
            "count_needed_to_confirm",
            Column("Worst answers", lambda row: _show_answers(examples.get(row["weakness_id"], ())), "wide"),
        ),
        cells,
        len(cells),
        words={"measurement": MEASUREMENTS},
        anchor=lambda row: _anchor("cell", row),
    )


def _anchor(kind: str, cell: Row) -> str:
    return to_anchor(kind, cell["weakness_id"][:IDENTIFIER_CHARACTERS])


def _name_segment(cell: Row) -> Any:
    dominated = f"‡ largest cluster {format_percent(cell['largest_cluster_share'])}" if cell["is_dominated"] else ""
    back = blocks.small(blocks.link(_anchor("finding", cell), "finding"))
    return blocks.lines(describe_segment(cell), back, blocks.small(dominated))


def show_difference(row: Row) -> Any:
    """Return the difference of a row with its interval, in the unit of its measurement."""
    measurement = row["measurement"]
    return blocks.with_interval(
        format_difference(row["difference"], measurement),
        format_difference_interval(row["difference_lower"], row["difference_upper"], measurement),
    )


def _show_answers(examples: Sequence[Row]) -> Any:
    return blocks.spaced(
        blocks.rich("{} {}", blocks.code(clean_label(each["interaction_id"])), format_number(each["raw_score"]))
        for each in examples
    )


def _count_tests(tests: Sequence[Row]) -> Block | None:
    return blocks.fold(
        "How many cells were tested, and what the tests could find",
        blocks.table(
            "Number of cells tested, by metric. Median detectable difference: in half of the cells, the test could only"
            " find a difference larger than this.",
            (
                "metric_name",
                "measurement",
                "count_cells",
                "count_tested",
                "count_headline=In the headline",
                "count_too_few=Too few clusters",
                "count_weak",
                Column(
                    "Median detectable difference",
                    lambda row: format_difference(row["median_detectable"], row["measurement"]),
                ),
            ),
            tests,
            len(tests),
            words={"measurement": MEASUREMENTS},
        ),
    )
