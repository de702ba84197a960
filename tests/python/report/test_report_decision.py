"""The first page: what does not pass, what matters, what is missing, and what to do next."""

from __future__ import annotations

from typing import Any

from hcat.report.decision import MAXIMUM_FINDINGS, MAXIMUM_LINES, describe_decision

GATE = {
    "gate_name": "release",
    "anchor": "gate-release",
    "verdict": "failed",
    "severity": "warn",
    "is_passing": False,
    "measurement": "share_passing",
    "subject": "groundedness",
    "value": "72.4 %",
    "interval": "[67.2, 77.0] %",
    "n": 1391,
    "limit": "≥ 80.0 %",
    "cause": "",
}
FINDING = {
    "anchor": "finding-1",
    "unit": " percentage points",
    "segment": "topic = fees",
    "segments": [("topic", "fees")],
    "cost": "explains 12.0 % of the failures, at least 4.00 %",
    "status": "open",
    "kind": "suspected",
    "confirmation": "needs 40 new interactions to be confirmed",
    "measurement": "share failing",
    "metric_name": "groundedness",
    "difference": "+20.0",
    "interval": "[+5.0, +35.0]",
}
READING = {"segment": "topic = cards", "metric_name": "groundedness", "outcome": "4 of 9 failed", "rest": "20.0 %"}
PAIR = {"baseline": "1.0", "candidate": "1.1"}
HEADLINE = {
    "metric_name": "groundedness",
    "measurement": "share failing",
    "difference": "+8.0",
    "interval": "[+2.0, +14.0]",
    "unit": " percentage points",
}
NOTHING: dict[str, Any] = {"provisional": [], "gaps": [], "never_given": [], "lacks_ratings": False}
PEOPLE = {"counts": {"person": 100}}


def describe(
    gates: Any = (),
    findings: Any = (),
    to_read: Any = (),
    pairs: Any = (),
    limitations: Any = NOTHING,
    labels: Any = PEOPLE,
    count_tested: int = 9,
) -> dict[str, Any]:
    sections = {
        "outcomes": {
            "gates": {
                "rows": list(gates),
                "count_all": len(gates),
                "count_passing": sum(1 for row in gates if row["is_passing"]),
            }
        },
        "weaknesses": {
            "findings": {"rows": list(findings)},
            "to_read": list(to_read),
            "tests": [{"count_tested": count_tested}],
        },
        "robustness": {"pairs": list(pairs)},
        "scope": {"applications": [{"owner_role": "Head of service"}, {"owner_role": "Head of service"}]},
    }
    return describe_decision(sections, limitations, labels)


def test_a_build_without_faults_only_waits_for_signatures() -> None:
    decision = describe(gates=[GATE | {"is_passing": True, "verdict": "passed"}])
    assert (decision["gates"], decision["findings"], decision["missing"]) == ([], [], [])
    assert [line.text for line in decision["next"]] == ["Sign, or state what must change first."]
    assert decision["signers"] == ["Head of service", "an independent validator"]
    assert decision["without_gates"] == "All gates pass."
    assert decision["without_findings"] == "No tested cell is weak, and no two versions could be compared."


def test_what_was_not_tested_is_not_said_to_be_good() -> None:
    decision = describe(count_tested=0, pairs=[PAIR | {"headline": HEADLINE | {"words": "no significant difference"}}])
    assert decision["without_gates"] == "No gate was evaluated."
    assert decision["without_findings"] == "No cell could be tested, and no new version is worse."


def test_cells_to_read_stand_behind_the_statement_that_no_cell_is_weak() -> None:
    texts = [line.text for line in describe(to_read=[READING])["findings"]]
    assert texts[0] == "No tested cell is weak, and no two versions could be compared."
    assert texts[1].startswith("To read, without a claim: topic = cards")


def test_a_gate_says_what_was_measured_or_why_it_was_not() -> None:
    gates = [
        GATE,
        GATE | {"gate_name": "count", "measurement": "count_leaks", "subject": "", "value": "3", "interval": ""},
        GATE | {"gate_name": "empty", "verdict": "not_evaluated", "cause": "nothing was measured"},
    ]
    assert [line.text for line in describe(gates=gates)["gates"]] == [
        "release fails: share passing of groundedness is 72.4 % [67.2, 77.0] %, n = 1,391, and must be ≥ 80.0 %.",
        "count fails: count leaks is 3, n = 1,391, and must be ≥ 80.0 %.",
        "empty was not evaluated: nothing was measured.",
    ]
    many = describe(gates=[GATE] * 9)
    assert (len(many["gates"]), many["count_gates_left_out"]) == (MAXIMUM_LINES, 9 - MAXIMUM_LINES)


def test_findings_come_before_worse_versions_and_cells_to_read() -> None:
    decision = describe(
        findings=[
            FINDING,
            # a part of the first, named with a joint dimension
            FINDING | {"segments": [("system", "1.0"), ("topic x query_type", "fees x yes_no")], "segment": "part"},
            FINDING | {"status": "closed_by_data"},
        ],
        to_read=[READING, READING | {"segment": "topic = fees"}, READING | {"segment": "topic = loans"}],
        pairs=[
            PAIR | {"headline": HEADLINE | {"words": "worse"}},
            PAIR | {"headline": None},
            PAIR | {"headline": HEADLINE | {"words": "no significant difference"}},
        ],
    )
    texts = [line.text for line in decision["findings"]]
    assert len(texts) == MAXIMUM_FINDINGS
    assert decision["findings"][0].anchor == "finding-1"
    assert "[+5.0, +35.0] percentage points (" in texts[0]
    assert texts[0].startswith("topic = fees is worse than the rest in share failing of groundedness: +20.0")
    assert "(explains 12.0 % of the failures, at least 4.00 %; suspected; needs 40 new" in texts[0]
    assert texts[1].startswith("Version 1.1 is worse than 1.0 in share failing of groundedness")
    # the finding is not named twice
    assert texts[2] == "To read, without a claim: topic = cards (groundedness: 4 of 9 failed, 20.0 % of the rest)."


def test_what_is_missing_and_what_to_do_follow_from_the_build() -> None:
    limitations = {
        "provisional": ["groundedness", "privacy"],
        "gaps": [{"what": f"gap {n}: this mart is lacking.", "section": "data"} for n in range(6)],
        "never_given": [{"name": "times"}, {"name": "ratings"}],
        "lacks_ratings": True,
    }
    decision = describe(
        [GATE | {"severity": "error"}], [FINDING], limitations=limitations, labels={"counts": {"unknown": 3}}
    )
    assert [line.text for line in decision["missing"]][:4] == [
        "Approval of the thresholds of 2 metrics.",
        "Labels by people.",
        "Inputs that were never given: times, ratings.",
        "gap 0.",
    ]
    # the section on labels is left out, so that its line leads to the list of inputs
    assert [line.anchor for line in decision["missing"]][:4] == ["outcomes", "never_given", "never_given", "data"]
    assert decision["count_missing_left_out"] == 4
    assert [line.text.split(":")[0].split(",")[0] for line in decision["next"]] == [
        "Do not release",
        "Read the worst answers of these cells",
        "Decide the thresholds in the seed threshold_decisions",
        "Have people rate a review round",
        "Sign",
    ]
