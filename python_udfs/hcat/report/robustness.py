"""Robustness: comparison of versions, and variation between answers to one query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import charts
from hcat.report.showing import (
    QUERY_CHARACTERS,
    Gap,
    as_markup,
    format_difference,
    format_difference_interval,
    format_interval,
    format_number,
    format_percent,
    format_value,
)
from hcat.report.weaknesses import MEASUREMENTS

#: Pairs of versions drawn, and segments and regressions listed for each; the number left out is shown below them.
MAXIMUM_PAIRS = 3
MAXIMUM_SEGMENTS = 15
MAXIMUM_REGRESSIONS = 10
MAXIMUM_VARIATIONS = 40

VERDICTS = {
    "better": ("passed", "better"),
    "worse": ("failed", "worse"),
    "lower_by_design": ("undecided", "lower, as designed"),
    "no_difference_shown": ("undecided", "no significant difference"),
    "not_evaluated": ("not_evaluated", "not evaluated"),
}
COMPARISON_STATUSES = {
    "tested": "",
    "no_change": "no cluster changed its value",
    "not_in_family": "no rule in metric_rules: shown, not tested",
    "too_few_clusters": "too few clusters",
    "no_scores": "no scores",
    "no_threshold": "no threshold has been decided",
    "no_pairs": "no query was asked of both versions",
}

RELEASE_ANSWERS = {
    "loss_excluded": "A loss of more than {tolerated} is excluded.",
    "loss_not_excluded": "A loss of more than {tolerated} is not excluded.",
    "loss_shown": "A loss of more than {tolerated} is shown.",
    "not_evaluated": "",
}

LIST_PAIRS = """
select
    application,
    baseline_version,
    candidate_version,
    bool_or(is_latest) as is_latest,
    max(count_pairs) as count_pairs,
    sum(count_segments_without_rule)::bigint as count_without_rule,
    sum(count_segments_too_few_clusters)::bigint as count_too_few_clusters,
    sum(count_segments_without_scores)::bigint as count_without_scores
from fct_version_comparisons
group by application, baseline_version, candidate_version
order by is_latest desc, application, baseline_version, candidate_version
"""

# One row per metric: the measurement that is tested, else the share failing, else the mean.
LIST_COMPARISONS = """
select *
from fct_version_comparisons
where
    application = $application
    and baseline_version = $baseline_version
    and candidate_version = $candidate_version
    and dimension = 'all'
qualify row_number() over (
    partition by metric_name
    order by
        q_value is null,
        difference is null,
        list_position(['share_failing_of_all', 'share_failing', 'mean_score'], measurement)
) = 1
order by family = 'headline' desc nulls last, q_value nulls last, metric_name
"""

LIST_CHANGED_SEGMENTS = """
select *
from fct_version_comparisons
where
    application = $application
    and baseline_version = $baseline_version
    and candidate_version = $candidate_version
    and dimension <> 'all'
    and verdict in ('better', 'worse', 'lower_by_design')
order by verdict desc, q_value, metric_name, dimension, segment
"""

LIST_REGRESSIONS = """
select query_key, metric_name, left(query_text, $characters) as query_text, baseline_score, candidate_score,
    candidate_interaction_ids
from fct_version_regressions
where application = $application and baseline_version = $baseline_version and candidate_version = $candidate_version
qualify row_number() over (partition by cluster_id order by metric_name, query_key) = 1
order by baseline_score - candidate_score desc nulls last, metric_name, query_key
"""


LIST_VARIATION = """
select *
from fct_replicate_variation
where dimension = 'all'
order by system, flip_rate desc nulls last, metric_name
"""

REPLICATE_STATUSES = {
    "measured": "",
    "too_few_clusters": "too few clusters: not reliable",
    "no_replicates": "no query has two answers",
}


def describe_robustness(source: Warehouse) -> dict[str, Any]:
    """Return version comparisons and replicates as far as their marts exist."""
    pairs = source.rows(LIST_PAIRS, ["fct_version_comparisons"])
    gaps = []
    if not source.has("fct_version_comparisons"):
        gaps.append(
            Gap(
                "Comparison of versions: this warehouse lacks the mart fct_version_comparisons.",
                "`dbt build` with the current version of hcat",
            )
        )
    elif not pairs:
        gaps.append(
            Gap(
                "whether a newer version is better or worse",
                "logs in which two versions of an application answer the same queries",
                "versions",
            )
        )
    variation = source.rows(LIST_VARIATION, ["fct_replicate_variation"])
    replicated = [row for row in variation if row["status"] != "no_replicates"]
    if not replicated:
        gaps.append(
            Gap(
                "whether the same query gets the same answer",
                "logs in which one system answers the same query several times"
                + ("" if source.has("fct_replicate_variation") else ", and the mart fct_replicate_variation"),
                "samples" if source.has("fct_replicate_variation") else "",
            )
        )
    return {
        "pairs": [_describe_pair(source, pair) for pair in pairs[:MAXIMUM_PAIRS]],
        "count_pairs_left_out": max(0, len(pairs) - MAXIMUM_PAIRS),
        "variation": [_show_variation(row) for row in replicated[:MAXIMUM_VARIATIONS]],
        "count_variation_left_out": max(0, len(replicated) - MAXIMUM_VARIATIONS),
        "gaps": gaps,
    }


def _show_variation(row: Row) -> Row:
    return {
        "system": clean_label(row["system"]),
        "metric_name": row["metric_name"],
        "reason": REPLICATE_STATUSES.get(row["status"], row["status"]),
        "count_replicated_queries": row["count_replicated_queries"],
        "count_replicated_clusters": row["count_replicated_clusters"],
        "within": format_number(None if row["variance_within"] is None else math.sqrt(row["variance_within"])),
        "between": format_number(None if row["variance_between"] is None else math.sqrt(row["variance_between"])),
        "share_within": format_percent(row["share_of_variance_within"]),
        "flip_rate": format_percent(row["flip_rate"]),
        "flipping": format_percent(row["share_queries_flipping"]),
        "flipping_interval": ""
        if row["share_queries_flipping"] is None
        else format_interval(row["share_queries_flipping_lower"], row["share_queries_flipping_upper"], "share"),
    }


def describe_headlines(source: Warehouse) -> list[Row]:
    """Return the pairs of versions with the comparison that says whether the newer one is better; without pictures."""
    headlines = []
    for pair in source.rows(LIST_PAIRS, ["fct_version_comparisons"])[:MAXIMUM_PAIRS]:
        key = {name: pair[name] for name in ("application", "baseline_version", "candidate_version")}
        rows = source.rows(LIST_COMPARISONS, ["fct_version_comparisons"], **key)
        headlines.append(
            {
                "baseline": clean_label(pair["baseline_version"]),
                "candidate": clean_label(pair["candidate_version"]),
                "headline": next((_show_headline(row) for row in rows if row["family"] == "headline"), None),
            }
        )
    return headlines


def _describe_pair(source: Warehouse, pair: Row) -> dict[str, Any]:
    key = {name: pair[name] for name in ("application", "baseline_version", "candidate_version")}
    rows = source.rows(LIST_COMPARISONS, ["fct_version_comparisons"], **key)
    segments = source.rows(LIST_CHANGED_SEGMENTS, ["fct_version_comparisons"], **key)
    regressions = source.rows(LIST_REGRESSIONS, ["fct_version_regressions"], **key, characters=QUERY_CHARACTERS + 1)
    return {
        "application": clean_label(pair["application"]),
        "baseline": clean_label(pair["baseline_version"]),
        "candidate": clean_label(pair["candidate_version"]),
        "count_pairs": pair["count_pairs"],
        "not_tested": {
            name: pair[name] for name in ("count_without_rule", "count_too_few_clusters", "count_without_scores")
        },
        "headline": next((_show_headline(row) for row in rows if row["family"] == "headline"), None),
        "pictures": _draw_pair(rows),
        "rows": [_show_comparison(row) for row in rows],
        "segments": [
            {**_show_comparison(row), "segment": f"{row['dimension']} = {clean_label(row['segment'])}"}
            for row in segments[:MAXIMUM_SEGMENTS]
        ],
        "count_segments_left_out": max(0, len(segments) - MAXIMUM_SEGMENTS),
        "regressions": [
            {
                "metric_name": row["metric_name"],
                "query_text": clean_text(row["query_text"], QUERY_CHARACTERS) or clean_label(row["query_key"]),
                "interactions": ", ".join(clean_label(name) for name in _first_ids(row["candidate_interaction_ids"])),
                "baseline": format_number(row["baseline_score"]),
                "candidate": format_number(row["candidate_score"]),
            }
            for row in regressions[:MAXIMUM_REGRESSIONS]
        ],
        "count_regressions": len(regressions),
        "count_regressions_left_out": max(0, len(regressions) - MAXIMUM_REGRESSIONS),
    }


def _first_ids(ids: Any) -> list[str]:
    return list(ids)[:2] if isinstance(ids, list) else [str(ids)] if ids is not None else []


def _draw_pair(rows: Sequence[Row]) -> list[Any]:
    pictures = []
    for is_share in (True, False):
        chosen = [
            row for row in rows if (row["measurement"] != "mean_score") is is_share and row["difference"] is not None
        ]
        if not chosen:
            continue
        words = "share failing, percentage points" if is_share else "mean score, in the unit of the metric"
        picture = charts.draw_differences(
            [
                charts.Difference(
                    row["metric_name"],
                    f"{format_value(row['baseline_value'], row['measurement'])} → "
                    f"{format_value(row['candidate_value'], row['measurement'])}",
                    row["difference"],
                    row["difference_lower"],
                    row["difference_upper"],
                    row["verdict"] in ("better", "worse"),
                    f"n {row['count_pairs']:,} queries: {VERDICTS[row['verdict']][1]}",
                )
                for row in chosen
            ],
            f"gain of the candidate: {words}",
            ("candidate worse", "candidate better"),
            is_share,
            f"Two versions compared by {words}: gain with interval by metric; see the table",
        )
        pictures.append(as_markup(picture))
    return pictures


def _show_headline(row: Row) -> Row:
    """Return the answer to the two questions of a release: is it better, and is a loss excluded."""
    measurement = row["measurement"]
    target = _name_difference(row["target_difference"], measurement)
    needed = (
        ""
        if row["queries_needed"] is None
        else f"To see a difference of {target} you need {row['queries_needed']:,} queries"
    )
    if needed and row["replicates_needed"] is not None:
        needed += f", or {row['replicates_needed']:,} answers of each version to each of these {row['count_pairs']:,}"
    tolerated = _name_difference(row["tolerated_loss"], measurement)
    return {
        **_show_comparison(row),
        "release": RELEASE_ANSWERS[row["release_answer"]].format(tolerated=tolerated),
        "needed": needed and f"{needed}.",
        "unit": "" if measurement == "mean_score" else " percentage points",
    }


def _name_difference(difference: float, measurement: str) -> str:
    return f"{difference:g}" if measurement == "mean_score" else f"{100 * difference:g} percentage points"


def _show_comparison(row: Row) -> Row:
    state, words = VERDICTS[row["verdict"]]
    measurement = row["measurement"]
    return {
        "metric_name": row["metric_name"],
        "measurement": MEASUREMENTS.get(measurement, measurement),
        "count_pairs": row["count_pairs"],
        "count_clusters": row["count_clusters"],
        "baseline": format_value(row["baseline_value"], measurement),
        "candidate": format_value(row["candidate_value"], measurement),
        "difference": format_difference(row["difference"], measurement),
        "interval": format_difference_interval(row["difference_lower"], row["difference_upper"], measurement),
        "q_value": format_number(row["q_value"]),
        "state": state,
        "words": words,
        "reason": COMPARISON_STATUSES.get(row["status"], row["status"]),
        "count_regressions": row["count_regressions"],
        "count_improvements": row["count_improvements"],
    }
