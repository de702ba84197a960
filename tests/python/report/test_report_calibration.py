"""The report on calibration: verdicts by hand, a sentence for every status, hostile text as text, small, whole."""

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from marts import create_marts, insert
from test_report import add_metrics, add_run, make_warehouse
from test_report_evidence import read_section, read_text

from hcat import report
from hcat.engine.warehouse import Warehouse
from hcat.report import blocks, charts
from hcat.report.calibration.section import choose_calibrated_metric, judge_calibration

METRIC = "groundedness_similarity__mean"
UNCALIBRATED_METRIC = "support_words"

#: Failed below .5 but for every seventh answer, so that both labels occur on both sides.
LABEL_SCORES = """
update fct_evaluations
set
    human_label = case
        when (raw_score > 0.5) <> (cast(right(interaction_id, 5) as integer) % 7 = 0) then 1 else 0
    end,
    calibrated_probability = 0.05 + 0.9 * raw_score,
    prediction_set = case
        when raw_score < 0.3 then 'failed' when raw_score < 0.7 then 'accepted|failed' else 'accepted'
    end
where metric_name = $metric_name
"""

QUALITY = {
    "criterion": "faithfulness",
    "status": "measured",
    "calibration_error_status": "measured",
    "count_labels": 40,
    "count_clusters": 30,
    "calibration_error": 0.04,
    "calibration_error_limit": 0.11,
    "log_loss_difference_status": "measured",
    "log_loss_difference": -0.2,
    "log_loss_difference_low": -0.3,
    "log_loss_difference_high": -0.1,
    "calibration_slope": 0.95,
    "calibration_slope_low": 0.7,
    "calibration_slope_high": 1.3,
    "auroc": 0.83,
    "auroc_low": 0.75,
    "auroc_high": 0.9,
    "is_within_chance": True,
}


def add_calibrators(connection: Any, text: str) -> None:
    fitted = {"criterion": f"faithfulness{text}", "segment": "all", "count_labels": 60, "count_clusters": 50}
    reason = {**fitted, "status": "insufficient", "message": f"a class has fewer than 20 labels{text}"}
    rows = [
        {**fitted, "metric_name": METRIC, "family": "logistic", "status": "fitted", "is_chosen": True},
        {**reason, "metric_name": METRIC, "family": "isotonic", "is_chosen": False},
        {**reason, "metric_name": UNCALIBRATED_METRIC, "family": "logistic", "is_chosen": False},
    ]
    insert(connection, "fct_calibrators", rows)
    chosen = QUALITY | {"metric_name": METRIC, "calibrator": "logistic", "is_chosen": True}
    insert(connection, "fct_calibration_quality", [chosen])


def add_conformal(connection: Any, text: str) -> None:
    common = {"metric_name": METRIC, "criterion": "faithfulness", "status": "measured", "alpha": 0.1}
    common |= {"count_labels": 40, "count_clusters": 30, "coverage": 0.925, "share_single": 0.6, "share_all": 0.4}
    rows: list[dict[str, Any]] = [
        {"stratification": "label_conditional", "scope": "marginal", "share_decidable": 0.69},
        {
            "stratification": "label_conditional",
            "scope": "label",
            "stratum": "other",
            "human_label": 1,
            "quantile_status": "conformalized",
        },
        {"stratification": "label_conditional", "scope": "label", "stratum": "other", "human_label": 0},
        {"stratification": "label_conditional", "scope": "group", "stratum": f"system 0{text}"},
        {},
    ]
    insert(connection, "fct_conformal_coverage", [common | row for row in rows])


def add_thresholds(connection: Any, text: str) -> None:
    common = {
        "metric_name": METRIC,
        "confidence": 0.9,
        "risk_appetite": f"high{text}",
        "count_fit_accepted": 35,
        "count_fit_failed": 25,
        "count_fit_clusters": 50,
        "interval_level": 0.99,
        "false_accept_count_labels": 20,
        "false_reject_count_labels": 20,
    }
    errors = {
        f"false_{name}_{key}": value
        for name in ("accept", "reject")
        for key, value in {"rate": 0.05, "rate_lower": 0.01, "rate_upper": 0.09, "tolerated_share": 0.1}.items()
    }
    rows: list[dict[str, Any]] = [
        {"method": "roc_cost", "kind": "acceptance", "status": "ok", "threshold": 0.6, "verdict": "within", **errors},
        {
            "method": "conformal",
            "kind": "acceptance",
            "status": "no_threshold",
            "accepts": "none",
            "verdict": "no_threshold",
        },
        {"method": "pass_quantile", "kind": "monitoring", "threshold": 0.3, "verdict": "beyond", **errors},
    ]
    rows = [common | {"is_shown": True, "is_decided": row.get("threshold") == 0.6} | row for row in rows]
    insert(connection, "fct_metric_thresholds", rows)
    row = {
        "metric_name": METRIC,
        "kind": "acceptance",
        "method": "logistic",
        "risk_appetite": f"high{text}",
        "confidence": 0.9,
        "threshold": 0.7,
        "false_accept_rate": 0.04,
        "false_reject_rate": 0.3,
        "expected_cost": 0.125,
    }
    insert(connection, "fct_metric_thresholds", [row])
    band = {"metric_name": METRIC, "criterion": "faithfulness", "direction": "higher_is_better", "count_clusters": 18}
    band |= {"failure_rate_low": 0.02, "failure_rate_high": 0.19, "failure_rate": 0.073}
    rows = [
        band | {"band": 1, "upper_bound": 0.5, "count_labels": 40, "count_failed": 20},
        band | {"band": 2, "lower_bound": 0.5, "count_labels": 41, "count_failed": 3},
    ]
    insert(connection, "fct_score_bands", rows)


def add_rates_and_labels(connection: Any, text: str) -> None:
    row = {
        "metric_name": METRIC,
        "purpose": "half_width",
        "label_status": "labels_missing",
        "target": 0.05,
        "confidence": 0.95,
        "count_labels": 60,
        "count_labels_needed": 385,
        "count_labels_missing": 325,
    }
    insert(connection, "fct_labels_needed", [row])
    agreement = {"criterion": f"faithfulness{text}", "count_units": 0, "count_ratings": 0, "count_clusters": 0}
    agreement |= {"status": "no_pairable_values", "interval_status": "no_estimate", "rater_kind": "person"}
    rows = [
        {**agreement, "statistic": "krippendorff_alpha_ordinal"},
        {**agreement, "statistic": "fleiss_kappa"},
        {
            **agreement,
            "statistic": "intra_rater_percent_agreement",
            "rater": f"rater_1{text}",
            "status": "estimated",
            "interval_status": "no_spread",
            "agreement": 1.0,
            "count_units": 48,
            "count_ratings": 96,
            "count_clusters": 42,
        },
        {
            **agreement,
            "statistic": "percent_agreement",
            "other_rater_kind": "language_model",
            "status": "estimated",
            "interval_status": "estimated",
            "agreement": 0.9,
            "agreement_low": 0.8,
            "agreement_high": 0.95,
            "count_units": 40,
        },
    ]
    insert(connection, "fct_rater_agreement", rows)
    row = {
        "criterion": "faithfulness",
        "rater": f"rater_2{text}",
        "rater_kind": "person",
        "status": "estimated",
        "count_ratings": 100,
        "count_cannot_judge": 7,
        "count_shared_units": 90,
        "agreement": 0.4,
        "agreement_of_others": 0.8,
        "disagrees_with_everyone": True,
    }
    insert(connection, "fct_rater_reports", [row])


def make_calibrated(folder: Path, text: str = "", **sizes: int) -> Path:
    """A warehouse with labels, a calibrator in force and every mart of calibration; texts end in ``text``."""
    make_warehouse(folder, text=text, **sizes)
    with duckdb.connect(str(folder / "hcat.duckdb")) as connection:
        connection.execute(LABEL_SCORES, {"metric_name": METRIC})
        connection.execute(
            "update dim_runs set settings = json_merge_patch(settings, '{\"hcat_conformal_alpha\": 0.1}')::varchar"
        )
        connection.execute(
            "update dim_metrics set decision_name = metric_name, valid_until = date '2027-05-01',"
            " decision_rationale = 'because of' || $text",
            {"text": text},
        )
        add_calibrators(connection, text)
        add_conformal(connection, text)
        add_thresholds(connection, text)
        add_rates_and_labels(connection, text)
    return folder


def render(folder: Path) -> str:
    return read_section(report.render_report(folder), "calibration")


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> str:
    return render(make_calibrated(tmp_path_factory.mktemp("calibrated")))


def assert_reads_well(section: str) -> None:
    """No number that is none, and no figure without a mark."""
    text = read_text(section)
    assert not re.findall(r"\b(?:NaN|nan|None|null|undefined|inf|Infinity)\b", text)
    for svg in re.findall(r"<svg.*?</svg>", section, re.DOTALL):
        assert re.search(r"<path|<line", svg)


def test_every_figure_and_table_is_there(section: str) -> None:
    assert section.count("<svg") == 2
    assert section.count("<figcaption>") == 2
    assert section.count("Table behind the figure") == 1
    assert_reads_well(section)
    text = read_text(section)
    for sentence in (
        "✓ calibrated within chance",
        "−0.200 [−0.300, −0.100]",
        "0.0400 limit 0.110",
        "0.950 [0.700, 1.30]",
        "No calibrator: too few labels: a class has fewer than 20 labels.",
        "Promised coverage 90 %: the sets decide 60.0 % of the labelled answers (n 40, 30 clusters).",
        "More labels would not help beyond 69.0 %.",
        "No threshold: no threshold keeps the promise: it would accept none.",
        "5.00 % [1.00, 9.00] %",
        "n 20, tolerated 10 %",
        "0.500 – 41 3 7.30 % [2.00, 19.0] % 18",
        "– 0.500 40 20",
        "conformal: keeps a promised error rate",
        "4.00 % 30.0 % 12.5",
        "Agreement between raters: faithfulness: people: no interaction has two raters, so agreement is unknown.",
        "faithfulness: people (rater_1) two passes of one rater, percent agreement",
        "faithfulness: people compared with language models percent agreement 0.900 [0.800, 0.950] 40",
        "no interval: all pairs agree",
        "rater_2 (faithfulness): agrees with the majority of the other people on 40.0 % of 90 shared interactions",
    ):
        assert sentence in text, sentence
    # one sentence for all figures between people, and not one per statistic
    assert text.count("no interaction has two raters") == 1


def test_prediction_sets_are_drawn_where_they_decide(section: str) -> None:
    for word in ("accepted", "accepted|failed", "failed"):
        assert charts.SET_COLOURS[word] in section
    assert "All are undecided" not in section


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("person", "Labels of answers: 2, all by people."),
        (
            "language_model",
            "No person rated any answer. A language model gave the labels of 2 answers: what rests on them says how",
        ),
        ("rule", "Rules of a program gave the labels of 2 answers"),
        ("unknown", "Nobody says who gave the labels of 2 answers"),
    ],
)
def test_the_report_says_who_gave_the_labels(tmp_path: Path, kind: str, words: str) -> None:
    warehouse = make_calibrated(tmp_path)
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("update fct_evaluations set human_label = null")
        connection.execute(
            "update fct_evaluations set human_label = 1, label_rater_kind = ?"
            " where interaction_id in ('i00000', 'i00001')",
            [kind],
        )
    sure = read_text(read_section(report.render_report(warehouse), "sure"))
    assert words in sure
    assert ("No person rated any answer" in sure) == (kind != "person")
    assert "shown, not admitted" in sure


def test_without_interactions_sections_and_one_paragraph_on_labels_say_what_is_missing(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        create_marts(connection)
        add_run(connection)
        add_metrics(connection)
        add_rates_and_labels(connection, "")
        connection.execute("delete from fct_rater_agreement")
    page = report.render_report(tmp_path)
    assert '<section id="calibration">' not in page
    text = read_text(page)
    for sentence in (
        "This warehouse holds no interactions, so nothing has been evaluated.",
        "No gate was evaluated in this build",
        "No distribution by topic: no primary metric has scores.",
        "No answer of the candidate has a score to order it by.",
        "Calibration evidence: probabilities instead of raw scores",
        "needs 385 labels: failure rate within ± 5 percentage points",
        "hcat labels export writes a sheet",
    ):
        assert sentence in text, sentence


def test_marts_that_are_not_there_are_named(tmp_path: Path) -> None:
    warehouse = make_calibrated(tmp_path)
    dropped = ["fct_conformal_coverage", "fct_metric_thresholds", "fct_rater_agreement"]
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        for name in dropped:
            connection.execute(f"drop table {name}")
    section = render(warehouse)
    assert_reads_well(section)
    for name in dropped:
        assert name in section
    assert "No thresholds were fitted" in section


def test_without_a_calibrator_in_force_thresholds_and_rates_remain(tmp_path: Path) -> None:
    warehouse = make_calibrated(tmp_path)
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute(
            "update fct_calibrators set is_chosen = false, status = 'one_class', message = 'only one verdict'"
        )
        connection.execute("delete from fct_calibration_quality")
        connection.execute("update fct_evaluations set calibrated_probability = null, prediction_set = null")
    section = render(warehouse)
    text = read_text(section)
    assert "No calibrator: raters accepted all labelled answers or none: only one verdict." in text
    assert "No figure of a calibrator: no metric has a calibrator in force." in text
    assert f"Thresholds of {METRIC}" in text
    assert section.count("<svg") == 1
    assert_reads_well(section)


def test_numbers_that_nobody_could_estimate_become_words(tmp_path: Path) -> None:
    warehouse = make_calibrated(tmp_path)
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        for name in ("log_loss_difference", "calibration_slope", "auroc"):
            connection.execute(
                f"update fct_calibration_quality set {name} = null, {name}_low = null, {name}_high = null,"
                f" {name}_status = 'insufficient'"
            )
        connection.execute(
            "update fct_calibration_quality set calibration_error = null, calibration_error_limit = null,"
            " is_within_chance = null, calibration_error_status = 'one_class'"
        )
        connection.execute("update fct_conformal_coverage set status = 'no_labels', coverage = null")
        connection.execute("update fct_conformal_coverage set share_single = null, share_all = null")
    section = render(warehouse)
    text = read_text(section)
    assert_reads_well(section)
    assert "– too few labels" in text
    assert "The calibration error cannot be judged: raters accepted all of them or none." in text
    assert "not measured: no audit labels" in text


@pytest.mark.parametrize(
    ("changes", "state", "words"),
    [
        ({}, "passed", "✓ calibrated within chance"),
        ({"log_loss_difference_high": 0.05}, "undecided", "? not shown to be better than the base rate"),
        ({"log_loss_difference_low": 0.01, "log_loss_difference_high": 0.2}, "failed", "✗ worse than the base rate"),
        ({"calibration_slope_high": 0.9}, "failed", "✗ too extreme"),
        ({"calibration_slope_low": 1.1, "calibration_slope_high": 1.9}, "failed", "✗ too cautious"),
        ({"is_within_chance": False}, "failed", "✗ beyond chance"),
        ({"is_within_chance": None, "calibration_error_status": "insufficient"}, "not_evaluated", "– too few labels"),
        ({"log_loss_difference_low": None, "log_loss_difference_high": None}, "not_evaluated", "– too few labels"),
        ({"status": "no_labels"}, "not_evaluated", "– not measured"),
    ],
)
def test_verdict_by_hand(changes: dict[str, Any], state: str, words: str) -> None:
    found_state, found_words, sentence = judge_calibration({**QUALITY, **changes})
    assert (found_state, found_words) == (state, words)
    assert sentence.endswith(".")


def test_a_failed_calibration_also_says_that_it_does_not_beat_the_base_rate() -> None:
    changes = {"is_within_chance": False, "log_loss_difference_high": 0.1}
    _, _, sentence = judge_calibration({**QUALITY, **changes})
    assert "larger than chance explains" in sentence
    assert "the interval contains 0" in sentence


def test_groundedness_is_drawn_and_else_the_metric_with_most_labels() -> None:
    rows = [
        {"metric_name": name, "is_chosen": is_chosen, "count_labels": 1}
        for name, is_chosen in [("answer_relevancy__mean", True), ("groundedness", True), ("support_words", False)]
    ]
    labelled = {"answer_relevancy__mean": 50, "groundedness": 40, "support_words": 90, "query_coverage__mean": 60}
    assert choose_calibrated_metric(rows, labelled)["metric_name"] == "groundedness"  # type: ignore[index]
    others = [rows[0], {**rows[0], "metric_name": "query_coverage__mean"}]
    assert choose_calibrated_metric(others, labelled)["metric_name"] == "query_coverage__mean"  # type: ignore[index]
    assert choose_calibrated_metric(rows[2:], labelled) is None


def test_strips_meet_half_way_between_two_scores() -> None:
    connection = duckdb.connect()
    connection.execute(
        "create table fct_evaluations as select * from (values (1, 'm', .0, 'failed'), (2, 'm', .2, 'failed'),"
        " (3, 'm', .4, 'accepted|failed'), (4, 'm', .5, 'accepted|failed'), (5, 'm', .1, 'accepted'))"
        " as rows (interaction_id, metric_name, raw_score, prediction_set);"
        "create table fct_interactions as select number as interaction_id, if(number = 5, 'b', 'a') as system"
        " from range(1, 6) as numbers(number)"
    )
    marts = {"fct_evaluations": frozenset[str](), "fct_interactions": frozenset[str]()}
    rows = blocks.read(Warehouse(connection, marts), "list_set_stretches", metric_name="m")
    assert [(row["system"], row["prediction_set"], float(row["low"]), float(row["high"])) for row in rows] == [
        ("a", "failed", 0.0, pytest.approx(0.3)),
        ("a", "accepted|failed", pytest.approx(0.3), 0.5),
        ("b", "accepted", 0.1, 0.1),
    ]
    assert [row["count_stretches"] for row in rows] == [2, 2, 1]


def test_few_scores_beside_a_threshold_are_drawn_one_by_one() -> None:
    def draw(scores: list[float]) -> str:
        return charts.draw_densities([("accepted", scores)], 0.5, (0, 1), "score", "label")

    assert 'opacity="0.22"' not in draw([0.1, 0.5, 0.9])
    assert 'opacity="0.22"' in draw([number / 20 for number in range(20)])
    assert "decided 0.500" in draw([0.1, 0.5, 0.9])
