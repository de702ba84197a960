"""What a reader must know to decide: gates that do not pass, findings that matter, what is missing, what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hcat.language.display import clean_label

#: Lines of each list on the first page; the sections hold the rest.
MAXIMUM_LINES = 5
MAXIMUM_FINDINGS = 3


class Line(NamedTuple):
    """A line of the first page: what is said, and the id of what proves it (a section, a gate, a finding)."""

    text: str
    anchor: str


def describe_decision(
    sections: Mapping[str, Any], limitations: Mapping[str, Any], labels: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the lists of the first page; each line leads to its evidence."""
    gates = sections["outcomes"]["gates"]
    failing = [row for row in gates["rows"] if not row["is_passing"]]
    findings, missing = list_findings(sections), _list_missing(limitations, labels)
    return {
        "gates": [_describe_gate(row) for row in failing[:MAXIMUM_LINES]],
        "count_gates_left_out": max(0, gates["count_all"] - gates["count_passing"] - MAXIMUM_LINES),
        "without_gates": "All gates pass." if gates["count_all"] else "No gate was evaluated.",
        "findings": findings[:MAXIMUM_FINDINGS],
        "without_findings": say_what_was_tested(sections),
        "missing": missing[:MAXIMUM_LINES],
        "count_missing_left_out": max(0, len(missing) - MAXIMUM_LINES),
        "next": _list_next(failing, findings, limitations, labels),
        "signers": _list_signers(sections["scope"]["applications"]),
    }


def _describe_gate(row: Mapping[str, Any]) -> Line:
    if row["verdict"] == "not_evaluated":
        return Line(f"{row['gate_name']} was not evaluated: {row['cause'] or 'no reason is given'}.", row["anchor"])
    subject = f" of {row['subject']}" if row["subject"] else ""
    verdict = "fails" if row["verdict"] == "failed" else "is undecided"
    measured = " ".join(part for part in (row["value"], row["interval"]) if part)
    return Line(
        f"{row['gate_name']} {verdict}: {str(row['measurement']).replace('_', ' ')}{subject} is {measured},"
        f" n = {row['n']:,}, and must be {row['limit']}.",
        row["anchor"],
    )


def list_findings(sections: Mapping[str, Any]) -> list[Line]:
    """Return open findings first, then worse versions, then what only a list without a claim names."""
    weaknesses, lines, named = sections["weaknesses"], [], set()
    if weaknesses["findings"] is not None:
        for row in _choose_distinct(weaknesses["findings"]["rows"]):
            proof = (
                "confirmed on other questions" if row["kind"] == "confirmed" else f"suspected; {row['confirmation']}"
            )
            cost = f"{row['cost']}; " if row["cost"] else ""
            named.add(row["segment"])
            lines.append(
                Line(
                    f"{row['segment']} is worse than the rest in {row['measurement']} of {row['metric_name']}:"
                    f" {row['difference']} {row['interval']}{row['unit']} ({cost}{proof}).",
                    row["anchor"],
                )
            )
    for pair in sections["robustness"]["pairs"]:
        headline = pair["headline"]
        if headline is not None and headline["words"] == "worse":
            lines.append(
                Line(
                    f"Version {pair['candidate']} is worse than {pair['baseline']} in {headline['measurement']} of"
                    f" {headline['metric_name']}: {headline['difference']} {headline['interval']}{headline['unit']}.",
                    "robustness",
                )
            )
    if not lines and weaknesses["to_read"]:
        lines.append(Line(say_what_was_tested(sections), "weaknesses"))
    lines += [
        Line(
            f"To read, without a claim: {row['segment']} ({row['metric_name']}: {row['outcome']}, {row['rest']} of the"
            " rest).",
            "weaknesses",
        )
        for row in weaknesses["to_read"]
        if row["segment"] not in named
    ]
    return lines


def _choose_distinct(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return open findings without those that share a segment with an earlier one and contradict none of its
    segments."""
    chosen: list[Mapping[str, Any]] = []
    taken: list[dict[str, str]] = []
    for row in rows:
        segments = _to_segments(row["segments"])
        if row["status"] in ("open", "in progress") and not any(_crosses(segments, each) for each in taken):
            chosen.append(row)
            taken.append(segments)
    return chosen


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


def say_what_was_tested(sections: Mapping[str, Any]) -> str:
    """Return what no finding means: nothing weak among what was tested, or nothing tested."""
    has_tests = any(row["count_tested"] for row in sections["weaknesses"]["tests"])
    has_versions = any(pair["headline"] is not None for pair in sections["robustness"]["pairs"])
    cells = "No tested cell is weak" if has_tests else "No cell could be tested"
    return f"{cells}, and {'no new version is worse' if has_versions else 'no two versions could be compared'}."


def _list_missing(limitations: Mapping[str, Any], labels: Mapping[str, Any]) -> list[Line]:
    lines = []
    if limitations["provisional"]:
        count = len(limitations["provisional"])
        lines.append(Line(f"Approval of the thresholds of {count} metric{'' if count == 1 else 's'}.", "outcomes"))
    if "person" not in labels["counts"]:
        lines.append(Line("Labels by people.", "never_given" if limitations["lacks_ratings"] else "calibration"))
    if limitations["never_given"]:
        names = ", ".join(row["name"] for row in limitations["never_given"])
        lines.append(Line(f"Inputs that were never given: {names}.", "never_given"))
    # the section has the details that follow the colon
    lines += [
        Line(f"{str(gap['what']).partition(':')[0].rstrip('.')}.", str(gap["section"])) for gap in limitations["gaps"]
    ]
    return lines


def _list_next(
    failing: Sequence[Mapping[str, Any]],
    findings: Sequence[Line],
    limitations: Mapping[str, Any],
    labels: Mapping[str, Any],
) -> list[Line]:
    lines = []
    if any(row["severity"] == "error" for row in failing):
        lines.append(Line("Do not release: a gate of severity error does not pass.", "outcomes"))
    if findings:
        lines.append(Line("Read the worst answers of these cells, with their evidence.", "weaknesses"))
    if limitations["provisional"]:
        lines.append(Line("Decide the thresholds in the seed threshold_decisions, with a name and a date.", "outcomes"))
    if "person" not in labels["counts"]:
        lines.append(
            Line(
                "Have people rate a review round: hcat labels export, then hcat labels import.",
                "never_given" if limitations["lacks_ratings"] else "calibration",
            )
        )
    lines.append(Line("Sign, or state what must change first.", "sign_off"))
    return lines[:MAXIMUM_LINES]


def _list_signers(applications: Sequence[Mapping[str, Any]]) -> list[str]:
    owners = dict.fromkeys(clean_label(row["owner_role"]) for row in applications if row["owner_role"])
    return [*owners, "an independent validator"]
