"""Events: what is told about gates, drift and findings, and what is said when nothing can be told."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from alert_materials import Hcat, Server, passing, publish, send
from marts import BUILT_AT, decision, drift, finding, gate

from hcat.engine.warehouse import WarehouseError
from hcat.monitoring.alerts.delivery import WEBHOOK_VARIABLE
from hcat.monitoring.alerts.messages import MAXIMUM_SERIES


def test_a_gate_says_its_sentence_or_what_it_measured_where_names_are_hidden(tmp_path: Path, server: Server) -> None:
    reason = "75 % of the answers pass <groundedness>; at least 80 % is asked."
    cards = {"gate_name": "cards", "dimension": "topic", "segment": "cards (new)", "verdict": "undecided"}
    gates = [gate(reason=reason), gate(**cards)]
    publish(tmp_path, gates)
    send(tmp_path)
    assert [payload["text"].splitlines() for payload in server.received] == [
        [f"Gate {name}: {verdict} (error)", said, "hcat, build run_1"]
        for name, verdict, said in (
            ("cards", "undecided", "some reason"),
            ("groundedness_release", "failed", reason.replace("<", "&lt;").replace(">", "&gt;")),
        )
    ]
    (tmp_path / "alerts.jsonl").unlink()
    send(tmp_path, is_hiding_segments=True)
    shown = [payload["text"].splitlines()[1] for payload in server.received[2:]]
    measured = "(70 to 80 %, n = 1,234 scored answers); at least 80 % is asked."
    assert shown[1] == f"75 % of the answers pass `groundedness` {measured}"
    assert shown[0].startswith("75 % of the answers where `topic` is `segment ")
    # who rated and why nothing is decided are said too
    found = " (7 to 8 %, n = 9 judged answers, people rated 5); at least 80 % is asked, but <few> are needed."
    day = "Not decided before 2999-01-01; today: "
    said = f"{day}75 % of the answers where topic is cards (new) pass groundedness{found}"
    publish(tmp_path, [gate(**cards, reason=said)])
    send(tmp_path, is_hiding_segments=True, record_path=tmp_path / "again.jsonl")
    (said,) = [payload["text"].splitlines()[1] for payload in server.received[4:]]
    opening, _, ending = said.partition("`segment ")
    assert opening == f"{day}75 % of the answers where `topic` is "
    assert ending[8:] == f"` pass `groundedness`{found}".replace("<", "&lt;").replace(">", "&gt;")


def test_a_release_says_the_four_lines_of_the_first_page(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [passing()], decisions=[decision(), decision(application="calm", decision="go")])
    send(tmp_path)
    assert [payload["text"].splitlines()[:4] for payload in server.received] == [
        [
            "assistant, candidate 1.1 against 1.0: do not release. 57 % of `answers` &lt;b&gt; fail.".replace("`", "’"),
            "31 % fail. No person rated any of them.",
            "Since 2026-08-03, 77 % fail; before, 43 %.",
            "Read the ten answers that look most wrong first.",
        ]
    ]
    server.received.clear()
    # told once, and again when the decision is another one; names of segments can be hidden
    send(tmp_path)
    assert server.received == []
    publish(tmp_path, [passing()], decisions=[decision(decision="go_with_conditions")])
    send(tmp_path, is_hiding_segments=True)
    assert server.titles() == ["assistant, candidate 1.1 against 1.0: do not release."]
    assert "57 %" not in server.received[0]["text"]


@pytest.mark.parametrize("clock_ahead", [timedelta(0), timedelta(days=400)])
def test_only_the_gates_of_the_last_build_count(tmp_path: Path, server: Server, clock_ahead: timedelta) -> None:
    # the number says which build is the last one, and not the clock of the first
    first = gate(run_id="z_first", evaluated_at=(BUILT_AT + clock_ahead).replace(tzinfo=None))
    later = (BUILT_AT + timedelta(hours=1)).replace(tzinfo=None)
    publish(tmp_path, [first, passing(run_id="a_last", build_number=2, evaluated_at=later)])
    alerted = send(tmp_path)
    assert alerted.messages == ()
    assert dict(alerted.lines)["gates"] == "1 of build a_last, 2026-11-20 03:30 UTC: 0 do not pass"
    assert server.count_posts == 0


def test_series_that_drift_in_one_week_share_a_message(tmp_path: Path, server: Server) -> None:
    series = [
        *(drift(segment=f"topic {number:02}") for number in range(30)),
        drift(segment="topic 07", window_weeks=3, q_value=0.00001, difference=-0.5),
        drift(segment="calm", is_drifting=False),
        drift(segment="no week", is_drifting=False, window_end=None, status="no_timestamps", q_value=None),
        # a segment whose last questions are older
        drift(dimension="all", segment="all", window_end="2026-11-08", difference=None),
        drift(
            metric_name=None, segment="all", test="mix_shift", difference=0.25, detail="cards 10 % to 35 %", q_value=0.0
        ),
    ]
    publish(tmp_path, [passing()], series, [])
    alerted = send(tmp_path)
    assert server.titles() == ["Drift up to 2026-11-15: 31 series", "Drift up to 2026-11-08"]
    last, before = (payload["text"].splitlines() for payload in server.received)
    assert (
        before[1] == "`support_words` of `all`: moved, more than the weeks of the reference differ"
        " (90 interactions against 800)"
    )
    # the most certain first
    further = "more than the weeks of the reference differ (90 interactions against 800)"
    assert last[1] == f"the mix of `topic`: rose by 0.25, {further}"
    assert last[2] == f"`support_words` of `topic` is `topic 07`: fell by 0.5, {further}"
    assert len(last) == MAXIMUM_SERIES + 3
    assert last[-2] == "and 19 more: see fct_metric_drift"
    assert dict(alerted.lines)["drift"] == "34 series up to 2026-11-15: 32 drift"

    # one series more, one that turned round and one that is over
    series[0]["difference"] = 0.125
    series[1]["is_drifting"] = False
    publish(tmp_path, [passing()], [*series, drift(segment="late")], [])
    server.received.clear()
    send(tmp_path)
    assert server.titles() == ["Drift up to 2026-11-15: 2 series", "No drift any more up to 2026-11-15"]
    assert server.received[0]["text"].splitlines()[1:-1] == [
        f"`support_words` of `topic` is `late`: fell by 0.125, {further}",
        f"`support_words` of `topic` is `topic 00`: rose by 0.125, {further}",
        "before: drifting down, 2026-11-20 03:30 UTC",
    ]
    assert "`topic 01`" in server.received[1]["text"]


def test_a_finding_says_where_and_how_much(tmp_path: Path, server: Server) -> None:
    marginal = finding(finding_id="beef", second_dimension=None, second_segment=None, severity=None)
    suspected = [
        finding(finding_id=name, kind="suspected", new_difference=None, severity=severity, **changes)
        for name, severity, changes in (
            ("cafe", "minor", {}),
            ("0123456789", "severe", {}),
            ("bead", "severe", {"measurement": "mean_score", "difference": 0.125}),
        )
    ]
    taken_up = [finding(finding_id=name, status=name) for name in ("accepted", "in_progress")]
    # one of each hole
    explained = finding(finding_id="dead", leading_finding_id="f00d")
    publish(tmp_path, [passing()], [], [finding(), explained, marginal, *suspected, *taken_up])
    alerted = send(tmp_path)
    texts = dict(zip(server.titles(), [payload["text"].splitlines() for payload in server.received], strict=True))
    assert texts.keys() == {
        "Confirmed weakness in support_words (info)",
        "Confirmed weakness in support_words (high)",
        "2 severe weaknesses that are not yet confirmed",
    }
    assert texts["Confirmed weakness in support_words (info)"][1] == (
        "`support_words` where `topic` is `mortgages`: 25 more answers in a hundred fail than elsewhere; "
        "on clusters newer than the finding (finding beef)"
    )
    cell = "`support_words` where `topic` is `mortgages` and `system` is `assistant 2`"
    assert texts["Confirmed weakness in support_words (high)"][1] == (
        f"{cell}: 25 more answers in a hundred fail than elsewhere; on clusters newer than the finding (finding f00d)"
    )
    # a minor one is no alert, and an id of digits is no number of a person
    not_confirmed = "suspected, not yet confirmed on new clusters"
    assert texts["2 severe weaknesses that are not yet confirmed"][1:3] == [
        f"{cell}: 50 more answers in a hundred fail than elsewhere; {not_confirmed} (finding 0123456789)",
        f"{cell}: the mean is worse by 0.125 than elsewhere; {not_confirmed} (finding bead)",
    ]
    assert dict(alerted.lines)["findings"] == "6 confirmed or severe: 4 open and not taken up"


def test_missing_tables_are_named(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate()])
    said = dict(send(tmp_path).lines)
    assert said["copy"] == str(tmp_path / "published" / "candidate" / "hcat.duckdb")
    assert said["gates"] == "1 of build run_1, 2026-11-20 02:30 UTC: 1 do not pass"
    assert said["drift"] == "not looked at: the copy has no fct_metric_drift.leading_drift_id"
    assert said["findings"] == "not looked at: the copy has no fct_findings.page_rank"
    assert len(server.received) == 1


def test_nothing_to_look_at_is_no_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hcat: Hcat) -> None:
    monkeypatch.delenv(WEBHOOK_VARIABLE, raising=False)
    database = tmp_path / "published" / "candidate" / "hcat.duckdb"
    wanted = f"hcat: no candidate copy at {database}: `dbt build` writes it, also when a gate fails\n"
    assert hcat("alert", "--warehouse", tmp_path, code=2) == wanted
    publish(tmp_path, [], [drift()])
    wanted = f"hcat: no evaluated gate in {database}: `dbt build` evaluates them, nothing can be said without\n"
    assert hcat("alert", "--warehouse", tmp_path, code=2) == wanted


def test_a_build_that_stopped_coming_is_an_alert(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [passing()])
    assert send(tmp_path, now=BUILT_AT + timedelta(days=30)).messages == ()
    assert send(tmp_path, now=BUILT_AT + timedelta(hours=36), maximum_age_hours=36).messages == ()
    send(tmp_path, now=BUILT_AT + timedelta(hours=37), maximum_age_hours=36)
    assert server.titles() == ["No build since 2026-11-20 02:30 UTC"]
    publish(tmp_path, [passing(evaluated_at=datetime(2026, 11, 22, 2, 30))])
    send(tmp_path, now=BUILT_AT + timedelta(days=2), maximum_age_hours=36)
    assert server.titles()[1:] == ["Builds run again: the last one started 2026-11-22 02:30 UTC"]


@pytest.mark.parametrize(
    ("last", "title"),
    [
        (("started", "run_2", True), "The last build was killed; it started 2026-11-21 02:30 UTC"),
        # its gates are in the copy, and it was killed before the other tables were
        (("started", "run_1", True), "The last build was killed; it started 2026-11-21 02:30 UTC"),
        (("ended", "run_2", True), "The last build, of 2026-11-21 02:30 UTC, did not publish its tables"),
        (("ended", "run_1", False), "The last build, of 2026-11-21 02:30 UTC, did not publish its tables"),
        (("ended", "run_1", True), None),
    ],
)
def test_a_last_build_that_published_nothing_is_an_alert(
    tmp_path: Path, server: Server, last: tuple[str, str, bool], title: str | None
) -> None:
    publish(tmp_path, [passing()])
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        values = dict(zip(("event", "run", "passes"), last, strict=True))
        connection.execute(
            "create table hcat_builds as select $run as run_id, $event as event, 2 as build_number,"
            " timestamp '2026-11-21 02:30' as logged_at",
            {"run": values["run"], "event": values["event"]},
        )
        connection.execute(
            "create table dim_runs as select $run as run_id, 2 as build_number, timestamp '2026-11-21 02:30' as"
            " started_at, 3 as count_gates, 0 as count_error_gates_not_passing, $passes as is_passing",
            {"run": values["run"], "passes": values["passes"]},
        )
    now = BUILT_AT + timedelta(days=2)
    send(tmp_path, now=now)
    assert server.titles() == ([title] if title else [])
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        connection.execute(
            "update hcat_builds set event = 'ended'; update dim_runs set run_id = 'run_1', is_passing = true"
        )
    send(tmp_path, now=now)
    assert server.titles()[1:] == (
        ["The last build, of 2026-11-21 02:30 UTC, ended, and the copy has its gates"] if title else []
    )


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("reminder_days", 0),
        ("reminder_days", float("nan")),
        ("maximum_age_hours", -1),
        ("maximum_age_hours", float("inf")),
    ],
)
def test_settings_out_of_range_say_both_sides(setting: str, value: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"must lie in .+, got {value}"):
        send(tmp_path, **{setting: value})


def test_a_dry_run_prints_and_leaves_no_trace(tmp_path: Path, server: Server, hcat: Hcat) -> None:
    publish(tmp_path, [gate()], [drift()], [finding()])
    shown = hcat("alert", "--warehouse", tmp_path, "--dry-run").splitlines()
    payloads = [json.loads(line) for line in shown if line.startswith("{")]
    assert [payload["text"].splitlines()[0] for payload in payloads] == [
        "Gate groundedness_release: failed (error)",
        "Drift up to 2026-11-15",
        "Confirmed weakness in support_words (high)",
    ]
    assert " ".join(shown[-1].split()) == "alerts 3 due, none sent"
    assert server.count_posts == 0
    assert not (tmp_path / "alerts.jsonl").exists()


def test_the_warehouse_itself_is_not_opened(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate()])
    # a build holds the warehouse: alerts read the published copy
    (tmp_path / "hcat.duckdb").write_bytes(b"held by a writer")
    send(tmp_path)
    assert len(server.received) == 1
    with pytest.raises(WarehouseError, match="cannot be opened"):
        send(tmp_path / "hcat.duckdb")
