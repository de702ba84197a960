"""Query groups: robustness of answers to the wording, the faulty module, and precision and recall of the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import charts
from hcat.report.showing import QUERY_CHARACTERS, Gap, as_markup, format_interval, format_number, format_percent

#: Rows of each table; the number left out is shown below it.
MAXIMUM_SIDES = 24
MAXIMUM_DIFFERENCES = 20
MAXIMUM_GROUPS = 12
MAXIMUM_VARIANTS = 40
MAXIMUM_RELIABILITIES = 40

SCOPES = {
    "all": "all answers",
    "language_model_errors_removed": "without language-model errors",
    "language_model_errors_counted_right": "language-model errors counted as right",
}
GAP_RULES = {"own_side": "", "every_side": "; gap only if wrong on all sides"}
RATE_STATUSES = {
    "groups_of_one": "one answer per group: robustness is not defined",
    "estimated": "",
    "too_few_groups": "too few groups for an interval",
    "no_answerable_group": "every group is a gap, or no group is decided",
}
DIFFERENCE_STATUSES = {
    "groups_of_one": "one answer per group: robustness is not defined",
    "compared": "",
    "unequal_group_sizes": "group sizes differ, so they are not compared",
    "too_few_groups": "too few groups for a test",
    "no_answerable_group": "one side has no group with a right answer",
}
VARIANT_STATUSES = {
    "estimated": "",
    "too_few_clusters": "too few original queries for an interval",
    "no_pairs": "no decided pair",
}
RELIABILITY_STATUSES = {
    "estimated": "",
    "too_few_groups": "too few groups for an interval",
    "nothing_accepted": "no answer is accepted",
    "nothing_correct": "no answer is right",
    "no_verdicts": "no verdict: the threshold decision is void, or no answer is decided",
}
MODULES = {
    "retrieval": "retrieval",
    "language_model": "language model",
    "both": "both equally",
    "unknown": "unknown: the logs hold no context",
}

COUNT_CORRECTNESS = """
select
    system,
    count(*) as count_answers,
    count(*) filter (where correctness_status = 'correct') as count_correct,
    count(*) filter (where correctness_status = 'incorrect') as count_incorrect,
    count(*) filter (where correctness_status = 'undecided') as count_undecided,
    count(*) filter (where correctness_source = 'label') as count_label,
    count(*) filter (where correctness_source = 'rule') as count_rule,
    count(*) filter (where correctness_source not in ('label', 'rule')) as count_other,
    count(*) filter (where is_disputed) as count_disputed
from fct_answer_correctness
group by system
order by system
"""

COUNT_TYPES = """
select
    hypothesis,
    side,
    system,
    count(*) filter (where group_type = 'robust') as robust,
    count(*) filter (where faulty_module = 'retrieval') as retrieval,
    count(*) filter (where faulty_module = 'language_model') as language_model,
    count(*) filter (where faulty_module in ('both', 'unknown')) as other,
    count(*) filter (where group_type = 'gap') as gap,
    count(*) filter (where group_type is null) as undecided
from fct_robustness_groups
group by hypothesis, side, system
-- a group of one query has no meaningful type
having max(count_queries) > 1
order by hypothesis <> 'all', hypothesis, system, side
"""

LIST_RATES = """
select *
from fct_robustness_rates
-- gaps of the own side come first, except where groups have one answer there
qualify row_number() over (
    partition by system, hypothesis, side, scope order by status = 'groups_of_one', gap_rule desc
) = 1
order by hypothesis <> 'all', hypothesis, system, side, list_position($scopes, scope)
"""

LIST_DIFFERENCES = """
select *
from fct_robustness_differences
where scope <> 'language_model_errors_removed'
qualify row_number() over (
    partition by system, hypothesis, first_side, second_side, scope, measure
    order by status = 'groups_of_one', gap_rule desc
) = 1
order by p_value nulls last, hypothesis, system, first_side, second_side, measure desc, scope
"""

LIST_GROUPS = """
select *
from fct_robustness_groups
where hypothesis = 'all' and group_type = 'non_robust'
order by share_correct, count_answers desc, system, query_group
"""

LIST_VARIANTS = """
select *
from fct_robustness_variants
where metric_name = 'answer_correctness' or (flip_status <> 'no_pairs' and count_broken + count_mended > 0)
order by system, metric_name <> 'answer_correctness', variant_meaning <> 'kept', variant_type, metric_name
"""

LIST_RELIABILITIES = """
select
    system,
    metric_name,
    max(count_without_verdict) as count_without_verdict,
    max(count_undecided) as count_undecided,
    {columns}
from fct_metric_reliability
where status <> 'no_threshold' and measure in ('precision', 'recall')
group by system, metric_name
order by system, metric_name
"""

LIST_UNDECIDED_METRICS = """
select distinct metric_name
from fct_metric_reliability
where status = 'no_threshold'
order by metric_name
"""


def describe_query_groups(source: Warehouse) -> dict[str, Any]:
    """Return group types, robustness, variants and reliability as far as their marts exist."""
    gaps = []
    if not source.has("fct_robustness_groups", "fct_answer_correctness"):
        gaps.append(
            Gap(
                "Robustness to paraphrased, misspelled or otherwise changed queries: this warehouse lacks"
                " fct_robustness_groups or fct_answer_correctness.",
                "`dbt build` with the current version of hcat",
            )
        )
    correctness = source.rows(COUNT_CORRECTNESS, ["fct_answer_correctness"])
    types = source.rows(COUNT_TYPES, ["fct_robustness_groups"])
    if not gaps and not types:
        gaps.append(
            Gap(
                "whether an answer depends on the wording of the query",
                "logs that ask for one fact in several wordings (query_group, or variants with parent_query_id) and"
                " hold its reference answer",
                "wordings",
            )
        )
    rates = _with_contexts(source.rows(LIST_RATES, ["fct_robustness_rates"], scopes=list(SCOPES)))
    differences = _with_contexts(source.rows(LIST_DIFFERENCES, ["fct_robustness_differences"]))
    groups = source.rows(LIST_GROUPS, ["fct_robustness_groups"])
    variants = source.rows(LIST_VARIANTS, ["fct_robustness_variants"])
    reliabilities = source.rows(_reliability_query(), ["fct_metric_reliability"])
    undecided_metrics = source.rows(LIST_UNDECIDED_METRICS, ["fct_metric_reliability"])
    shown = types[:MAXIMUM_SIDES]
    return {
        "gaps": gaps,
        "correctness": [{**row, "system": clean_label(row["system"])} for row in correctness],
        "picture": _draw(shown) if any(_count_typed(row) for row in shown) else None,
        "count_sides_left_out": max(0, len(types) - MAXIMUM_SIDES),
        "count_undecided_groups": sum(row["undecided"] for row in types if row["hypothesis"] == "all"),
        "count_groups": sum(_count_typed(row) + row["undecided"] for row in types if row["hypothesis"] == "all"),
        "rates": [_show_rate(row) for row in rates[: MAXIMUM_SIDES * len(SCOPES)]],
        "count_rates_left_out": max(0, len(rates) - MAXIMUM_SIDES * len(SCOPES)),
        "differences": [_show_difference(row) for row in differences[:MAXIMUM_DIFFERENCES]],
        "count_differences_left_out": max(0, len(differences) - MAXIMUM_DIFFERENCES),
        "groups": [_show_group(row) for row in groups[:MAXIMUM_GROUPS]],
        "count_groups_left_out": max(0, len(groups) - MAXIMUM_GROUPS),
        "variants": [_show_variant(row) for row in variants[:MAXIMUM_VARIANTS]],
        "count_variants_left_out": max(0, len(variants) - MAXIMUM_VARIANTS),
        "reliabilities": [_show_reliability(row) for row in reliabilities[:MAXIMUM_RELIABILITIES]],
        "metrics_without_threshold": [row["metric_name"] for row in undecided_metrics],
        "count_reliabilities_left_out": max(0, len(reliabilities) - MAXIMUM_RELIABILITIES),
    }


def _with_contexts(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with a meaningful scope: groups of one answer have no contexts to compare."""
    return [row for row in rows if row["gap_rule"] == "own_side" or row["scope"] == "all"]


def _reliability_query() -> str:
    """Return the query that puts precision and recall of a metric into one row."""
    columns = [
        f"max({column}) filter (where measure = '{measure}') as {measure}_{column}"
        for measure in ("precision", "recall")
        for column in ("status", "measured_value", "value_lower", "value_upper", "chance_value", "count_answers")
    ]
    return LIST_RELIABILITIES.format(columns=",\n    ".join(columns))


def _count_typed(row: Row) -> int:
    return int(row["robust"] + row["retrieval"] + row["language_model"] + row["other"] + row["gap"])


def _name(row: Row) -> str:
    if row["hypothesis"] == "all":
        return clean_label(row["system"])
    return f"{clean_label(row['system'])}: {clean_label(row['hypothesis'])} = {clean_label(row['side'])}"


def _draw(rows: Sequence[Row]) -> Any:
    bars = [
        charts.GroupBar(
            _name(row),
            {
                "robust": row["robust"],
                "not robust: retrieval": row["retrieval"],
                "not robust: language model": row["language_model"],
                "not robust: both or unknown": row["other"],
                "gap": row["gap"],
            },
            f"{_count_typed(row):,} groups" + (f", {row['undecided']:,} undecided" if row["undecided"] else ""),
        )
        for row in rows
    ]
    return as_markup(
        charts.draw_group_types(bars, "Types of query groups by system and side of the hypothesis; see the table")
    )


def _shares(row: Row, name: str) -> str:
    return (
        format_interval(row[f"{name}_lower"], row[f"{name}_upper"], "share") if row[f"{name}_lower"] is not None else ""
    )


def _show_rate(row: Row) -> Row:
    sizes = (row["smallest_group"], row["largest_group"])
    return {
        "name": _name(row),
        "is_whole": row["hypothesis"] == "all" and row["scope"] == "all",
        "scope": SCOPES[row["scope"]] + GAP_RULES[row["gap_rule"]],
        "reason": RATE_STATUSES.get(row["status"], row["status"]),
        "counts": f"{row['count_robust_groups']:,} / {row['count_non_robust_groups']:,} / {row['count_gap_groups']:,}",
        "sizes": "–" if sizes[0] is None else f"{sizes[0]}" if sizes[0] == sizes[1] else f"{sizes[0]} to {sizes[1]}",
        "count_answers": row["count_answers"],
        "gap_share": format_percent(row["gap_share"]),
        "robustness": format_percent(row["robustness"]),
        "robustness_interval": _shares(row, "robustness"),
        "chance": format_percent(row["chance_robustness"]),
        "accuracy": format_percent(row["accuracy"]),
        "accuracy_interval": _shares(row, "accuracy"),
    }


def _show_difference(row: Row) -> Row:
    def points(value: float | None) -> str:
        return "–" if value is None else f"{value * 100:+.1f}".replace("-", "\u2212")

    interval = (
        ""
        if row["difference_lower"] is None
        else (f"[{points(row['difference_lower'])}, {points(row['difference_upper'])}]")
    )
    return {
        "name": f"{clean_label(row['system'])}: {clean_label(row['hypothesis'])}",
        "sides": f"{clean_label(row['first_side'])} – {clean_label(row['second_side'])}",
        "measure": row["measure"],
        "scope": SCOPES[row["scope"]] + GAP_RULES[row["gap_rule"]],
        "first": format_percent(row["first_value"]),
        "second": format_percent(row["second_value"]),
        "difference": points(row["difference"]),
        "interval": interval,
        "chance": points(row["chance_difference"]),
        "p_value": format_number(row["p_value"]),
        "size": "as logged" if row["group_size"] is None else f"{row['group_size']} each",
        "reason": DIFFERENCE_STATUSES.get(row["status"], row["status"]),
    }


def _show_group(row: Row) -> Row:
    return {
        "system": clean_label(row["system"]),
        "query": clean_text(row["example_query"], QUERY_CHARACTERS) or clean_label(row["query_group"]),
        "right": f"{row['count_correct']:,} of {row['count_answers']:,}",
        "module": MODULES.get(row["faulty_module"], row["faulty_module"]),
        "errors": f"{row['count_retrieval_errors']:,} / {row['count_language_model_errors']:,}",
    }


def _show_variant(row: Row) -> Row:
    return {
        "system": clean_label(row["system"]),
        "variant_type": clean_label(row["variant_type"]),
        "meaning": row["variant_meaning"].replace("_", " "),
        "metric_name": row["metric_name"],
        "reason": VARIANT_STATUSES.get(row["flip_status"], row["flip_status"]),
        "count_pairs": f"{row['count_decided_pairs']:,} of {row['count_pairs']:,}",
        "broken": f"{row['count_broken']:,} / {row['count_mended']:,}",
        "flipped": format_percent(row["share_flipped"]),
        "flipped_interval": _shares(row, "share_flipped"),
        "change": format_number(row["mean_change"]),
        "change_interval": ""
        if row["mean_change_lower"] is None
        else format_interval(row["mean_change_lower"], row["mean_change_upper"]),
    }


def _show_reliability(row: Row) -> Row:
    shown: Row = {
        "system": clean_label(row["system"]),
        "metric_name": row["metric_name"],
        "count_undecided": row["count_undecided"],
        "count_without_verdict": row["count_without_verdict"],
    }
    for measure in ("precision", "recall"):
        lower, upper = row[f"{measure}_value_lower"], row[f"{measure}_value_upper"]
        status = row[f"{measure}_status"]
        shown[measure] = {
            "value": format_percent(row[f"{measure}_measured_value"]),
            "interval": "" if lower is None else format_interval(lower, upper, "share"),
            "chance": format_percent(row[f"{measure}_chance_value"]),
            "count": row[f"{measure}_count_answers"],
            "reason": RELIABILITY_STATUSES.get(status, status),
        }
    return shown
