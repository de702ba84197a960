"""Personal data in answers, and differences in the treatment of groups of people."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report.showing import Gap, format_interval, format_number

#: Leaked values and gaps listed; the number left out is shown below them.
MAXIMUM_LEAKS = 25
MAXIMUM_GAPS = 60

COUNT_FINDINGS = """
select
    entity_type,
    any_value(entity_class) as entity_class,
    bool_and(is_counted) as is_counted,
    count(*) filter (where exposure = 'in_query') as count_in_query,
    count(*) filter (where exposure = 'in_context') as count_in_context,
    count(*) filter (where exposure = 'leaked') as count_leaked
from fct_privacy_findings
group by entity_type
order by count_leaked desc, entity_type
"""

LIST_LEAKS = """
select findings.interaction_id, interactions.system, interactions.topic, findings.entity_type, findings.masked,
    findings.rule, findings.count_occurrences
from fct_privacy_findings as findings
inner join fct_interactions as interactions on findings.interaction_id = interactions.interaction_id
where findings.is_leak
order by findings.entity_class, findings.entity_type, findings.interaction_id, findings.first_start
"""

COUNT_READ = """
select
    count(*) filter (where score_status = 'scored') as count_read,
    count(*) filter (where raw_score > 0) as count_leaking,
    count(*) filter (where score_status = 'missing_input') as count_not_read
from fct_evaluations
where metric_name = 'privacy'
"""

# Gaps and equivalences first, then inconclusive comparisons.
LIST_GAPS = """
select *
from fct_bias_gaps
where status <> 'no_scores'
order by
    list_position(['gap_found', 'equivalent', 'inconclusive'], verdict),
    design, system, attribute, first_segment, metric_name
"""

COUNT_VERDICTS = """
select
    count(*) filter (where verdict = 'gap_found') as count_found,
    count(*) filter (where verdict = 'equivalent') as count_equivalent,
    count(*) filter (where verdict = 'inconclusive' and status = 'tested') as count_inconclusive,
    count(*) filter (where status = 'too_few_clusters') as count_too_few
from fct_bias_gaps
"""

LIST_SIMILARITIES = """
select distinct system, attribute, first_segment, second_segment, answer_similarity
from fct_bias_gaps
where answer_similarity is not null
order by attribute, system
"""

COUNT_UNMEASURED = """
select design, attribute, count(*) as count_gaps
from fct_bias_gaps
where status = 'no_scores'
group by design, attribute
order by design, attribute
"""

VERDICTS = {
    "gap_found": ("failed", "gap found"),
    "equivalent": ("passed", "equivalent"),
    "inconclusive": ("undecided", "inconclusive"),
}
DESIGNS = {"counterfactual": "same query for two people", "logged_groups": "logged traffic"}


def describe_privacy(source: Warehouse) -> dict[str, Any]:
    """Return the personal data found in answers, masked, for the template of that section."""
    is_there = source.has("fct_privacy_findings")
    reads = source.rows(COUNT_READ, ["fct_evaluations"])
    read = reads[0] if reads else {"count_read": 0, "count_leaking": 0, "count_not_read": 0}
    leaks = source.rows(LIST_LEAKS, ["fct_privacy_findings", "fct_interactions"])
    gaps = []
    if not is_there:
        gaps.append(
            Gap(
                "Personal data in answers: this warehouse lacks fct_privacy_findings.",
                "`dbt build` with the current version of hcat",
            )
        )
    elif not read["count_read"]:
        gaps.append(
            Gap(
                "Names in answers: no answer was searched for names, only for identifiers.",
                "`dbt build` with hcat_tagger = packaged, over logs in one of hcat_tagger_languages",
                "languages",
            )
        )
    return {
        "gaps": gaps,
        "read": read,
        "types": source.rows(COUNT_FINDINGS, ["fct_privacy_findings"]),
        "leaks": [
            {name: clean_label(row[name]) for name in ("interaction_id", "system", "topic", "masked", "rule")}
            | {"entity_type": row["entity_type"], "count_occurrences": row["count_occurrences"]}
            for row in leaks[:MAXIMUM_LEAKS]
        ],
        "count_leaks_left_out": max(0, len(leaks) - MAXIMUM_LEAKS),
    }


def describe_bias(source: Warehouse) -> dict[str, Any]:
    """Return the gaps between groups of people with their verdicts, for the template of that section."""
    rows = source.rows(LIST_GAPS, ["fct_bias_gaps"])
    unmeasured = source.rows(COUNT_UNMEASURED, ["fct_bias_gaps"])
    gaps = []
    if not source.has("fct_bias_gaps"):
        gaps.append(
            Gap("Equal treatment: this warehouse lacks fct_bias_gaps.", "`dbt build` with the current version of hcat")
        )
    elif not any(row["design"] == "counterfactual" for row in rows):
        gaps.append(
            Gap(
                "Answers to the same query asked for different people.",
                "a test set with counterfactual variants, sent to the application (`hcat test-set`, `hcat collect`)",
                "people",
            )
        )
    shown = [_show(row) for row in rows[:MAXIMUM_GAPS]]
    verdicts = source.rows(COUNT_VERDICTS, ["fct_bias_gaps"])
    return {
        "gaps": gaps,
        "verdicts": verdicts[0] if verdicts else None,
        "similarities": [
            {name: clean_label(row[name]) for name in ("system", "attribute", "first_segment", "second_segment")}
            | {"similarity": format_number(row["answer_similarity"])}
            for row in source.rows(LIST_SIMILARITIES, ["fct_bias_gaps"])
        ],
        "found": [row for row in shown if row["state"] == "failed"],
        "equivalent": [row for row in shown if row["state"] == "passed"],
        "others": [row for row in shown if row["state"] not in ("failed", "passed")],
        "count_left_out": max(0, len(rows) - MAXIMUM_GAPS),
        "unmeasured": [
            {"design": DESIGNS[row["design"]], "attribute": clean_label(row["attribute"]), "count": row["count_gaps"]}
            for row in unmeasured
        ],
    }


def _show(row: Row) -> dict[str, Any]:
    state, words = VERDICTS[row["verdict"]]
    return {
        "system": clean_label(row["system"]),
        "design": DESIGNS[row["design"]],
        "attribute": clean_label(row["attribute"]),
        "first_segment": clean_label(row["first_segment"]),
        "second_segment": clean_label(row["second_segment"]),
        "metric_name": row["metric_name"],
        "count_clusters": row["count_clusters"],
        "first_mean": format_number(row["first_mean"]),
        "second_mean": format_number(row["second_mean"]),
        "difference": format_number(row["difference"]),
        "interval": format_interval(row["difference_lower"], row["difference_upper"]),
        "margin": format_number(row["margin"]),
        "p_value": format_number(row["adjusted_p_value"]),
        "equivalence": format_number(row["adjusted_equivalence_p_value"]),
        "state": "not_evaluated" if row["status"] != "tested" else state,
        "words": "too few clusters" if row["status"] != "tested" else words,
    }
