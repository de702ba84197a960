"""Calibration evidence: who rated, how far scores, judges and raters agree, and how many labels are still needed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import LABEL_CHARACTERS, clean_label
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Gap, Section
from hcat.report.calibration.figures import PREFERRED_METRIC, describe_curve
from hcat.report.calibration.thresholds import choose_threshold_metric, describe_thresholds
from hcat.report.ledger import Build
from hcat.report.showing import EXCERPT_CHARACTERS, format_level, format_number, format_percent
from hcat.report.words import WORDS

#: What the section shows if it is there.
SHOWN_MARTS: Final = (
    "fct_calibrators",
    "fct_calibration_quality",
    "fct_conformal_coverage",
    "fct_metric_thresholds",
    "fct_score_bands",
    "fct_rater_agreement",
)

LIST_QUALITY: Final = "select * from fct_calibration_quality order by metric_name, is_chosen desc, calibrator"


def describe_calibration(source: Warehouse, build: Build) -> Section:
    """Return the evidence as far as the warehouse holds it."""
    calibrators = blocks.read(source, "list_calibrators")
    quality = source.rows(LIST_QUALITY, ["fct_calibration_quality"])
    labelled = {row["metric_name"]: row["count_labels"] for row in blocks.read(source, "section_count_labels")}
    ratings = blocks.keep(describe_ratings(source))
    judges = describe_judges(source)
    if not any([*(row["count_labels"] for row in (*calibrators, *quality)), *labelled.values()]):
        # the list of inputs says what labels would add, and how many
        return blocks.section(*ratings, *judges, gaps=[_plan(source), _find_missing(source)], is_empty=not ratings)
    chosen = choose_calibrated_metric(calibrators, labelled)
    names = sorted({row["metric_name"] for row in (*calibrators, *quality)})
    metrics = {metric["metric_name"]: metric for metric in build.metrics}
    return blocks.section(
        *(
            ratings
            or [blocks.absent("No ratings: agreement of the metrics with people is unknown for these interactions.")]
        ),
        blocks.heading("Quality of the calibrated probabilities"),
        _describe_quality(calibrators, quality, chosen),
        *_describe_chosen(source, build, chosen),
        *describe_thresholds(source, choose_threshold_metric(chosen, labelled, names), metrics),
        blocks.heading("Agreement between raters"),
        *_describe_agreement(source),
        *judges,
        gaps=[_find_missing(source)],
    )


def _find_missing(source: Warehouse) -> Gap | bool:
    missing = source.lacks(*SHOWN_MARTS)
    return bool(missing) and Gap(f"Parts of the calibration evidence: {', '.join(missing)}.", blocks.REBUILD)


def _plan(source: Warehouse) -> Gap:
    """Return what labels would add, with the number that is needed."""
    told = "".join(
        f" ({row['metric_name']} needs {row['count_labels_needed']:,} labels: failure rate within"
        f" ± {100 * row['target']:g} percentage points, {format_level(row['confidence'])} confidence)"
        for row in blocks.read(source, "find_labels_needed", preferred=PREFERRED_METRIC)
    )
    return Gap(
        "probabilities instead of raw scores, error rates of thresholds, failure rates, and the agreement of raters"
        + told,
        "a review sheet from `hcat labels export`, filled in by raters and imported with `hcat labels import`",
        "ratings",
    )


def choose_calibrated_metric(calibrators: Sequence[Row], labelled: Mapping[str, int]) -> Row | None:
    """Return the calibrator in force that the section shows in full; None where no calibrator is in force."""
    return min(
        (row for row in calibrators if row["is_chosen"]),
        key=lambda row: (
            row["metric_name"] != PREFERRED_METRIC,
            -labelled.get(row["metric_name"], row["count_labels"]),
            row["metric_name"],
        ),
        default=None,
    )


def _describe_quality(calibrators: Sequence[Row], quality: Sequence[Row], chosen: Row | None) -> Block | None:
    """Return how far the calibrators in force, and scores that are probabilities themselves, can be trusted."""
    first = {row["metric_name"]: row for row in reversed(calibrators)}
    rows = [
        {**first[row["metric_name"]], **row, "fit": _count(first[row["metric_name"]]), "measured": _count(row)}
        for row in quality
        if row["metric_name"] in first
        and row["calibrator"] != "none"
        and (row["is_chosen"] or row["calibrator"] == "uncalibrated")
    ]
    measured = {row["metric_name"] for row in rows if row["is_chosen"]}
    rows += [
        {**row, "calibrator": "none", "fit": _count(row), "measured": ""}
        for metric, row in first.items()
        if metric not in measured
    ]
    if not rows:
        return blocks.absent(
            "No quality to show: the seed calibration_targets has no row, or no calibrator was fitted."
        )
    return blocks.table(
        "A calibrator turns a score into the probability that raters accept the answer, measured by cross-fitting. Log"
        " loss minus that of the base rate: below 0 is better than the base rate. Calibration error: above its limit,"
        " it is larger than chance explains. Slope: 1 is calibrated, below 1 is too extreme. n counts labels, with"
        " clusters in brackets; intervals are at 95 %.",
        (
            "metric_name",
            "criterion",
            "calibrator",
            Column("Verdict", _show_trust, ""),
            "fit=n fitted",
            "measured=n measured",
            Column("Log loss − base rate", lambda row: _show_measure(row, "log_loss_difference")),
            Column("Calibration error", _show_error),
            Column("Slope", lambda row: _show_measure(row, "calibration_slope")),
            Column("AUROC", lambda row: _show_measure(row, "auroc")),
        ),
        sorted(rows, key=lambda row: chosen is None or row["metric_name"] != chosen["metric_name"]),
        len(rows),
        words={"calibrator": {"uncalibrated": "the score itself"}},
    )


def _count(row: Row) -> str:
    return f"{row['count_labels']:,} ({row['count_clusters']:,})"


def _show_trust(row: Row) -> Any:
    if row["calibrator"] == "none":
        reason = WORDS["trust"]["calibrator_reasons"].get(row["status"], "no family could be fitted")
        message = f": {clean_label(row['message'], EXCERPT_CHARACTERS)}" if row["message"] else ""
        state = "– too few labels" if row["status"] in ("insufficient", "no_labels") else "– no calibrator"
        return blocks.lines(blocks.pill("not_evaluated", state), blocks.small(f"No calibrator: {reason}{message}."))
    state, told, sentence = judge_calibration(row)
    return blocks.lines(blocks.pill(state, told), blocks.small(sentence))


def _show_measure(row: Row, measure: str) -> Any:
    """Return a measure with its interval, or the reason why there is none."""
    if row.get(measure) is None:
        return (
            "–"
            if row["calibrator"] == "none"
            else blocks.small(MEASURE_REASONS.get(row[f"{measure}_status"], "not measured"))
        )
    return blocks.with_interval(format_number(row[measure]), blocks.find_interval(row, measure) or "no interval")


def _show_error(row: Row) -> Any:
    if row.get("calibration_error") is None:
        return _show_measure(row, "calibration_error")
    limit = row["calibration_error_limit"]
    reason = MEASURE_REASONS.get(str(row["calibration_error_status"]), "not measured")
    return blocks.with_interval(
        format_number(row["calibration_error"]), reason if limit is None else f"limit {format_number(limit)}"
    )


def _describe_chosen(source: Warehouse, build: Build, chosen: Row | None) -> list[Block | None]:
    """Return the pictures, the coverage and the systems of the metric that is shown in full."""
    if chosen is None:
        told = "No figure of a calibrator: no metric has a calibrator in force. The table above gives the reasons."
        return [blocks.absent(told)]
    value = build.settings.get("hcat_conformal_alpha")
    alpha = float(value) if isinstance(value, int | float) and 0 < value < 1 else None
    return [
        blocks.heading(f"From score to probability: {chosen['metric_name']}, {chosen['family']}"),
        describe_curve(source, build, chosen),
        blocks.heading("Coverage of the prediction sets"),
        *_describe_coverage(source, chosen["metric_name"], alpha),
    ]


def _describe_coverage(source: Warehouse, metric_name: str, alpha: float | None) -> list[Block | None]:
    rows = blocks.read(source, "list_coverage", metric_name=metric_name, alpha=alpha)
    if not rows:
        return [blocks.absent("No coverage was measured for this metric.")]
    decided = [
        blocks.paragraph(
            f"Promised coverage {format_level(1 - row['alpha'])}: the sets decide"
            f" {format_percent(row['_share_single'])} of the labelled answers (n {row['count_labels']:,},"
            f" {row['count_clusters']:,} clusters)."
            # the ceiling assumes normal scores: labels that go beyond it say that these are not
            + (
                f" More labels would not help beyond {format_percent(row['_share_decidable'])}."
                if row["_share_single"] < row["_share_decidable"] < 1
                else ""
            )
        )
        for row in rows
        if row["scope"] == "marginal" and None not in (row["_share_single"], row["_share_decidable"])
    ]
    return [
        *decided,
        blocks.fold(
            "Coverage by true label, system and stratum",
            blocks.table(
                "Share of audit labels that the prediction sets in force contain, as a mean over clusters. The set of a"
                " label is made of the other clusters. The monthly audits test whether later labels are still covered."
                " Decided: the set contains one label. Undecided: it contains both. fct_conformal_coverage has other"
                " levels.",
                {"alpha": Column("Coverage promised", lambda row: format_level(1 - row["alpha"]))},
                rows,
                words=WORDS["section"]["coverage_words"],
            ),
        ),
    ]


def _describe_agreement(source: Warehouse) -> list[Block | None]:
    """Return the statistics of agreement, and raters who disagree with all others."""
    rows = blocks.read(source, "list_agreement")
    if not rows:
        return [blocks.absent("No agreement between raters was computed.")]
    estimated = [row for row in rows if row["agreement"] is not None]
    reasons = {
        f"{_name_raters(row)}: {WORDS['section']['agreement_reasons'].get(row['_status'], row['_status'])}": None
        for row in rows
        if row["agreement"] is None and _name_raters(row) not in set(map(_name_raters, estimated))
    }
    disagreeing = "select * from fct_rater_reports where disagrees_with_everyone order by criterion, rater_kind, rater"
    reports = source.rows(disagreeing, ["fct_rater_reports"])[:20]
    return [
        *(blocks.paragraph(f"Agreement between raters: {reason}.", "note") for reason in reasons),
        blocks.fold(
            "All statistics of agreement",
            blocks.table(
                "Agreement within one kind of rater, and between two kinds. For chance-corrected statistics, 0 is"
                " chance and 1 is full agreement. Intervals are 95 % intervals over clusters. A second pass of one"
                " rater shows how consistent that rater is, not how far raters agree.",
                {"criterion": Column("Criterion: raters", _name_raters, "")},
                estimated,
                len(estimated),
                words={
                    "statistic": WORDS["section"]["agreement_names"],
                    "interval_status": WORDS["section"]["interval_reasons"],
                },
            ),
        ),
        *(blocks.paragraph(_tell_of_rater(row), "note") for row in reports),
    ]


def _name_raters(row: Row) -> str:
    """Return the criterion with those whose ratings are compared."""
    kinds = [KINDS[kind][1] for kind in (row["_rater_kind"], row["_other_rater_kind"]) if kind is not None]
    one = f" ({clean_label(row['_rater'], LABEL_CHARACTERS // 2)})" if row["_rater"] is not None else ""
    return f"{clean_label(row['criterion'])}: {' compared with '.join(kinds)}{one}"


def _tell_of_rater(row: Row) -> str:
    return (
        f"A rater who disagrees with the others and may still be right: {clean_label(row['rater'])}"
        f" ({clean_label(row['criterion'])}): agrees with the majority of the other {KINDS[row['rater_kind']][1]} on"
        f" {format_percent(row['agreement'])} of {row['count_shared_units']:,} shared interactions; the others agree"
        f" with each other on {format_percent(row['agreement_of_others'])}."
    )


MEASURE_REASONS: Final = WORDS["trust"]["measure_reasons"]


#: What may be wrong with probabilities, the worst first.
FAULTS: Final = {
    "✗ worse than the base rate": "The base rate alone predicts the labels better than these probabilities.",
    "✗ too extreme": "High probabilities are too high, and low ones are too low.",
    "✗ too cautious": "High probabilities are too low, and low ones are too high.",
    "✗ beyond chance": "The calibration error is larger than chance explains for this number of labels.",
}


def judge_calibration(row: Row) -> tuple[str, str, str]:
    """Return (state, words, sentence): whether the probabilities of a row of fct_calibration_quality can be trusted."""
    if row["status"] != "measured":
        reason = MEASURE_REASONS.get(row["status"], "no calibrator is in force")
        return "not_evaluated", "– not measured", f"Not measured: {reason}."
    low, high = row["log_loss_difference_low"], row["log_loss_difference_high"]
    slope_low, slope_high = row["calibration_slope_low"], row["calibration_slope_high"]
    found = (
        low is not None and low > 0,
        slope_high is not None and slope_high < 1,
        slope_low is not None and slope_low > 1,
        row["is_within_chance"] is False,
    )
    findings = [("failed", *fault) for fault, is_found in zip(FAULTS.items(), found, strict=True) if is_found]
    if row["is_within_chance"] is None:
        reason = MEASURE_REASONS.get(row["calibration_error_status"], "there is no limit by chance")
        findings.append(("not_evaluated", "– too few labels", f"The calibration error cannot be judged: {reason}."))
    if not findings and high is not None and high < 0:
        sentence = "The calibration error is within chance, and the probabilities are better than the base rate."
        return "passed", "✓ calibrated within chance", sentence
    if low is None or high is None:
        findings.append(
            ("not_evaluated", "– too few labels", "There is no interval for the comparison with the base rate.")
        )
    elif low <= 0 <= high:
        findings.append(
            (
                "undecided",
                "? not shown to be better than the base rate",
                "The probabilities are not shown to be better than the base rate: the interval contains 0.",
            )
        )
    state, words, _ = findings[0]
    return state, words, " ".join(sentence for _, _, sentence in findings)


def describe_judges(source: Warehouse) -> list[Block]:
    """Return agreement and calls by metric and statistic; nothing where this warehouse has no judge."""
    rows = blocks.read(source, "list_judges")
    if not rows:
        return []
    models = clean_label(", ".join(sorted({row["_language_model"] for row in rows if row["_language_model"]})))
    return blocks.keep(
        (
            blocks.heading("Language model as judge, compared with the other metrics"),
            blocks.paragraph(
                f"{models} judged {max(row['_count_interactions'] for row in rows):,} interactions, rated ones first."
                " Every metric is compared with the same labels of these interactions. A judge may share the faults of"
                " the model that it judges. Its prompts and answers are in fct_judge_calls."
            ),
            blocks.table(
                "Agreement with raters, with intervals over clusters. Ranking accuracy is"
                " the share of pairs of an accepted and a failed answer in which the accepted one scores higher; 0.5 is"
                " chance. No verdict: the judge was undecided or preferred the answer that stood first.",
                {},
                rows,
                words={"status": WORDS["judges"]["statuses"]},
            ),
        )
    )


KINDS: Final = WORDS["ratings"]["kinds"]


def describe_ratings(source: Warehouse) -> list[Block | None]:
    """Return ratings by kind of rater, and labels by criterion; nothing without ratings."""
    kinds = blocks.read(source, "count_ratings")
    if not kinds:
        return []
    labels = describe_labels(source)
    given = f": {labels['raters']}" if labels["raters"] else ""
    return [
        blocks.heading("Ratings"),
        blocks.paragraph(labels["warning"], "note") if labels["warning"] else None,
        blocks.table(
            f"Who rated. In this section, raters are those who gave the labels{given}. Ratings of other kinds are only"
            " compared with these.",
            ("raters", "count_ratings", "count_interactions=Rated interactions", "count_labels"),
            [
                {
                    **row,
                    "raters": f"{row['count_raters']:,} {KINDS[row['rater_kind']][row['count_raters'] != 1]}",
                    "count_labels": labels["counts"].get(row["rater_kind"], 0),
                }
                for row in kinds
            ],
        ),
        blocks.query(source, "describe_ratings", "Labels by criterion."),
    ]


def describe_labels(source: Warehouse) -> dict[str, Any]:
    """Return who gave the labels (empty without any), and a warning unless all are known to be people."""
    rows = blocks.read(source, "count_labels")
    counts: dict[str, int] = {row["rater_kind"]: row["count_interactions"] for row in rows}
    sentences = [
        f"{KINDS[kind][2][0].upper()}{KINDS[kind][2][1:]} gave the labels of {counts[kind]:,} answers: what"
        f" rests on them says how far the scores agree with {KINDS[kind][2]}, not with people."
        for kind in ("language_model", "rule")
        if kind in counts
    ]
    if "unknown" in counts:
        sentences.append(
            f"Nobody says who gave the labels of {counts['unknown']:,} answers: the column rater_kind of the ratings,"
            " or the seed raters, can say it."
        )
    warning = " ".join(sentences) or None
    return {"raters": " and ".join(KINDS[kind][2] for kind in counts), "counts": counts, "warning": warning}
