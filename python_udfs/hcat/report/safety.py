"""Risk and safety: toxicity, refusals, screened queries and behaviour under attack; one function per part."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report.showing import Gap, format_interval, format_number, format_percent

MAXIMUM_ROWS = 40

LIST_TOXICITY = "select * from fct_toxicity_error_rates order by error_kind, target_group <> 'all', target_group"

LIST_SCORES = """
select
    metric_name,
    count(raw_score) as count_scored,
    avg(raw_score) as mean_score,
    quantile_cont(raw_score, 0.95) as upper_score,
    max(raw_score) as largest_score
from fct_evaluations
where metric_name in ('toxicity__maximum', 'toxicity__mean', 'query_toxicity', 'sentiment__mean', 'verbatim_copy')
group by metric_name
having count(raw_score) > 0
order by metric_name
"""

LIST_REFUSALS = """
select * from fct_safety_rates
where rate_kind in ('answered_when_due_to_refuse', 'refused_when_due_to_answer')
order by system, category <> 'all', category, rate_kind desc
"""

LIST_FLAGS = "select * from fct_safety_rates where rate_kind = 'flag_raised' order by category, system"

LIST_ADVERSARIAL = """
select *, meaning in ('attacked', 'out_of_scope') as is_adversarial from fct_safety_rates
where rate_kind = 'behaviour_changed'
order by is_adversarial desc, system, category
"""

ERROR_KINDS = {
    "false_alarm": "harmless sentence was flagged",
    "missed": "toxic sentence was missed",
    "answered_when_due_to_refuse": "answered but should have refused",
    "refused_when_due_to_answer": "refused but should have answered",
}
FLAGS = {
    "injection": "injection or jailbreak",
    "restricted_topic": "restricted topic",
    "off_topic": "off topic",
    "canary_leak": "canary in the answer",
}


def describe_safety(source: Warehouse) -> dict[str, Any]:
    """Return the parts of the section as far as their marts exist."""
    parts: dict[str, Any] = {"gaps": []}
    for describe in (_describe_toxicity, _describe_refusals, _describe_flags, _describe_adversarial):
        part, gaps = describe(source)
        parts |= part
        parts["gaps"] += gaps
    return parts


def _describe_toxicity(source: Warehouse) -> tuple[dict[str, Any], list[Gap]]:
    rates = source.rows(LIST_TOXICITY, ["fct_toxicity_error_rates"])
    scores = source.rows(LIST_SCORES, ["fct_evaluations"])
    gaps = [] if rates else [_missing("Error rates of the toxicity classifier", "fct_toxicity_error_rates")]
    shown = [
        {
            "target_group": row["target_group"].replace("_", " "),
            "error": ERROR_KINDS[row["error_kind"]],
            "count": row["count_probes"],
            **_share(row, "share_errors"),
        }
        for row in rates
    ]
    return {
        "toxicity": shown,
        "classifier": clean_label(rates[0]["classifier_name"]) if rates else "",
        "scores": [
            {
                "metric_name": row["metric_name"],
                "count": row["count_scored"],
                "mean": format_number(row["mean_score"]),
                "upper": format_number(row["upper_score"]),
                "largest": format_number(row["largest_score"]),
            }
            for row in scores
        ],
    }, gaps


def _describe_refusals(source: Warehouse) -> tuple[dict[str, Any], list[Gap]]:
    rows = source.rows(LIST_REFUSALS, ["fct_safety_rates"])
    gaps = [] if rows else [_missing("Refusals compared with the expected behaviour", "fct_safety_rates")]
    shown = [
        {
            "system": clean_label(row["system"]),
            "query_type": clean_label(row["category"]),
            "error": ERROR_KINDS[row["rate_kind"]],
            "count": row["count_checked"],
            "count_clusters": row["count_clusters"],
            **_share(row, "share_found"),
        }
        for row in rows[:MAXIMUM_ROWS]
    ]
    return {"refusals": shown, "count_refusals_left_out": max(0, len(rows) - MAXIMUM_ROWS)}, gaps


def _describe_flags(source: Warehouse) -> tuple[dict[str, Any], list[Gap]]:
    rows = source.rows(LIST_FLAGS, ["fct_safety_rates"])
    gaps = [] if rows else [_missing("Screened queries", "fct_safety_rates")]
    shown = [
        {
            "flag": FLAGS[row["category"]],
            "system": clean_label(row["system"]),
            "count": row["count_checked"],
            "count_flagged": row["count_found"],
            "count_answered": row["count_found_answered"],
            "false_alarms": format_percent(row["false_alarm_share"]),
            "missed": format_percent(row["missed_share"]),
            **_share(row, "share_found"),
        }
        for row in rows[:MAXIMUM_ROWS]
    ]
    return {"flags": shown, "count_flags_left_out": max(0, len(rows) - MAXIMUM_ROWS)}, gaps


def _describe_adversarial(source: Warehouse) -> tuple[dict[str, Any], list[Gap]]:
    rows = source.rows(LIST_ADVERSARIAL, ["fct_safety_rates"])
    gaps = []
    if not any(row["is_adversarial"] for row in rows):
        gaps.append(
            Gap(
                "behaviour under attack",
                "logs of adversarial variants (prompt_injection, contradicting_context, out_of_distribution) and of"
                " their original queries; hcat generates such variants with a test set",
                "attacks",
            )
        )
    shown = [
        {
            "system": clean_label(row["system"]),
            "variant_type": clean_label(row["category"]),
            "meaning": row["meaning"].replace("_", " "),
            "count": row["count_checked"],
            "count_clusters": row["count_clusters"],
            "count_refused": row["count_refused"],
            "count_leaks": row["count_leaks"],
            "count_judged": row["count_judged"],
            "count_turned_wrong": row["count_turned_wrong"],
            **_share(row, "share_found"),
        }
        for row in rows[:MAXIMUM_ROWS]
    ]
    return {"adversarial": shown, "count_adversarial_left_out": max(0, len(rows) - MAXIMUM_ROWS)}, gaps


def _share(row: Row, name: str) -> dict[str, str]:
    interval = "" if row[name] is None else format_interval(row[f"{name}_lower"], row[f"{name}_upper"], "share")
    return {"share": format_percent(row[name]), "interval": interval}


def _missing(what: str, mart: str) -> Gap:
    return Gap(
        f"{what}: {mart} is missing or has no row.",
        "`dbt build` with the current version of hcat, over logs with these data",
    )
