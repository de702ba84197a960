"""The validation report from made-up marts: every section shows its evidence, or says what is missing and whence."""

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from marts import MODELS, comparison, drift, finding, insert, read_marts
from test_report import make_warehouse, parse

from hcat import report
from hcat.report.document import APPENDIX, QUESTIONS
from hcat.report.weaknesses import MEASUREMENTS, RETESTS, TEST_STATUSES

METRIC = "groundedness_similarity__mean"


# Cells alternate: weak, not shown weak, too small to test; differences fall with the number.
TEST_CELLS = """
update {mart} as marts
set
    measurement = case when cells.number % 5 = 4 then 'mean_score' else 'share_failing' end,
    value = 0.6,
    rest_value = 0.3,
    difference = 0.3 / cells.number,
    difference_lower = 0.3 / cells.number - 0.1,
    difference_upper = 0.3 / cells.number + 0.1,
    q_value = least(0.004 * cells.number, 1),
    margin = 0.02,
    minimum_detectable_difference = 0.15,
    test_status = case when marts.is_small then 'too_few_clusters' else 'tested' end,
    is_weak = cells.number < 3 and not marts.is_small
from (
    select {key}, row_number() over (order by metric_name <> '{metric}', is_small, share_failing desc nulls last, {key})
        as number
    from {mart}
    where {where}
) as cells
where marts.{key} = cells.{key}
"""


def add_weakness_tests(connection: Any) -> None:
    for mart, key, where in (
        ("fct_marginal_weaknesses", "marginal_weakness_id", "dimension <> 'all'"),
        ("fct_bivariate_weaknesses", "bivariate_weakness_id", "true"),
    ):
        connection.execute(TEST_CELLS.format(mart=mart, key=key, where=where, metric=METRIC))


def add_seeds(connection: Any, text: str) -> None:
    application = {
        "application": f"assistant{text}",
        "owner_role": f"Head of service{text}",
        "materiality": "medium",
        "risk_appetite": "moderate",
        "purpose": f"answers questions{text}",
        "limits": f"no advice{text}",
        "is_made_up": True,
    }
    insert(connection, "applications", [application])
    connection.execute("update fct_interactions set application = 'assistant' || $text", {"text": text})
    connection.execute("update fct_interactions set application_version = system, query_id = interaction_id")
    risk = {"application": f"assistant{text}", "description": f"can happen{text}", "mitigation": f"do this{text}"}
    rows = [
        {**risk, "risk_id": f"a{text}", "metric_name": "support_words", "control_gate": f"gate 0{text}"},
        {**risk, "risk_id": f"b{text}", "criterion": "faithfulness", "control_gate": "gate that never ran"},
        {**risk, "risk_id": f"c{text}"},
    ]
    insert(connection, "risks", rows)


def add_findings(connection: Any, text: str) -> None:
    seen = {"first_seen_at": "2026-05-01", "last_seen_at": "2026-06-01", "count_runs_seen": 2}
    waiting = {"confirmation_status": "waiting", "count_needed_to_confirm": 1234}
    again = {"confirmation_status": "confirmed", "count_new_interactions": 41, "new_difference": 0.2}
    rows = [
        ("f1", "confirmed", "open", "weak", again),
        ("f2", "suspected", "in_progress", "not_shown", waiting),
        ("f3", "suspected", "closed_by_data", "no_longer_weak", waiting),
    ]
    rows = [
        finding(finding_id=f"{name}-finding")
        | seen
        | confirmation
        | dict.fromkeys(("count_labels_inside", "count_failed_labels_inside"), 20)
        | dict.fromkeys(("count_labels_outside", "count_failed_labels_outside"), 7)
        | {
            "metric_name": METRIC,
            "first_segment": f"cards{text}",
            "second_dimension": None,
            "second_segment": None,
            "leading_finding_id": "f1-finding",
            "page_rank": 1 if name == "f1" else None,
            "labels_say": "supported",
            "labels_by": "person",
            "common_fault": "number (14 of 19)",
            "example_interaction_ids": ["i00001"],
            "failed_answers_a_week": 2.0,
            "failed_answers_basis": "production",
            "kind": kind,
            "status": status,
            "retest_result": retest,
            "severity": "severe",
            "owner": None if status == "open" else f"team{text}",
            "note": f"note{text}",
            "difference": 0.3,
            "difference_lower": 0.1,
            "difference_upper": 0.5,
        }
        for name, kind, status, retest, confirmation in rows
    ]
    insert(connection, "fct_findings", rows)
    cause = {"interaction_id": "i00001", "metric_name": METRIC}
    faults = ["retrieval", "generation", "generation", "undetermined"]
    insert(connection, "fct_failure_causes", [{**cause, "fault": fault} for fault in faults])


def add_versions(connection: Any, text: str) -> None:
    names = {name: value + text for name, value in comparison().items() if name.endswith(("application", "_version"))}
    pair = comparison(**names, metric_name=METRIC, q_value=0.01)
    rows = [
        pair,
        pair | {"metric_name": "support_words", "verdict": "no_difference_shown", "measurement": "mean_score"},
        pair | {"dimension": "topic", "segment": f"cards{text}"},
    ]
    insert(connection, "fct_version_comparisons", rows)


def add_monitoring(connection: Any, text: str) -> None:
    alarm = drift(metric_name=METRIC, segment=f"cards{text}", window_start="2026-05-25", window_end="2026-05-31")
    whole = alarm | {"dimension": "all", "segment": "all", "leading_drift_id": None, "is_drifting": False}
    mix = whole | {"test": "mix_shift", "metric_name": None, "is_drifting": True}
    rows = [
        alarm | {"difference_lower": -0.3, "difference_upper": -0.1},
        whole,
        whole | {"test": "mix_shift", "status": "too_few_window"},
        mix | {"detail": f"cards{text} from 10 % to 40 %"},
    ]
    insert(connection, "fct_metric_drift", rows)
    represented = {"status": "compared", "count_test_set": 20, "count_production": 80}
    represented |= {"dimension": "topic", "share_production": 0.2, "is_representative": False}
    represented |= {"statistic": 9.0, "limit_value": 6.0}
    rows = [
        {**represented, "segment": f"cards{text}", "share_test_set": 0.0, "difference": -0.2, "is_untested": True},
        {
            **represented,
            "segment": f"fees{text}",
            "share_test_set": 0.5,
            "difference": 0.3,
            "difference_lower": 0.1,
            "difference_upper": 0.5,
            "is_untested": False,
        },
    ]
    insert(connection, "fct_representativeness", rows)
    varied = {"system": f"system 0{text}", "metric_name": METRIC}
    varied |= {"status": "measured", "count_replicated_queries": 8, "count_replicated_clusters": 8}
    varied |= {"variance_between": 0.04, "variance_within": 0.01, "share_of_variance_within": 0.2, "flip_rate": 0.125}
    shares = {"share_queries_flipping": 0.25, "share_queries_flipping_lower": 0.1, "share_queries_flipping_upper": 0.5}
    insert(connection, "fct_replicate_variation", [{**varied, **shares}])


def make_evidence(folder: Path) -> Path:
    """A warehouse in which no section lacks its evidence, but for robustness pairs and calibration."""
    return add_evidence(make_warehouse(folder))


def add_evidence(warehouse: Path, text: str = "") -> Path:
    """Seeds and the marts of weakness, versions, robustness and monitoring for a warehouse of test_report."""
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        for seed in ("demo/seeds/applications.csv", "demo/seeds/risks.csv"):
            path = MODELS.parent / seed
            connection.execute(f"create table {path.stem} as from read_csv('{path}') limit 0")
        add_seeds(connection, text)
        add_weakness_tests(connection)
        add_findings(connection, text)
        add_versions(connection, text)
        add_monitoring(connection, text)
    return warehouse


def read_section(page: str, name: str) -> str:
    start = page.index(f'<section id="{name}">')
    return page[start : page.index("</section>", start)]


def read_text(html: str) -> str:
    return " ".join(" ".join(parse(html).text).split())


@pytest.fixture
def page(evidence_page: str) -> str:
    return evidence_page


@pytest.fixture(scope="module")
def bare_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of a database with an empty ledger and no other table."""
    folder = tmp_path_factory.mktemp("bare")
    with duckdb.connect(str(make_evidence(folder) / "hcat.duckdb")) as connection:
        tables = connection.execute("select table_name from duckdb_tables()").fetchall()
        for table in sorted({name for (name,) in tables} - {"dim_runs"}):
            connection.execute(f"drop table {table}")
        connection.execute("delete from dim_runs")
    return report.render_report(folder)


def test_questions_stand_before_the_appendix(page: str) -> None:
    titles = re.findall(r"<h2>(\d+)\. ([^<]+)</h2>", page)
    assert [int(number) for number, _ in titles] == list(range(1, len(titles) + 1))
    assert [title for _, title in titles] == [title for _, title in QUESTIONS]
    # without a comparison of people, Equal treatment is left out
    folded = re.findall(r"<summary><h3>([A-L])\. ([^<]+)</h3></summary>", page)
    assert [title for _, title in folded] == [title for name, title in APPENDIX if name != "bias"]


def test_the_report_is_short_before_its_appendix(page: str) -> None:
    assert len(read_text(page[page.index("<body>") : page.index('id="appendix"')]).split()) < 6000


def test_no_word_promises_what_evidence_cannot(page: str, hostile_page: str) -> None:
    for text in (read_text(page), read_text(hostile_page)):
        assert not re.search(r"(?i:complian)|\bNone\b|\bnan\b|\bundefined\b", text)


def test_hostile_text_makes_no_tag_and_no_attribute(page: str, hostile_page: str) -> None:
    plain, hostile = parse(page), parse(hostile_page)
    assert set(hostile.tags) <= set(plain.tags) | {"tspan"}
    attributes = {(tag, name) for tag, name, _ in plain.attributes}
    # the picture of a calibrator, which the plain page lacks, has a title
    attributes |= {("tspan", "x"), ("tspan", "dy"), ("span", "dir"), ("g", "aria-label")}
    assert {(tag, name) for tag, name, _ in hostile.attributes} <= attributes
    assert "\u202e" not in hostile_page
    assert "\x1b" not in hostile_page
    for name in ("scope", "data", "weaknesses", "robustness", "calibration", "changes"):
        assert "<script>alert(1)</script>" in "".join(parse(read_section(hostile_page, name)).text), name


@pytest.mark.parametrize("fixture", ["page", "hostile_page"])
def test_every_picture_has_a_name_a_caption(fixture: str, request: pytest.FixtureRequest) -> None:
    text = request.getfixturevalue(fixture)
    figures = re.findall(r"<figure[^>]*>.*?</figure>", text, re.S)
    assert len(figures) >= 2
    for figure in figures:
        name = re.search(r'<svg[^>]* role="img" aria-label="([^"]+)"', figure)
        assert name
        assert len(name[1]) > 20
        assert "<figcaption>" in figure


def test_a_ledger_without_a_build_is_a_report_of_what_is_missing(bare_page: str) -> None:
    text = read_text(bare_page)
    assert len(re.findall(r"<h2>\d", bare_page)) == len(QUESTIONS)
    assert bare_page.count("Missing evidence.") >= 10
    for mart in ("fct_representativeness", "fct_findings", "fct_version_comparisons", "fct_metric_drift"):
        assert mart in text
    assert "No release was decided: no application has a candidate." in text
    assert "The warehouse holds no ledger row" in text
    assert "this copy of the warehouse lacks the seed applications" in text
    # the limitations gather what the sections say
    listed = read_section(bare_page, "limitations").count('<th scope="row">')
    assert listed >= bare_page.count("Missing evidence.")


def test_scope_shows_purpose_risks_and_the_verdict_of_their_gates(page: str) -> None:
    text = read_text(read_section(page, "assistant"))
    assert "answers questions" in text
    assert "made up for the demo" in text
    text = read_text(read_section(page, "scope"))
    assert "✓ passed" in text
    # a gate that never ran controls nothing
    assert "gate that never_" not in text
    assert "– not evaluated" in text
    # three rows and the head of the column
    assert text.count("can happen") == 4


def test_data_show_what_the_test_set_leaves_out(page: str) -> None:
    text = read_text(read_section(page, "data"))
    assert "en 60 (logged)" in text
    assert "differs" in text
    assert "untested" in text
    assert "+30.0 [+10.0, +50.0]" in text
    assert "−20.0" in text


def test_every_metric_of_the_catalogue_is_explained(page: str) -> None:
    text = read_text(read_section(page, "metrics"))
    for name in ("semantic_ similarity", "support_ words", "refusal_ as_ expected"):
        assert f"what {name.replace('_ ', '_')} says" in text
    assert "cosine, −1 to 1" in text
    assert "It compares meanings, not facts" in text


def test_weaknesses_are_marked_as_the_tests_say(page: str) -> None:
    section = read_section(page, "weaknesses")
    text = read_text(section)
    assert re.search(r" (?:headline|other|–) weak ", text)
    assert "not shown to be weak" in text
    # .3 in 1: the first cell of each mart
    assert text.count("+30.0") >= 2
    assert "[+20.0, +40.0]" in text
    # of four interactions with known source chunks, one failed by generation
    assert text.endswith("system 0 4 0 1")


def test_findings_are_one_of_each_hole_with_what_the_labels_say(page: str) -> None:
    text = read_text(read_section(page, "where"))
    assert "supported 20 of 20 labelled answers fail, elsewhere 7 of 7; rated by people" in text
    assert "rated by people; most faults: number (14 of 19) i00001" in text
    # the second finding is in the same hole; the third is closed
    assert "first: topic = cards" in text
    assert text.count("+30.0 percentage points [+10.0, +50.0]") == 1
    assert "severe: 2.00 more failed answers a week (users)" in text
    assert "Confirmed on 41 new answers: +20.0 percentage points." in text
    assert "f3-finding" not in text


@pytest.fixture(scope="module")
def changed_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of an application without a purpose, scores that are not admitted, and a loss in the headline."""
    warehouse = make_evidence(tmp_path_factory.mktemp("changed"))
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("update fct_interactions set application = 'other' where interaction_id = 'i00000'")
        connection.execute("update fct_findings set page_rank = null")
        connection.execute("update dim_metrics set is_deciding = false")
        connection.execute(
            "update fct_version_comparisons set family = 'headline', release_answer = 'loss_shown',"
            " tolerated_loss = 0.05, target_difference = 0.05, count_days = 3 where verdict = 'worse'"
        )
    return report.render_report(warehouse)


def test_an_application_without_a_purpose_is_a_gap(changed_page: str) -> None:
    text = read_text(changed_page)
    assert "Purpose and owner of other: the seed applications has no row for them." in text


def test_a_score_that_is_not_admitted_makes_no_finding(changed_page: str) -> None:
    text = read_text(read_section(changed_page, "where"))
    assert "No tested segment is shown to be weak by a score that may decide." in text
    assert re.search(r"Weak by scores that may not decide: \d+, first .+\(\w+\)", text)


def test_the_main_page_tells_the_gain_and_no_second_rate(changed_page: str, evidence_page: str) -> None:
    assert "topic = cards" in read_text(read_section(evidence_page, "better"))
    text = read_text(read_section(changed_page, "better"))
    assert "1.1 against 1.0, on 30 questions judged in both: worse. Gain by groundedness_similarity__mean:" in text
    assert "A loss of more than 5 percentage points is shown. A version answered on few days (3)" in text
    assert "→" not in text
    assert "<" not in text
    # by a score that may not decide
    assert "topic = cards" not in text
    text = read_text(read_section(changed_page, "robustness"))
    assert "assistant, 1.0 → 1.1: A version answered on few days (3)" in text


def test_replicates_are_shown(page: str) -> None:
    text = read_text(read_section(page, "robustness"))
    # standard deviations of .04 and .01
    assert "8 8 0.200 0.100 20.0 % 12.5 % 25.0 % [10.0, 50.0] %" in text


def test_limitations_count_what_was_not_evaluated(page: str) -> None:
    text = read_text(read_section(page, "limitations"))
    assert "Gates undecided" in text
    assert "Provisional decisions" in text
    assert "Segments of one dimension : 0 of" in text or "Segments of one dimension: 0 of" in text
    assert "whether an answer depends on the wording of the query" in text


def test_drift_is_counted_and_what_may_decide_is_listed(page: str) -> None:
    text = read_text(read_section(page, "monitoring"))
    assert "Of 4 series and windows, 3 were tested and 2 drift; the last window starts on 2026-05-25." in text
    assert "topic = cards" in read_text(read_section(page, "changes"))


def test_the_page_to_sign_holds_nothing_but_blanks_and_the_build(page: str) -> None:
    section = read_section(page, "sign_off")
    text = read_text(section)
    assert "run_1" in text
    assert text.count("☐") == 12
    rows = re.findall(r"<tr><th scope=.row.>[^<]+</th><td></td>.*?<td></td><td></td></tr>", section)
    assert len(rows) == 4


def test_every_status_of_the_contracts_has_words() -> None:
    vocabularies: dict[tuple[str, str], set[str]] = {}
    for model in read_marts():
        for column in model["columns"]:
            for constraint in column.get("constraints", []):
                values = re.fullmatch(r"\w+ in \((.*)\)", str(constraint.get("expression", "")).strip(), re.S)
                if values:
                    vocabularies[model["name"], column["name"]] = set(re.findall(r"'([^']*)'", values[1]))
    known = {
        ("fct_findings", "retest_result"): set(RETESTS),
        ("fct_version_comparisons", "measurement"): set(MEASUREMENTS),
        ("fct_marginal_weaknesses", "test_status"): set(TEST_STATUSES),
    }
    for place, words in known.items():
        assert vocabularies.get(place, words) <= words, place
    assert ("fct_findings", "retest_result") in vocabularies
