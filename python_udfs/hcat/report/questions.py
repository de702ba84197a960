"""The report by question: how often, where, better or worse, changing, how sure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.gates.rehearsal import rehearse_last_build
from hcat.language.display import clean_label
from hcat.monitoring.decisions import read_decisions
from hcat.monitoring.words import say_share
from hcat.report import blocks
from hcat.report.application import Statements, say_owner
from hcat.report.blocks import Block, Column, Section
from hcat.report.outcomes import ADMITTED, show_gates
from hcat.report.privacy_and_bias import describe_leaks
from hcat.report.showing import ANSWER_CHARACTERS, EXCERPT_CHARACTERS, describe_segment, format_day, format_number
from hcat.report.weaknesses import list_findings, show_difference, show_findings

#: Rows of a table.
MAXIMUM_ALARMS: Final = 12
MAXIMUM_SCORERS: Final = 24

#: Admission of a metric -> its colour.
_ADMISSION_STATES: Final = {"fact": "passed", "admitted": "passed", "provisional": "undecided"}


def describe_how_often(source: Warehouse, gates: Mapping[str, Any]) -> Section:
    """Return the failure rates of the candidates, and the gates."""
    systems = [row["system"] for row in read_decisions(source) if row["system"]]
    rates = [row for row in blocks.read(source, "list_rates", systems=systems) if row["_dimension"] == "all"]
    return blocks.section(
        _show_rates(
            "Share of answers that fail, with its interval. The verdict weighs all criteria: an answer fails by the"
            " first criterion that it misses. The same rates stand in every gate, page and mart (fct_failure_rates).",
            rates,
        )
        or blocks.absent("No failure rate of a candidate: too few answers have a verdict of raters or scores."),
        blocks.heading("Gates"),
        *show_gates(gates),
    )


def describe_where(source: Warehouse, claims: Mapping[str, Any], explorer: str, statements: Statements) -> Section:
    """Return the findings on metrics that may decide, one of each hole, and the personal data in answers."""
    rows = [row | {"dealt": say_owner(statements, row)} for row in list_findings(claims["findings"] or ())]
    return blocks.section(*show_findings(rows, claims, explorer), *describe_leaks(source))


def describe_better(source: Warehouse, pairs: Sequence[Row]) -> Section:
    """Return the comparison of versions on the same questions, and the rates of candidate and baseline."""
    decisions = [row for row in read_decisions(source) if row["baseline"]]
    baselines = blocks.read(source, "list_baselines") if decisions else []
    systems = [row["system"] for row in (*decisions, *baselines)]
    rates = [row for row in blocks.read(source, "list_rates", systems=systems) if row["_dimension"] == "all"]
    compared = [
        blocks.paragraph(
            f"{pair['candidate']} against {pair['baseline']}, on {found['count_pairs']:,} questions judged in both:"
            f" {found['words']}. Gain by {found['metric_name']}: {found['difference']}"
            f" {found['interval'] or '(no interval)'}{found['unit']}."
            f" {' '.join(filter(None, (found['release'], pair['caveats'], found['needed'], found['reason'])))}".rstrip()
        )
        for pair in pairs
        if (found := pair["headline"])
    ]
    return blocks.section(
        *compared,
        blocks.table(
            "Segments that changed by more than chance, of questions asked of both. Shares are in percentage points.",
            (
                Column("Segment", describe_segment, ""),
                "metric_name",
                "count_pairs=Questions",
                Column("Gain", show_difference),
            ),
            blocks.read(source, "list_changed_segments"),
            MAXIMUM_ALARMS,
            "segments",
        ),
        _show_rates(
            "Verdicts of both versions on all answers. They weigh relevance and completeness too, which raters see.",
            [row for row in rates if row["criterion"] == "verdict"],
        ),
        blocks.absent("There are no two versions to compare.") if not (compared or rates) else None,
    )


def describe_changing(source: Warehouse) -> list[Block | None]:
    """Return the rates before and since a change, and the drift alarms of metrics that may decide."""
    systems = [row["system"] for row in read_decisions(source) if row["system"]]
    periods = [row for row in blocks.read(source, "list_rates", systems=systems) if row["_dimension"] == "period"]
    compared = [row["said"] for row in blocks.read(source, "say_weeks")]
    return [
        _show_rates("Answers before and since the change that was found.", periods)
        or blocks.paragraph(" ".join(compared) or "The weeks were not compared."),
        blocks.query(
            source,
            "questions_list_alarms",
            "Series that left their reference, for users of all versions. Others that moved then are counted.",
            MAXIMUM_ALARMS,
            "series",
            shown={
                "segment": Column("Segment", lambda row: describe_segment({**row, "dimension": row["_dimension"]}), "")
            },
        ),
    ]


def describe_sure(source: Warehouse, labels: Mapping[str, Any]) -> Section:
    """Return who rated, and which scores may decide, with what labels have and need."""
    errors = blocks.read(source, "list_errors")
    measured = {row["metric_name"]: row for row in errors}
    # scores that decide nothing for the same reason share a row
    scorers: dict[tuple[Any, ...], list[Row]] = {}
    for row in blocks.read(source, "list_scorers"):
        own = None if row["threshold"] is None and row["admission"] == "not_admitted" else row["metric_name"]
        scorers.setdefault((own, row["admission_reason"]), []).append(row)
    drawn = sorted(rehearse_last_build(source), key=lambda gate: (-gate.share_other_verdict, gate.gate_name))
    changed = [f"{one.gate_name} ({100 * one.share_other_verdict:.0f} %)" for one in drawn if one.is_unsure]
    given = labels["warning"] or f"Labels of answers: {sum(labels['counts'].values()):,}, all by people."
    return blocks.section(
        blocks.paragraph(
            ("" if "person" in labels["counts"] else "No person rated any answer. ")
            + (given if labels["counts"] else "")
        ),
        blocks.paragraph(
            "Another draw of as many questions would change these verdicts of gates in more than one of ten cases:"
            f" {', '.join(changed)}."
            if changed
            else "Another draw of as many questions would change no verdict of a gate in more than one of ten cases."
        )
        if drawn
        else None,
        blocks.table(
            "Which scores decide verdicts, gates and findings, and the thresholds in force. Others decide nothing."
            " Error rates are those on labels.",
            (
                Column(
                    "Metric", lambda row: blocks.break_name(clean_label(", ".join(row["names"]), ANSWER_CHARACTERS)), ""
                ),
                "criterion",
                Column("May it decide?", _show_admission, ""),
                "admission_reason=Why: what labels show, and what is asked",
                Column(
                    "Threshold in force", lambda row: _show_threshold(row, measured.get(row["metric_name"])), "wide"
                ),
            ),
            [group[0] | {"names": [row["metric_name"] for row in group]} for group in scorers.values()],
            MAXIMUM_SCORERS,
            "metrics",
        ),
    )


def _show_threshold(row: Row, measured: Row | None) -> Any:
    if row["threshold"] is None:
        return "none"
    decided = f"{'provisional, ' if row['is_provisional'] else ''}by {clean_label(row['decided_by'])}"
    errors = []
    for kind, said in (("false_accept", "accepts {} of failed answers"), ("false_reject", "rejects {} of good ones")):
        if measured and measured[f"{kind}_rate"] is not None:
            rate = say_share(*(measured[f"{kind}_rate{end}"] for end in ("", "_lower", "_upper")))
            errors.append(f"{said.format(rate)}; {say_share(measured[f'{kind}_tolerated_share'])} is tolerated")
    return blocks.lines(
        format_number(row["threshold"]),
        blocks.small(f"{decided}, until {format_day(row['valid_until'], 'further notice')}"),
        *map(blocks.small, errors),
    )


def _show_admission(row: Row) -> Any:
    admission = row["admission"]
    return blocks.pill(_ADMISSION_STATES.get(admission, "not_evaluated"), ADMITTED.get(admission, "–"))


def _show_rates(caption: str, rows: Sequence[Row]) -> Block | None:
    return blocks.table(
        caption,
        {
            "population": Column("Answers", _name_answers, ""),
            "failure_rate": Column(
                "Fail", lambda row: say_share(*(row[f"failure_rate{end}"] for end in ("", "_lower", "_upper")))
            ),
            "statement": Column(
                "What it rests on",
                lambda row: clean_label(row["statement"] or row["_message"], EXCERPT_CHARACTERS),
                "wide",
            ),
        },
        rows,
        noun="rates",
    )


def _name_answers(row: Row) -> str:
    of = {"production": "to users", "test_set": "to the test set"}
    named = of.get(row["population"], clean_label(row["population"]))
    return named if row["_dimension"] == "all" else f"{named}, {clean_label(row['_segment'])}"
