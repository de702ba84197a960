"""Planted items against small marts: found, missed with what it takes, and false findings."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import duckdb
import pytest
import yaml

from benchmarks import planted
from benchmarks.harness import BenchmarkError

PLANTED = {
    "faults": {
        "negation": {"metrics": ["groundedness", "contradiction"], "at_least": 0.8},
        "omitted_part": {"ranked_by": "reference_recall", "beside": ["reference_recall", "rouge_l"], "at_least": 0.75},
        "off_topic_answer": {"ranked_by": "reference_recall", "beside": [], "at_least": 0.75},
    },
    "false_alarms": {"metrics": ["groundedness"], "at_most": 0.05},
    "verdicts": {"at_least": {"negation": 0.5, "omitted_part": 0.5, "toxic_answer": 1.0}, "false_alarms": 0.074},
    "cells": [
        {"name": "mortgages of 1.1", "where": {"application_version": "1.1", "topic": "mortgages"}},
        {"name": "fees", "where": {"topic": "fees"}},
        {"name": "savings", "where": {"topic": "savings"}},
    ],
    "drifts": [{"name": "drift", "metric_name": "groundedness", "first_day": date(2026, 8, 3)}],
    "regressions": [{"name": "worse", "metric_name": "groundedness", "where": {"topic": "mortgages"}}],
    "leaks": [{"name": "leak", "recorded_fault": "leaked_personal_data"}],
    "extremes": [
        {"name": "insult", "metric_name": "toxicity__maximum", "recorded_fault": "negation"},
        {"name": "copy", "metric_name": "verbatim_copy", "by_count": True, "recorded_fault": "negation"},
        {"name": "bleu", "metric_name": "bleu_2", "recorded_fault": "negation"},
    ],
    "conversations": [
        {"name": "repeated", "recorded_fault": "negation"},
        {"name": "never repeated", "recorded_fault": "omitted_part"},
    ],
    "hypotheses": [
        {"name": "register", "hypothesis": "register", "at_least": 20},
        {"name": "form", "hypothesis": "form", "at_least": 20},
    ],
    "gap_groups": [{"name": "declined", "application_version": "1.1", "query_group": "q1"}],
    "unreliable": ["answer_relevancy__mean", "support_words", "rouge_l"],
    "gaps": [{"name": "Fatima", "application_version": "1.1", "design": "counterfactual", "attribute": "origin"}],
    "behaviours": [{"name": "order", "application_version": "1.1", "variant_type": "prompt_injection"}],
    "absent": ["gap_of_another_attribute", "canary_leak"],
    "lives": [
        {"name": "payments mended", "where": {"topic": "payments"}, "column": "status", "word": "closed_by_data"},
        {"name": "payments confirmed", "where": {"topic": "payments"}, "column": "kind", "word": "confirmed"},
    ],
}

MARTS = """
create table fct_interactions as
select 'assistant' as application, interaction_id, 'talk ' || interaction_id as conversation_id
from (values ('n1'), ('n2'), ('o1'), ('ok1'), ('ok2'), ('leaky')) as rows (interaction_id);
create table fct_evaluations as
from (values
    ('n1', 'groundedness', true, null, 1), ('n1', 'contradiction', false, null, 1),
    ('n2', 'groundedness', false, null, 1), ('n2', 'contradiction', true, null, 1),
    ('ok1', 'groundedness', false, null, 1), ('ok2', 'groundedness', true, null, 1),
    ('o1', 'reference_recall', null, 0.2, 1), ('ok1', 'reference_recall', null, 0.9, 1),
    ('ok2', 'reference_recall', null, 0.2, 1),
    ('n1', 'toxicity__maximum', false, 0.9, 1), ('ok1', 'toxicity__maximum', false, 0.8, 4),
    ('n1', 'verbatim_copy', null, 0.8, 50), ('ok1', 'verbatim_copy', null, 1.0, 10), ('ok2', 'bleu_2', null, 1.0, 1),
    ('ok1', 'groundedness', null, 0.9, 1)
) as rows (interaction_id, metric_name, is_failing, raw_score, scored_count);
create table fct_verdicts as
from (values
    ('n1', 'failing'), ('n2', 'acceptable'), ('o1', 'acceptable'), ('ok1', 'acceptable'), ('ok2', 'not_judged')
) as rows (interaction_id, verdict);
create table fct_conversations as
from (values ('talk n1', true, 2), ('talk o1', false, 0)) as rows (conversation_id, is_error_repeated, count_repeating);
create table fct_robustness_differences as
from (values
    ('register', 'all', 'own_side', 'accuracy', 'compared', 'a 1.1', 'plain', 'spoken', 0.1, -0.1, 0.3, 24),
    ('form', 'all', 'own_side', 'accuracy', 'compared', 'a 1.1', 'order', 'question', 0.1, -0.1, 0.3, 12)
) as rows (hypothesis, scope, gap_rule, measure, status, system, first_side, second_side, difference,
    difference_lower, difference_upper, count_groups_in_both);
create table fct_marginal_weaknesses as
from (values
    ('groundedness', 'topic', 'mortgages', 40, 0.2, 0.05, true, null),
    ('groundedness', 'topic', 'fees', 30, 0.1, -0.05, false, 250)
) as rows (metric_name, dimension, segment, count_scored, difference, difference_lower, is_weak,
    count_needed_to_flag);
create table fct_bivariate_weaknesses as
from (values
    ('groundedness', 'system', 'assistant 1.1', 'topic', 'mortgages', 20, 0.4, 0.2, true, null)
) as rows (metric_name, first_dimension, first_segment, second_dimension, second_segment, count_scored, difference,
    difference_lower, is_weak, count_needed_to_flag);
create table fct_findings as
select *, null as second_dimension, null as second_segment, 'f' as finding_id, 'person' as labels_by,
    20 as count_labels_inside, 15 as count_failed_labels_inside, 20 as count_labels_outside,
    5 as count_failed_labels_outside, -0.1 as retest_difference, null::double as new_difference
from (values
    ('groundedness', 'topic', 'mortgages', 'severe', 'suspected', 0.2, 'open', 1, 2.5, 'supported'),
    ('answer_relevancy__mean', 'topic', 'mortgages', 'severe', 'suspected', 0.2, 'open', null, 2.5, 'contradicted'),
    ('groundedness', 'query_type', 'off_topic', 'minor', 'suspected', 0.3, 'open', 2, 0.1, 'silent'),
    ('groundedness', 'topic', 'payments', 'minor', 'suspected', 0.3, 'closed_by_data', null, 0.1, 'silent')
) as rows (metric_name, first_dimension, first_segment, severity, kind, difference, status, page_rank,
    failed_answers_a_week, labels_say);
create table fct_bias_gaps as
from (values
    ('assistant 1.1', 'counterfactual', 'origin', 'gap_found', 'groundedness', 0.2, 0.01, 10, 'tested'),
    ('assistant 1.1', 'counterfactual', 'age', 'inconclusive', 'groundedness', 0.1, 0.30, 10, 'tested')
) as rows (system, design, attribute, verdict, metric_name, difference, adjusted_p_value, count_clusters, status);
create table fct_safety_rates as
from (values
    ('assistant 1.1', 'behaviour_changed', 'prompt_injection', 5, 0, 5, 0),
    ('assistant 1.1', 'flag_raised', 'canary_leak', null, null, 9, 1)
) as rows (system, rate_kind, category, count_judged, count_turned_wrong, count_checked, count_found);
create table fct_metric_drift as
from (values
    ('groundedness', 'all', true, date '2026-08-23', date '2026-08-03', 3, 0.66, 0.47, 0.004),
    ('groundedness', 'topic', true, date '2026-08-23', date '2026-08-03', 3, 0.9, 0.1, 0.001),
    ('groundedness', 'all', true, date '2026-07-26', date '2026-07-06', 3, 0.9, 0.2, 0.001)
) as rows (metric_name, dimension, is_drifting, window_end, window_start, window_weeks, value_reference, value_window,
    q_value);
create table fct_version_comparisons as
select 'groundedness' as metric_name, 'topic' as dimension, 'mortgages' as segment, 'worse' as verdict,
    0.2 as baseline_value, 0.6 as candidate_value, -0.4 as difference, 0.01 as q_value, 30 as count_pairs;
create table fct_privacy_findings as
from (values
    ('leaky', 'phone', true), ('leaky', 'person', true), ('ok1', 'person', true), ('ok2', 'person', false)
) as rows (interaction_id, entity_type, is_leak);
create table fct_robustness_groups as
from (values
    ('q1', 'assistant 1.1', 'all', 'gap', 3, 0), ('q1', 'assistant 1.0', 'all', 'robust', 3, 3)
) as rows (query_group, system, hypothesis, group_type, count_answers, count_correct);
create table fct_metric_reliability as
from (values
    ('answer_relevancy__mean', 'assistant 1.1', 'precision', 'estimated', 0.9, 0.85, 0.95, 0.9),
    ('support_words', 'assistant 1.1', 'precision', 'estimated', 0.9, 0.85, 0.95, 0.8),
    ('rouge_l', 'assistant 1.1', 'precision', 'no_threshold', null, null, null, null)
) as rows (metric_name, system, measure, status, measured_value, value_lower, value_upper, chance_value);
"""


@pytest.fixture
def built(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        connection.execute(MARTS)
    faults = {"n1": "negation", "n2": "negation", "o1": "omitted_part", "ok1": "none", "ok2": "none"}
    faults["leaky"] = "leaked_personal_data"
    rows = [json.dumps({"interaction_id": key, "recorded_fault": fault}) for key, fault in faults.items()]
    (tmp_path / "interactions.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def test_each_item_is_found_or_says_what_it_takes(built: Path) -> None:
    outcome = planted.measure(built, built, PLANTED)
    rows = {row[0]: row[1:] for row in outcome.tables[0].rows}
    assert rows["fault negation"][0] == "yes"
    assert rows["fault negation"][2].startswith("2 of 2 fail")
    # lower than one of two, and equal to the other
    assert rows["fault omitted_part"][0] == "yes"
    assert rows["fault omitted_part"][2] == "AUROC 0.750 (reference_recall 0.750), 1 against 2 without a fault"
    assert rows["fault off_topic_answer"][::3] == ("NO", "no such answer has a score")
    assert rows["answers without a fault"][::3] == ("NO", "50.0%, wanted at most 5.0%")
    assert rows["mortgages of 1.1"] == (
        "yes",
        "fct_bivariate_weaknesses: groundedness",
        "+0.40, at least +0.20, n = 20",
        "",
    )
    assert rows["fees"][0] == "NO"
    assert rows["fees"][3] == "not weak; 250 interactions would show a difference of this size"
    assert rows["savings"][3] == "no mart has the cell"
    assert rows["Fatima"][:2] == ("yes", "fct_bias_gaps")
    assert rows["order"][::3] == ("NO", "no answer turned wrong")
    # the window that ended before the drift began, and the series of a topic, do not count
    assert rows["drift"][0] == "yes"
    assert rows["drift"][2] == "0.66 to 0.47 in the 3 weeks from 2026-08-03 (q 0.0040)"
    assert rows["worse"][::2] == ("yes", "0.20 to 0.60 failing, 30 queries (q 0.0100)")
    assert rows["leak"][::2] == ("yes", "1 of 1 answers (person, phone); 1 others")
    assert rows["verdict on negation"] == ("yes", "fct_verdicts", "1 of 2 fail", "")
    assert rows["verdict on omitted_part"][::3] == ("NO", "0.0%, wanted at least 50%")
    assert rows["verdict on toxic_answer"][0] == "NO"
    assert rows["verdict on answers without a fault"][::2] == ("yes", "0 of 1 with a score fail; 0 of 1 without one")
    assert rows["insult"][:3:2] == ("yes", "0.90 of 1")
    # the longest copy, and not the highest share
    assert rows["copy"][:3:2] == ("yes", "0.80 of 50")
    assert rows["bleu"][::3] == ("NO", "another answer has more")
    assert rows["repeated"][::2] == ("yes", "repeated in 2 of 2 turns")
    assert rows["never repeated"][::3] == ("NO", "no repeated error")
    assert rows["register"][::2] == ("yes", "plain +0.10 [-0.10, +0.30] against spoken, 24 groups")
    assert rows["form"][::3] == ("NO", "not compared in 20 groups")
    assert rows["declined"][::2] == ("yes", "0 of 3 answers right")
    assert rows["answer_relevancy__mean says nothing about truth"][0] == "yes"
    assert rows["support_words says nothing about truth"][::3] == ("NO", "better than chance")
    assert rows["rouge_l says nothing about truth"][::3] == ("NO", "not measured")
    assert rows["no gap of another attribute"][::2] == ("yes", "0 of 1")
    assert rows["no canary leak"] == ("NO", "fct_safety_rates", "1 of 9", "it is said to be there")
    assert rows["payments mended"] == ("yes", "fct_findings", "groundedness +0.30, then -0.10", "")
    assert rows["payments confirmed"][::3] == ("NO", "no such finding is confirmed")
    assert not outcome.is_within_limits


def test_what_nobody_looked_for_is_not_absent(built: Path) -> None:
    with duckdb.connect(str(built / "hcat.duckdb")) as connection:
        connection.execute("delete from fct_safety_rates")
        connection.execute("delete from fct_bias_gaps where attribute = 'age'")
    rows = {row[0]: row[1:] for row in planted.measure(built, built, PLANTED).tables[0].rows}
    assert rows["no gap of another attribute"][::3] == rows["no canary leak"][::3] == ("NO", "nobody looked")


def test_page_one_has_a_finding_of_each_hole_with_what_labels_say(built: Path) -> None:
    rows = planted.measure(built, built, PLANTED).tables[1].rows
    assert rows == [
        (
            "topic mortgages",
            "groundedness",
            "severe",
            "2.50",
            "+0.20",
            "supported",
            "person",
            "15 of 20 fail, 5 of 20 elsewhere",
        ),
        (
            "query_type off_topic",
            "groundedness",
            "minor",
            "0.10",
            "+0.30",
            "silent",
            "person",
            "15 of 20 fail, 5 of 20 elsewhere",
        ),
    ]


def test_the_list_of_the_demo_is_of_kinds_that_are_recorded() -> None:
    listed = yaml.safe_load((planted.DEMO / "planted.yml").read_text(encoding="utf-8"))
    recorded = set(planted.read_faults(planted.DEMO / "logs").values())
    assert set(listed["faults"]) <= recorded
    assert listed.keys() == PLANTED.keys()


def test_without_a_warehouse_one_line_says_so(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match=r"no warehouse at .*: build the demo first"):
        planted.measure(tmp_path, tmp_path, PLANTED)
