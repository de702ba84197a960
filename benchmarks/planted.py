"""What is planted in the demo, held against the marts of its build: found or not, by which mart, and what is false.

The generator writes the fault of each answer into `recorded_fault`, which no score reads. `demo/planted.yml` lists the
rest. The mart of findings says what the labels of the same warehouse say of each.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
import numpy as np
import yaml

from benchmarks.harness import ROOT, BenchmarkError, Outcome, Table, argument_parser, build, finish, working_folder
from benchmarks.planted_findings import (
    FIRST_FINDINGS,
    QUANTILE,
    UNSUPPORTED_ALLOWED,
    cell_name,
    describe_labels,
    list_findings,
    read_rows,
    segments_of,
)
from hcat.statistics.intervals import wilson_interval

DEMO: Final = ROOT / "demo"
#: Least share of answers whose prediction set has one label.
LEAST_DECIDED: Final = 0.60


_FAILING = """
select interaction_id, bool_or(is_failing) as is_failing
from fct_evaluations
where list_contains($metrics, metric_name) and is_failing is not null
group by interaction_id
"""

_SCORES = """
select interaction_id, raw_score
from fct_evaluations
where metric_name = $metric and raw_score is not null
"""

_CELLS = """
select metric_name, dimension as first_dimension, segment as first_segment, null as second_dimension,
    null as second_segment, count_scored, difference, difference_lower, is_weak, count_needed_to_flag,
    'fct_marginal_weaknesses' as mart
from fct_marginal_weaknesses
union all
select metric_name, first_dimension, first_segment, second_dimension, second_segment, count_scored, difference,
    difference_lower, is_weak, count_needed_to_flag, 'fct_bivariate_weaknesses' as mart
from fct_bivariate_weaknesses
"""

_GAPS = """
select verdict, metric_name, difference, adjusted_p_value, count_clusters
from fct_bias_gaps
where system = $system and design = $design and attribute = $attribute and adjusted_p_value is not null
order by verdict = 'gap_found' desc, adjusted_p_value, metric_name
"""

_DRIFTS = """
select value_reference, value_window, window_weeks, window_start, window_end, q_value, is_drifting
from fct_metric_drift
where metric_name = $metric_name and dimension = 'all' and q_value is not null and window_end >= $first_day
order by is_drifting desc, q_value, window_weeks
"""

_REGRESSIONS = """
select dimension, segment, baseline_value, candidate_value, difference, q_value, count_pairs, verdict
from fct_version_comparisons
where metric_name = $metric_name and dimension = $dimension and segment = $segment and q_value is not null
order by verdict = 'worse' desc, q_value
"""

_LEAKS = """
select interaction_id, string_agg(distinct entity_type, ', ' order by entity_type) as entity_types
from fct_privacy_findings
where is_leak
group by interaction_id
"""

_EXTREMES = """
select interaction_id, raw_score, scored_count
from fct_evaluations
where metric_name = $metric_name and raw_score is not null
order by raw_score * case when $by_count then scored_count else 1 end desc, interaction_id
limit 1
"""

_REPEATED = """
select conversations.conversation_id, conversations.count_repeating
from fct_conversations as conversations
inner join fct_interactions as interactions on conversations.conversation_id = interactions.conversation_id
where conversations.is_error_repeated and list_contains($interactions, interactions.interaction_id)
group by all
"""

_HYPOTHESES = """
select system, first_side, second_side, difference, difference_lower, difference_upper, count_groups_in_both
from fct_robustness_differences
where hypothesis = $hypothesis and scope = 'all' and gap_rule = 'own_side' and measure = 'accuracy'
    and status = 'compared'
order by system
"""

_GAP_GROUPS = """
select count_answers, count_correct
from fct_robustness_groups
where hypothesis = 'all' and group_type = 'gap' and system = $system and query_group = $query_group
"""

_RELIABILITY = """
select system, measured_value, value_lower, value_upper, chance_value
from fct_metric_reliability
where metric_name = $metric_name and measure = 'precision' and status = 'estimated'
order by system
"""

_FAILING_VERDICTS = "select interaction_id from fct_verdicts where verdict = 'failing'"

_LIVES = "select * from fct_findings where kind = 'confirmed' or status = 'closed_by_data' order by finding_id"

_BEHAVIOURS = """
select count_judged, count_turned_wrong
from fct_safety_rates
where system = $system and rate_kind = 'behaviour_changed' and category = $variant_type
"""

#: What must not be there -> the mart that would say it, and a query: how often it says so, and how often it looked.
_ABSENT: Final[Mapping[str, tuple[str, str]]] = {
    "gap_of_another_attribute": (
        "fct_bias_gaps",
        "select count(*) filter (where verdict = 'gap_found'), count(*) filter (where status = 'tested')"
        " from fct_bias_gaps where design = 'counterfactual' and attribute <> 'origin'",
    ),
    "canary_leak": (
        "fct_safety_rates",
        "select coalesce(sum(count_found), 0)::int, coalesce(sum(count_checked), 0)::int from fct_safety_rates"
        " where category = 'canary_leak'",
    ),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One planted item against the marts."""

    #: What was planted.
    item: str
    is_found: bool
    #: The mart that says it, or would.
    mart: str
    #: What the mart says, with its n.
    effect: str
    #: Why it was not found; empty where it was.
    missing: str = ""


def read_planted(path: Path = DEMO / "planted.yml") -> dict[str, Any]:
    """Return the list of planted items."""
    planted: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return planted


def read_faults(logs: Path) -> dict[str, str]:
    """Return the recorded fault of every logged interaction by its id."""
    with (logs / "interactions.jsonl").open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return {record["interaction_id"]: record["recorded_fault"] for record in records}


def hold_faults(
    connection: duckdb.DuckDBPyConnection, planted: Mapping[str, Any], faults: Mapping[str, str]
) -> list[Found]:
    """Return for each kind of fault the share of its answers that fail a metric, and the false alarms."""
    found = []
    alarms = planted["false_alarms"]
    flagged = {kind: rule for kind, rule in planted["faults"].items() if "metrics" in rule}
    cases = [(kind, rule["metrics"], rule["at_least"]) for kind, rule in flagged.items()]
    for kind, metrics, least in [*cases, ("none", alarms["metrics"], None)]:
        failing = dict(connection.execute(_FAILING, {"metrics": metrics}).fetchall())
        own = [failing[key] for key, fault in faults.items() if fault == kind and key in failing]
        share = sum(own) / len(own) if own else 0.0
        lower, upper = wilson_interval(share, len(own), QUANTILE) if own else (0.0, 1.0)
        effect = f"{sum(own)} of {len(own)} fail ({lower:.0%} to {upper:.0%})"
        is_found = bool(own) and (share <= alarms["at_most"] if least is None else share >= least)
        limit = f"at most {alarms['at_most']:.1%}" if least is None else f"at least {least:.0%}"
        name = "answers without a fault" if least is None else f"fault {kind}"
        missing = "" if is_found else f"{share:.1%}, wanted {limit}" if own else "no such answer has a verdict"
        found.append(Found(name, is_found, f"fct_evaluations: {', '.join(metrics)}", effect, missing))
    for kind, rule in planted["faults"].items():
        if "ranked_by" in rule:
            found.append(_hold_ranking(connection, kind, rule, faults))
    return found


def hold_verdicts(
    connection: duckdb.DuckDBPyConnection, limits: Mapping[str, Any], faults: Mapping[str, str]
) -> list[Found]:
    """Return for each kind of fault the share of its answers whose verdict is failing, and the false alarms.

    False alarms are counted among the answers that say something, and so have a score; the others are named beside.
    """
    failing = {key for (key,) in connection.execute(_FAILING_VERDICTS).fetchall()}
    found = []
    for kind, least in limits["at_least"].items():
        own = [key for key, fault in faults.items() if fault == kind]
        share = sum(key in failing for key in own) / len(own) if own else 0.0
        effect = f"{sum(key in failing for key in own)} of {len(own)} fail"
        missing = "" if own and share >= least else f"{share:.1%}, wanted at least {least:.0%}"
        found.append(Found(f"verdict on {kind}", not missing, "fct_verdicts", effect, missing))
    scored = {key for key, _ in connection.execute(_SCORES, {"metric": "groundedness"}).fetchall()}
    good = {key for key, fault in faults.items() if fault == "none"}
    share = len(good & scored & failing) / len(good & scored) if good & scored else 1.0
    effect = f"{len(good & scored & failing)} of {len(good & scored)} with a score fail"
    effect += f"; {len((good - scored) & failing)} of {len(good - scored)} without one"
    missing = "" if share <= limits["false_alarms"] else f"{share:.1%}, wanted at most {limits['false_alarms']:.1%}"
    return [*found, Found("verdict on answers without a fault", not missing, "fct_verdicts", effect, missing)]


def _hold_ranking(
    connection: duckdb.DuckDBPyConnection, kind: str, rule: Mapping[str, Any], faults: Mapping[str, str]
) -> Found:
    """Return how well a metric ranks answers with the fault below those without, beside the metrics of the rule."""
    ranked = _rank(connection, kind, rule["ranked_by"], faults)
    mart = f"fct_evaluations: {rule['ranked_by']}"
    if ranked is None:
        return Found(f"fault {kind}", False, mart, "–", "no such answer has a score")
    others = [f"{name} {one.auroc:.3f}" for name in rule["beside"] if (one := _rank(connection, kind, name, faults))]
    beside = f" ({', '.join(others)})" if others else ""
    effect = f"AUROC {ranked.auroc:.3f}{beside}, {ranked.count_faulty} against {ranked.count_others} without a fault"
    is_found = ranked.auroc >= rule["at_least"]
    return Found(f"fault {kind}", is_found, mart, effect, "" if is_found else f"wanted at least {rule['at_least']:.2f}")


class _Ranked(NamedTuple):
    auroc: float
    count_faulty: int
    count_others: int


def _rank(connection: duckdb.DuckDBPyConnection, kind: str, metric: str, faults: Mapping[str, str]) -> _Ranked | None:
    """Return how often a faulty answer scores lower than one without a fault (ties count half); None without scores."""
    scores = dict(connection.execute(_SCORES, {"metric": metric}).fetchall())
    own, others = (
        np.array([scores[key] for key, fault in faults.items() if fault == wanted and key in scores])
        for wanted in (kind, "none")
    )
    if not len(own) or not len(others):
        return None
    lower = (own[:, None] < others[None, :]).mean() + (own[:, None] == others[None, :]).mean() / 2
    return _Ranked(float(lower), len(own), len(others))


def hold_cells(connection: duckdb.DuckDBPyConnection, cells: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return for each planted cell whether that very cell is weak, at what difference, and what it would take."""
    rows = read_rows(connection, _CELLS)
    application = _application(connection)
    found = []
    for cell in cells:
        where = to_segments(cell["where"], application)
        own = [row for row in rows if segments_of(row) == where]
        weak = [row for row in own if row["is_weak"]]
        inside = [row for row in rows if row["is_weak"] and is_consistent(segments_of(row), where)]
        if weak:
            best = max(weak, key=_prominence)
            found.append(Found(cell["name"], True, _said_by(best), _effect(best)))
            continue
        best = max(own, key=_prominence, default=None)
        missing = "no mart has the cell" if best is None else "not weak"
        if best and best["count_needed_to_flag"] is not None:
            missing += f"; {best['count_needed_to_flag']:,} interactions would show a difference of this size"
        if inside:
            missing += f"; weak is {', '.join(sorted({cell_name(row) for row in inside}))}"
        found.append(
            Found(cell["name"], False, _said_by(best) if best else "–", _effect(best) if best else "–", missing)
        )
    return found


def hold_gaps(connection: duckdb.DuckDBPyConnection, gaps: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return for each planted gap between groups whether any metric shows it."""
    application = _application(connection)
    found = []
    for gap in gaps:
        system = f"{application} {gap['application_version']}"
        rows = read_rows(connection, _GAPS, system=system, design=gap["design"], attribute=gap["attribute"])
        gaps_found = [row for row in rows if row["verdict"] == "gap_found"]
        effect = "; ".join(
            f"{row['metric_name']} {row['difference']:+.3g} (p {row['adjusted_p_value']:.3f}, "
            f"{row['count_clusters']} clusters)"
            for row in (gaps_found or rows)[:3]
        )
        missing = "" if gaps_found else "no gap found"
        found.append(Found(gap["name"], bool(gaps_found), "fct_bias_gaps", effect or "–", missing))
    return found


def hold_behaviours(connection: duckdb.DuckDBPyConnection, behaviours: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return for each planted behaviour under attack whether an answer turned wrong."""
    application = _application(connection)
    found = []
    for behaviour in behaviours:
        system = f"{application} {behaviour['application_version']}"
        rows = read_rows(connection, _BEHAVIOURS, system=system, variant_type=behaviour["variant_type"])
        turned = sum(row["count_turned_wrong"] for row in rows)
        judged = sum(row["count_judged"] for row in rows)
        effect = f"{turned} of {judged} judged answers turned wrong"
        missing = "" if turned else "no answer turned wrong"
        found.append(Found(behaviour["name"], turned > 0, "fct_safety_rates", effect, missing))
    return found


def hold_drifts(connection: duckdb.DuckDBPyConnection, drifts: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return for each planted drift whether the series over all interactions alarms once it has begun."""
    found = []
    for drift in drifts:
        wanted = {"metric_name": drift["metric_name"], "first_day": drift["first_day"]}
        rows = read_rows(connection, _DRIFTS, **wanted)
        effect = "–"
        if rows:
            best = rows[0]
            effect = (
                f"{best['value_reference']:.2f} to {best['value_window']:.2f} in the {best['window_weeks']} weeks from "
                f"{best['window_start']:%Y-%m-%d} (q {best['q_value']:.4f})"
            )
        mart = f"fct_metric_drift: {drift['metric_name']}"
        is_found = bool(rows) and rows[0]["is_drifting"]
        found.append(Found(drift["name"], is_found, mart, effect, "" if is_found else "no alarm"))
    return found


def hold_regressions(connection: duckdb.DuckDBPyConnection, regressions: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return for each planted regression whether the later version is called worse in that segment."""
    found = []
    for regression in regressions:
        ((dimension, segment),) = regression["where"].items()
        wanted = {"metric_name": regression["metric_name"], "dimension": dimension, "segment": segment}
        rows = read_rows(connection, _REGRESSIONS, **wanted)
        effect = "–"
        if rows:
            effect = (
                f"{rows[0]['baseline_value']:.2f} to {rows[0]['candidate_value']:.2f} failing, "
                f"{rows[0]['count_pairs']} queries (q {rows[0]['q_value']:.4f})"
            )
        mart = f"fct_version_comparisons: {regression['metric_name']}"
        is_found = bool(rows) and rows[0]["verdict"] == "worse"
        found.append(Found(regression["name"], is_found, mart, effect, "" if is_found else "not called worse"))
    return found


def hold_leaks(
    connection: duckdb.DuckDBPyConnection, leaks: Sequence[Mapping[str, Any]], faults: Mapping[str, str]
) -> list[Found]:
    """Return for each planted leak whether its answer has a finding of privacy, beside the other answers that have."""
    rows = {row["interaction_id"]: row["entity_types"] for row in read_rows(connection, _LEAKS)}
    found = []
    for leak in leaks:
        own = [key for key, fault in faults.items() if fault == leak["recorded_fault"]]
        seen = [rows[key] for key in own if key in rows]
        effect = f"{len(seen)} of {len(own)} answers ({'; '.join(seen) or 'none'}); {len(rows) - len(seen)} others"
        is_found = bool(own) and len(seen) == len(own)
        found.append(Found(leak["name"], is_found, "fct_privacy_findings", effect, "" if is_found else "not found"))
    return found


def hold_extremes(
    connection: duckdb.DuckDBPyConnection, extremes: Sequence[Mapping[str, Any]], faults: Mapping[str, str]
) -> list[Found]:
    """Return for each planted extreme whether its answer has the highest score, or the most of what is counted."""
    found = []
    for extreme in extremes:
        wanted = {"metric_name": extreme["metric_name"], "by_count": bool(extreme.get("by_count"))}
        rows = read_rows(connection, _EXTREMES, **wanted)
        is_found = bool(rows) and faults.get(rows[0]["interaction_id"]) == extreme["recorded_fault"]
        effect = f"{rows[0]['raw_score']:.2f} of {rows[0]['scored_count']:,}" if rows else "–"
        mart = f"fct_evaluations: {extreme['metric_name']}"
        found.append(Found(extreme["name"], is_found, mart, effect, "" if is_found else "another answer has more"))
    return found


def hold_conversations(
    connection: duckdb.DuckDBPyConnection, conversations: Sequence[Mapping[str, Any]], faults: Mapping[str, str]
) -> list[Found]:
    """Return for each planted conversation whether its error is said to be repeated."""
    found = []
    for conversation in conversations:
        own = [key for key, fault in faults.items() if fault == conversation["recorded_fault"]]
        rows = read_rows(connection, _REPEATED, interactions=own)
        effect = "; ".join(f"repeated in {row['count_repeating']} of {len(own)} turns" for row in rows) or "–"
        missing = "" if rows else "no repeated error"
        found.append(Found(conversation["name"], bool(rows), "fct_conversations", effect, missing))
    return found


def hold_hypotheses(connection: duckdb.DuckDBPyConnection, hypotheses: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return for each planted hypothesis whether both wordings of enough questions are compared."""
    found = []
    for hypothesis in hypotheses:
        rows = read_rows(connection, _HYPOTHESES, hypothesis=hypothesis["hypothesis"])
        enough = [row for row in rows if row["count_groups_in_both"] >= hypothesis["at_least"]]
        effect = "; ".join(
            f"{row['first_side']} {row['difference']:+.2f} [{row['difference_lower']:+.2f}, "
            f"{row['difference_upper']:+.2f}] against {row['second_side']}, {row['count_groups_in_both']} groups"
            for row in rows
        )
        missing = "" if enough else f"not compared in {hypothesis['at_least']} groups"
        mart = "fct_robustness_differences: accuracy"
        found.append(Found(hypothesis["name"], bool(enough), mart, effect or "–", missing))
    return found


def hold_gap_groups(connection: duckdb.DuckDBPyConnection, gap_groups: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return for each planted gap whether no wording of its question has a right answer."""
    application = _application(connection)
    found = []
    for gap in gap_groups:
        system = f"{application} {gap['application_version']}"
        rows = read_rows(connection, _GAP_GROUPS, system=system, query_group=gap["query_group"])
        effect = "; ".join(f"{row['count_correct']} of {row['count_answers']} answers right" for row in rows) or "–"
        missing = "" if rows else "no gap group"
        found.append(Found(gap["name"], bool(rows), "fct_robustness_groups", effect, missing))
    return found


def hold_unreliable(connection: duckdb.DuckDBPyConnection, metrics: Iterable[str]) -> list[Found]:
    """Return for each metric that says nothing about truth whether its precision is not shown to beat chance."""
    found = []
    for metric in metrics:
        rows = read_rows(connection, _RELIABILITY, metric_name=metric)
        informative = [row for row in rows if row["value_lower"] > row["chance_value"]]
        effect = "; ".join(
            f"{row['measured_value']:.2f} [{row['value_lower']:.2f}, {row['value_upper']:.2f}], "
            f"chance {row['chance_value']:.2f}"
            for row in rows
        )
        missing = "not measured" if not rows else "better than chance" if informative else ""
        name = f"{metric} says nothing about truth"
        found.append(Found(name, not missing, "fct_metric_reliability: precision", effect or "–", missing))
    return found


def hold_absent(connection: duckdb.DuckDBPyConnection, absent: Iterable[str]) -> list[Found]:
    """Return for each thing that is not there whether a mart looked for it and says that it is not there."""
    found = []
    for name in absent:
        mart, query = _ABSENT[name]
        count, looked = connection.execute(query).fetchone() or (0, 0)
        missing = "nobody looked" if not looked else "it is said to be there" if count else ""
        found.append(Found(f"no {name.replace('_', ' ')}", not missing, mart, f"{count:,} of {looked:,}", missing))
    return found


def to_segments(where: Mapping[str, str], application: str) -> dict[str, str]:
    """Return the cell in the dimensions of the marts: a version is a part of the system.

    Examples
    --------
    >>> to_segments({"application_version": "1.1", "topic": "fees"}, "assistant")
    {'topic': 'fees', 'system': 'assistant 1.1'}
    """
    segments = dict(where)
    if version := segments.pop("application_version", None):
        segments["system"] = f"{application} {version}"
    return segments


def is_consistent(segments: Mapping[str, str], planted: Mapping[str, str]) -> bool:
    """Return whether a cell names a segment of the planted one and contradicts none.

    Examples
    --------
    >>> is_consistent({"topic": "fees"}, {"topic": "fees", "system": "a"})
    True
    >>> is_consistent({"topic": "fees", "system": "b"}, {"topic": "fees", "system": "a"})
    False
    """
    shared = segments.keys() & planted.keys()
    return bool(shared) and all(segments[name] == planted[name] for name in shared)


def _application(connection: duckdb.DuckDBPyConnection) -> str:
    rows = connection.execute("select distinct application from fct_interactions").fetchall()
    if len(rows) != 1:
        raise BenchmarkError(f"the demo has one application, the marts have {len(rows)}")
    return str(rows[0][0])


def _prominence(row: Mapping[str, Any]) -> tuple[bool, float]:
    """Return what to show first of the metrics of a cell: groundedness, then the largest difference."""
    return row["metric_name"] == "groundedness", row["difference"] or float("-inf")


def _said_by(row: Mapping[str, Any]) -> str:
    return f"{row['mart']}: {row['metric_name']}"


def _effect(row: Mapping[str, Any]) -> str:
    if row["difference"] is None:
        return f"not tested, n = {row['count_scored']}"
    lower = "" if row["difference_lower"] is None else f", at least {row['difference_lower']:+.2f}"
    return f"{row['difference']:+.2f}{lower}, n = {row['count_scored']}"


def hold_lives(connection: duckdb.DuckDBPyConnection, lives: Iterable[Mapping[str, Any]]) -> list[Found]:
    """Return for each weak cell whether the register says what later builds showed of it."""
    found = []
    rows = read_rows(connection, _LIVES)
    for life in lives:
        own = [row for row in rows if segments_of(row) == dict(life["where"]) and row[life["column"]] == life["word"]]
        later = [row["retest_difference" if row["new_difference"] is None else "new_difference"] for row in own]
        effect = ", ".join(
            f"{row['metric_name']} {row['difference']:+.2f}, then {difference:+.2f}"
            for row, difference in zip(own, later, strict=True)
        )
        missing = "" if own else f"no such finding is {life['word'].replace('_', ' ')}"
        found.append(Found(life["name"], bool(own), "fct_findings", effect or "–", missing))
    return found


class Held(NamedTuple):
    """The planted items against the marts, and the findings of page one with what labels say of them."""

    found: list[Found]
    judged: list[dict[str, Any]]

    def count(self, judgement: str) -> int:
        """Return of how many findings labels say so."""
        return sum(one["labels_say"] == judgement for one in self.judged)


def hold(warehouse: Path, logs: Path, planted: Mapping[str, Any]) -> Held:
    """Return all that is planted against the marts of a finished build of ``logs``."""
    database = warehouse / "hcat.duckdb"
    if not database.exists():
        raise BenchmarkError(f"no warehouse at {database}: build the demo first")
    faults = read_faults(logs)
    with duckdb.connect(str(database), read_only=True) as connection:
        found = [
            *hold_faults(connection, planted, faults),
            *hold_verdicts(connection, planted["verdicts"], faults),
            *hold_cells(connection, planted["cells"]),
            *hold_drifts(connection, planted.get("drifts", ())),
            *hold_regressions(connection, planted.get("regressions", ())),
            *hold_leaks(connection, planted.get("leaks", ()), faults),
            *hold_extremes(connection, planted.get("extremes", ()), faults),
            *hold_conversations(connection, planted.get("conversations", ()), faults),
            *hold_hypotheses(connection, planted.get("hypotheses", ())),
            *hold_gap_groups(connection, planted.get("gap_groups", ())),
            *hold_unreliable(connection, planted.get("unreliable", ())),
            *hold_gaps(connection, planted["gaps"]),
            *hold_behaviours(connection, planted["behaviours"]),
            *hold_absent(connection, planted["absent"]),
            *hold_lives(connection, planted.get("lives", ())),
        ]
        return Held(found, list_findings(connection))


def measure(warehouse: Path, logs: Path, planted: Mapping[str, Any]) -> Outcome:
    """Return the planted items against the marts of a finished build, as a page."""
    held = hold(warehouse, logs, planted)
    contradicted, unsupported = held.count("contradicted"), held.count("silent")
    tables = [
        Table(
            "Planted items against the marts",
            ("planted", "found", "said by", "effect", "why not"),
            [(one.item, "yes" if one.is_found else "NO", one.mart, one.effect, one.missing) for one in held.found],
        ),
        Table(
            f"The findings of page one, one of each hole and at most {FIRST_FINDINGS}, and what labels say",
            ("cell", "metric", "severity", "failed a week", "difference", "labels say", "rated by", "labels"),
            [
                (
                    cell_name(row),
                    row["metric_name"],
                    row["severity"],
                    f"{row['failed_answers_a_week'] or 0.0:.2f}",
                    f"{row['difference']:+.2f}",
                    row["labels_say"],
                    row["labels_by"],
                    describe_labels(row),
                )
                for row in held.judged
            ],
        ),
    ]
    count = sum(one.is_found for one in held.found)
    notes = [
        f"{count} of {len(held.found)} items are found. Of {len(held.judged)} findings labels contradict {contradicted}"
        f" (limit: 0) and do not support {unsupported} (limit: {UNSUPPORTED_ALLOWED}).",
        "A planted cell is found when that very cell is weak in a mart. A finding is supported where labels show that"
        " more answers fail in its cell than elsewhere (95 % interval, weights of the draw), and contradicted where"
        " they show that fewer do.",
        "What is not there counts where a mart looked: how often it says so, of how many looks.",
        "All texts and faults of the demo are made up; a rule planted the faults, a language model gave the labels.",
    ]
    is_within = count == len(held.found) and not contradicted and unsupported <= UNSUPPORTED_ALLOWED
    return Outcome("planted", "Planted faults of the demo", tables, notes, is_within_limits=is_within)


def run(is_quick: bool, folder: Path | None = None) -> Outcome:
    """Build the demo and return its planted items against the marts; a quick run is only not written to the page."""
    with working_folder(folder) as warehouse:
        if not (warehouse / "hcat.duckdb").exists():
            subprocess.run([sys.executable, str(DEMO / "first_build.py"), str(warehouse)], cwd=ROOT, check=True)
        build(DEMO / "logs", warehouse)
        return replace(measure(warehouse, DEMO / "logs", read_planted()), is_quick=is_quick)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; see `python -m benchmarks.planted --help`."""
    parser = argument_parser("planted", "Hold what is planted in the demo against the marts of its build.")
    parser.add_argument("--warehouse", type=Path, help="folder of a finished build of the demo (default: build it)")
    parser.add_argument("--logs", type=Path, default=DEMO / "logs", help="logs of that warehouse")
    parser.add_argument("--planted", type=Path, default=DEMO / "planted.yml", help="what is planted in these logs")
    options = parser.parse_args(arguments)
    if options.warehouse is None:
        return finish(run(options.quick, options.folder), "python -m benchmarks.planted")
    outcome = measure(options.warehouse, options.logs, read_planted(options.planted))
    return finish(replace(outcome, is_quick=options.quick), "python -m benchmarks.planted")


if __name__ == "__main__":
    sys.exit(main())
