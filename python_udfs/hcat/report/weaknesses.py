"""Weaknesses: the register of findings, the weakest segments with their worst interactions, and causes of failures."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import charts
from hcat.report.ledger import Build
from hcat.report.maps import LIST_CONSTANT_DIMENSIONS, describe_maps
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    MAXIMUM_SYSTEMS,
    Gap,
    as_markup,
    describe_cell,
    describe_segment,
    distinct_labels,
    format_difference,
    format_difference_interval,
    format_number,
    format_percent,
    format_value,
    group_by,
    to_anchor,
)
from hcat.report.worst import describe_worst

#: Cells in the figure of the weakest segments: at most, and at least where fewer are weak.
MAXIMUM_DIFFERENCES = 20
MINIMUM_DIFFERENCES = 8
#: Characters of an id that identify it.
IDENTIFIER_CHARACTERS = 12
#: Rows of the register, of the causes, and of the ranking without tests.
MAXIMUM_FINDINGS = 40
#: Findings that are not folded away, examples of each, and characters of their texts.
COUNT_UNFOLDED_FINDINGS = 3
COUNT_FINDING_EXAMPLES = 3
EXAMPLE_CHARACTERS = 140
MAXIMUM_CAUSES = 60
#: Cells to which an answer leads back.
MAXIMUM_CELLS_OF_AN_ANSWER = 5
MAXIMUM_WEAK_SEGMENTS = 15
MAXIMUM_CELLS_TO_READ = 10
#: Effective clusters that a cell to read first has.
MINIMUM_CLUSTERS_TO_READ = 4

MARGINAL = "fct_marginal_weaknesses"
BIVARIATE = "fct_bivariate_weaknesses"
#: Columns that the tests of weakness add to both marts.
TESTED = tuple(
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

TEST_STATUSES = {
    "tested": "tested",
    "too_few_clusters": "not tested: too few clusters",
    "no_threshold": "not tested: no threshold has been decided",
    "no_scores": "not tested: no scores",
    "constant": "not tested: all scores are equal",
    "no_rest": "not tested: no other interactions to compare with",
    "not_in_family": "not tested: metric outside the declared family of tests",
}
MEASUREMENTS = {
    "mean_score": "mean score",
    "share_failing": "share failing",
    "share_failing_of_all": "share failing, refusals counted",
}
RETESTS = {
    "weak": "weak",
    "no_longer_weak": "no longer weak",
    "not_shown": "not shown weak; the weakness may persist",
    "not_retested": "not tested in this build",
}
CAUSES_UNKNOWN = Gap("whether retrieval or generation caused a failure", "source chunks of the queries", "relevance")
FINDING_STATES = {"open": "failed", "in_progress": "undecided", "accepted": "not_evaluated", "closed_by_data": "passed"}

# Both marts in one shape: a marginal cell has no second segment.
CELLS = """
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
LIST_TESTED = f"""
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

COUNT_TESTS = f"""
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

# A metric is no finding in a segment that its own value defines: an empty answer is not answered, and recall is low
# where the source was not retrieved.
RANK_SEGMENTS = """
select weaknesses.*, whole.share_failing as share_failing_whole
from fct_marginal_weaknesses as weaknesses
inner join fct_marginal_weaknesses as whole
    on weaknesses.metric_name = whole.metric_name and whole.dimension = 'all'
inner join dim_metrics as metrics on weaknesses.metric_name = metrics.metric_name
where
    weaknesses.dimension <> 'all'
    and not weaknesses.is_small
    and weaknesses.share_failing_lower > whole.share_failing
    and not (weaknesses.metric_name = 'answered' and weaknesses.dimension = 'answer_length')
    and not (metrics.family = 'retrieval' and weaknesses.dimension = 'retrieval_hit')
order by
    weaknesses.share_failing_lower - whole.share_failing desc,
    weaknesses.metric_name,
    weaknesses.dimension,
    weaknesses.segment
"""

# What a finding costs: the failures that its cell has beyond the rate of the rest, as a share of all failures of the
# metric. The lower bound of the difference gives what it costs at least, and findings are ranked by that.
LIST_FINDINGS = """
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
WEAK_CELLS = f"""
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

# Shrunken differences of cells of the headline metric with some scored clusters: a cell of two rows must not come first
# by luck.
LIST_CELLS_TO_READ = f"""
with cells as (
    select *, (shrunken_value - rest_value) * case when value > rest_value then 1 else -1 end as shrunken
    from ({CELLS})
    where
        metric_name in (select metric_name from fct_verdicts)
        and difference > 0
        and count_clusters_effective >= {MINIMUM_CLUSTERS_TO_READ}
),

ranked as (
    select * from cells
    order by shrunken desc, difference desc, weakness_id
    limit {MAXIMUM_CELLS_TO_READ}
)

select *
from ranked
where
    first_dimension not in ({LIST_CONSTANT_DIMENSIONS})
    and coalesce(second_dimension, '') not in ({LIST_CONSTANT_DIMENSIONS})
order by shrunken desc, difference desc, weakness_id
"""

LIST_EXAMPLES = """
select weakness_id, rank, interaction_id, raw_score, is_failing
from fct_weakness_examples
where list_contains($weakness_ids::varchar[], weakness_id)
order by weakness_id, rank, interaction_id
"""

COUNT_FAILURE_CAUSES = """
select
    metric_name,
    count(*) as count_failing,
    count(*) filter (where fault = 'retrieval') as count_retrieval,
    count(*) filter (where fault = 'generation') as count_generation,
    count(*) filter (where fault = 'undetermined') as count_undetermined
from fct_failure_causes
group by metric_name
order by count_failing desc, metric_name
"""

COUNT_RETRIEVAL_CAUSES = """
select
    system,
    count(distinct interaction_id) as count_interactions,
    count(distinct interaction_id) filter (where failure_cause = 'retrieval') as count_retrieval,
    count(distinct interaction_id) filter (where failure_cause = 'generation') as count_generation
from fct_retrieval_quality
group by system
order by count_interactions desc, system
"""


def describe_weaknesses(source: Warehouse, build: Build, metric_name: str | None) -> dict[str, Any]:
    """Return findings, maps, weakest segments, worst interactions and causes of failures."""
    ranked = source.rows(LIST_TESTED, TESTED, weakness_ids=None, maximum=MAXIMUM_DIFFERENCES)
    cells = [cell for number, cell in enumerate(ranked) if cell["is_weak"] or number < MINIMUM_DIFFERENCES]
    tests = source.rows(COUNT_TESTS, TESTED)
    findings = _describe_findings(source)
    # the table also holds the cell of every finding that is shown, so that a finding leads to its cell
    drawn = {cell["weakness_id"] for cell in cells}
    known = [row["key"] for row in findings["rows"] if row["key"] not in drawn] if findings else []
    others = source.rows(LIST_TESTED, TESTED, weakness_ids=known, maximum=len(known)) if known else []
    worst, causes = describe_worst(source), _describe_causes(source)
    examples = _describe_examples(source, [*cells, *others], {row["key"] for row in worst["rows"]})
    for row in worst["rows"]:
        row["cells"] = [
            {"anchor": example["anchor"], "segment": example["segment"]}
            for example in examples
            if any(one["answer"] == row["anchor"] for one in example["interactions"])
        ][:MAXIMUM_CELLS_OF_AN_ANSWER]
    return {
        "findings": findings,
        "to_read": _describe_cells_to_read(source),
        "maps": describe_maps(source, build, metric_name),
        "is_tested": source.has(*TESTED),
        "differences": _describe_differences(cells, others),
        "tests": [
            {
                **row,
                "measurement": MEASUREMENTS.get(row["measurement"], row["measurement"] or "–"),
                "median_detectable": format_difference(row["median_detectable"], row["measurement"]),
            }
            for row in tests
        ],
        "segments": [] if source.has(*TESTED) else rank_segments(source),
        "examples": examples,
        "causes": causes,
        "worst": worst,
        "gaps": _find_gaps(source)
        + ([] if causes["is_known"] or causes["systems"] or not causes["metrics"] else [CAUSES_UNKNOWN]),
    }


def describe_claims(source: Warehouse) -> dict[str, Any]:
    """Return what the first page says of weaknesses, without pictures: findings, cells to read, and counts of tests."""
    return {
        "findings": _describe_findings(source),
        "to_read": _describe_cells_to_read(source),
        "tests": source.rows(COUNT_TESTS, TESTED),
    }


def rank_segments(source: Warehouse) -> list[Row]:
    """Return segments whose interval lies above the failure rate of all interactions, largest distance first."""
    rows = source.rows(RANK_SEGMENTS, [MARGINAL, "dim_metrics"])
    return [
        {
            **describe_cell(row),
            "metric_name": row["metric_name"],
            "dimension": row["dimension"],
            "segment": clean_label(row["segment"]),
            "whole": format_percent(row["share_failing_whole"]),
        }
        for row in rows[:MAXIMUM_WEAK_SEGMENTS]
    ]


def _find_gaps(source: Warehouse) -> list[Gap]:
    gaps = []
    if not source.has(*TESTED):
        gaps.append(
            Gap(
                "Tests of weakness and their confirmation: the weakness marts of this warehouse lack these columns.",
                "`dbt build` with the current version of hcat",
            )
        )
    for mart, what in (
        ("fct_findings", "The register of findings"),
        ("fct_weakness_examples", "Worst interactions of the weakest segments"),
        ("fct_failure_causes", "Cause (retrieval or generation) of every failing interaction"),
    ):
        if not source.has(mart):
            gaps.append(
                Gap(f"{what}: this warehouse lacks the mart {mart}.", "`dbt build` with the current version of hcat")
            )
    return gaps


def _describe_findings(source: Warehouse) -> dict[str, Any] | None:
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
        "count_unfolded": COUNT_UNFOLDED_FINDINGS,
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
    bound = "" if lower is None else f", at least {format_percent(lower)}"
    return f"explains {format_percent(row['share_explained'])} of the failures{bound}"


def _describe_confirmation(row: Row) -> str:
    """Return what new clusters said, or how many interactions the finding waits for."""
    if row["confirmation_status"] not in ("confirmed", "not_confirmed"):
        needed = row["count_needed_to_confirm"]
        return f"needs {needed:,} new interactions to be confirmed" if needed else ""
    words = str(row["confirmation_status"]).replace("_", " ")
    difference = format_difference(row["new_difference"], row["measurement"])
    return f"{words} on {row['count_new_interactions']:,} new interactions: {difference}"


def _describe_cells_to_read(source: Warehouse) -> list[Row]:
    """Return the cells to read first, without any claim about them."""
    return [
        {
            "segment": describe_segment(row),
            "metric_name": row["metric_name"],
            "size": describe_size(row),
            "outcome": _describe_outcome(row),
            "rest": format_value(row["rest_value"], row["measurement"]),
            "is_weak": row["is_weak"],
        }
        for row in source.rows(LIST_CELLS_TO_READ, [*TESTED, "fct_verdicts"])
    ]


def _describe_outcome(row: Row) -> str:
    if row["measurement"] == "mean_score":
        return f"mean {format_value(row['value'], row['measurement'])}"
    if row["count_failing"] is None:
        return "no scores"
    return f"{row['count_failing']:,} of {row['count_scored']:,} failed"


def describe_size(row: Row) -> str:
    """Return the number of clusters of a cell, and of the documents that they share."""
    clusters, documents = f"{row['count_clusters']:,} clusters", row["count_documents"]
    return clusters if documents is None else f"{clusters}, documents: {documents:,}"


def _describe_differences(cells: Sequence[Row], others: Sequence[Row]) -> dict[str, Any]:
    """Return one figure per unit (shares, scores) of the differences to the rest, and one table for both."""
    pictures = []
    for is_share in (True, False):
        chosen = [cell for cell in cells if (cell["measurement"] != "mean_score") is is_share]
        if not chosen:
            continue
        words = "share failing, percentage points" if is_share else "mean score, in the unit of the metric"
        picture = charts.draw_differences(
            [
                charts.Difference(
                    *_name_cell(cell),
                    cell["difference"],
                    cell["difference_lower"],
                    cell["difference_upper"],
                    bool(cell["is_weak"]),
                    _describe_standing(cell),
                )
                for cell in chosen
            ],
            f"difference to all other interactions: {words}",
            ("better", "worse"),
            is_share,
            f"Weakest segments by {words}: difference to all other interactions with interval; see the table",
        )
        pictures.append({"chart": as_markup(picture), "is_share": is_share})
    return {
        "pictures": pictures,
        "has_weak": any(cell["is_weak"] for cell in cells),
        "rows": [
            {
                "anchor": to_anchor("cell", cell["weakness_id"][:IDENTIFIER_CHARACTERS]),
                "finding": to_anchor("finding", cell["weakness_id"][:IDENTIFIER_CHARACTERS]),
                "examples": to_anchor("examples", cell["weakness_id"][:IDENTIFIER_CHARACTERS]),
                "segment": describe_segment(cell),
                "metric_name": cell["metric_name"],
                "measurement": MEASUREMENTS[cell["measurement"]],
                "count_scored": cell["count_scored"],
                "size": describe_size(cell),
                "dominated": format_percent(cell["largest_cluster_share"]) if cell["is_dominated"] else "",
                "family": cell["family"],
                "needed_to_flag": _format_count(cell["count_needed_to_flag"]),
                "needed_to_confirm": _format_count(cell["count_needed_to_confirm"]),
                "value": format_value(cell["value"], cell["measurement"]),
                "rest": format_value(cell["rest_value"], cell["measurement"]),
                "difference": format_difference(cell["difference"], cell["measurement"]),
                "interval": format_difference_interval(
                    cell["difference_lower"], cell["difference_upper"], cell["measurement"]
                ),
                "q_value": format_number(cell["q_value"]),
                "severity": cell["severity"] or "–",
                "standing": _describe_standing(cell, with_counts=False),
                "detectable": format_difference(cell["minimum_detectable_difference"], cell["measurement"]),
            }
            for cell in (*cells, *others)
        ],
    }


def _name_cell(cell: Row) -> tuple[str, str]:
    """Return the two lines that name a cell in the figure: its segment, and its second segment with the metric."""
    measured = cell["metric_name"] + (", refusals counted" if cell["measurement"] == "share_failing_of_all" else "")
    if cell["second_dimension"] is None:
        return describe_segment(cell), measured
    first = {"dimension": cell["first_dimension"], "segment": cell["first_segment"]}
    second = {"dimension": cell["second_dimension"], "segment": cell["second_segment"]}
    return describe_segment(first), f"and {describe_segment(second)}: {measured}"


def _describe_standing(cell: Row, with_counts: bool = True) -> str:
    words = "weak" if cell["is_weak"] else "not shown to be weak"
    return f"n {cell['count_scored']:,}, {cell['count_clusters']:,} clusters: {words}" if with_counts else words


def _format_count(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def _describe_examples(source: Warehouse, cells: Sequence[Row], shown: Set[str]) -> list[Row]:
    """Return the ids and scores of the worst interactions of the cells of the table, weak ones first."""
    keys = [cell["weakness_id"] for cell in cells]
    found = group_by(source.rows(LIST_EXAMPLES, ["fct_weakness_examples"], weakness_ids=keys), "weakness_id")
    return [
        {
            "anchor": to_anchor("examples", cell["weakness_id"][:IDENTIFIER_CHARACTERS]),
            "cell": to_anchor("cell", cell["weakness_id"][:IDENTIFIER_CHARACTERS]),
            "segment": describe_segment(cell),
            "metric_name": cell["metric_name"],
            "standing": _describe_standing(cell, with_counts=False),
            "interactions": [
                {
                    "answer": to_anchor("answer", row["interaction_id"]) if row["interaction_id"] in shown else "",
                    "interaction_id": clean_label(row["interaction_id"]),
                    "score": format_number(row["raw_score"]),
                    "is_failing": row["is_failing"],
                }
                for row in found[cell["weakness_id"]]
            ],
        }
        for cell in cells
        if cell["weakness_id"] in found
    ]


def _describe_causes(source: Warehouse) -> dict[str, Any]:
    systems = source.rows(COUNT_RETRIEVAL_CAUSES, ["fct_retrieval_quality"])[:MAXIMUM_SYSTEMS]
    labels = distinct_labels([row["system"] for row in systems])
    metrics = source.rows(COUNT_FAILURE_CAUSES, ["fct_failure_causes"])
    return {
        "metrics": metrics[:MAXIMUM_CAUSES],
        # without source chunks, every cause is undetermined
        "is_known": any(row["count_retrieval"] or row["count_generation"] for row in metrics),
        "systems": [{**row, "system": labels[row["system"]]} for row in systems],
    }
