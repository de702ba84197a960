"""What the ratings of a round are worth as of the last build, and what more of them would change."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from hcat.calibration.agreement import MINIMUM_CLUSTERS
from hcat.engine.warehouse import Place, Row, Warehouse, open_warehouse
from hcat.language.display import clean_label
from hcat.review.ratings import Given, Key, describe_progress, read_given
from hcat.review.rounds import CANNOT_JUDGE, QUERIES, Round, describe_needs, find_version, read_round

_NO_PAIR: Final = "no answer was rated by two raters of one kind: write the desk with --raters and --overlap"


def describe_status(
    warehouse: Path | Place, review_round: str | None = None, raw_logs: Path | None = None
) -> list[tuple[str, str]]:
    """Return lines of (subject, text) on a round: who rated what, agreement, calibration, sets and labels needed."""
    with open_warehouse(warehouse) as opened:
        found = read_round(opened, review_round)
        given = read_given(opened, found, raw_logs)
        waiting = sum(not each.is_read for each in given.values())
        no_pair = "the next `dbt build` measures it" if waiting else _NO_PAIR
        return [
            ("round", f"{found.name}, {len(found.drawn)} interactions"),
            *[("round", line) for line in describe_progress(given, found)],
            *_or_none("ratings", _describe_ratings(given, found), "none of this round"),
            *([("waiting", f"{waiting} ratings: run `dbt build`; what follows is without them")] if waiting else []),
            *_or_none("agreement", _describe_agreement(opened), no_pair),
            *_or_none("calibration", _describe_calibration(opened), "no score is calibrated"),
            *_or_none("sets", _describe_sets(opened), "no prediction sets"),
            *_or_none("labels", describe_needs(opened), "no targets in the seed review_targets"),
        ]


def describe_half_width(count: int) -> str:
    """Return how many more labels halve the width of an interval on ``count`` labels."""
    # widths fall with the square root of the number of labels
    return f"about {3 * count:,} more would halve the interval"


def _or_none(subject: str, texts: Iterable[str], without: str) -> list[tuple[str, str]]:
    return [(subject, text) for text in texts] or [(subject, without)]


def _describe_ratings(given: Mapping[Key, Given], found: Round) -> list[str]:
    counted: dict[tuple[str, str, str], list[tuple[Key, Given]]] = {}
    for key, each in sorted(given.items(), key=lambda item: item[0]):
        if each.review_round == found.name and not key[5]:
            counted.setdefault((key[1], key[2], each.rater_kind), []).append((key, each))
    lines = []
    for (criterion, rater, kind), own in sorted(counted.items()):
        first = {key[0]: each.point for key, each in own if key[4] == 1}
        unjudged = sum(point == CANNOT_JUDGE for point in first.values())
        twice = len({key[0] for key, _ in own if key[4] > 1})
        version = max(key[3] for key, _ in own)
        points = found.guidelines.get(criterion)
        old = f"; guideline {version}" if points and version not in ("", find_version(points)) else ""
        lines.append(
            f"{criterion} by {clean_label(rater)} ({kind.replace('_', ' ')}): {len(first) - unjudged} rated, "
            f"{unjudged} cannot judge, {len(found.drawn) - len(first)} of the round not rated"
            + (f", {twice} rated twice" if twice else "")
            + old
        )
    return lines


def _describe_agreement(opened: Warehouse) -> list[str]:
    return [
        f"{row['criterion']}, {row['rater_kind'].replace('_', ' ')}: {_describe_alpha(row)}"
        for row in opened.rows(QUERIES["list_agreement"], ("fct_rater_agreement",))
        if row["status"] != "no_pairable_values"
    ]


def _describe_alpha(row: Row) -> str:
    shared = f"on {row['count_units']:,} interactions that several rated"
    if row["agreement"] is None:
        return f"{row['status'].replace('_', ' ')} {shared}"
    alpha = f"Krippendorff's alpha {row['agreement']:.2f}"
    if row["agreement_low"] is None:
        have = f": {row['count_clusters']}; {MINIMUM_CLUSTERS} are needed" * (row["count_clusters"] < MINIMUM_CLUSTERS)
        return f"{alpha} {shared}; no interval ({row['interval_status'].replace('_', ' ')}{have})"
    interval = f"({row['agreement_low']:.2f} to {row['agreement_high']:.2f})"
    return f"{alpha} {interval} {shared}; {describe_half_width(row['count_units'])}"


def _describe_calibration(opened: Warehouse) -> list[str]:
    validity: dict[str, list[str]] = {}
    for row in opened.rows(QUERIES["list_validity"], ("fct_calibration_validity",)):
        status = row["calibration_status"].replace("_", " ")
        validity.setdefault(row["metric_name"], []).append(f"{status} for {clean_label(row['version_class'])}")
    return [
        f"{row['metric_name']} by {row['criterion']}: {row['count_labels']:,} labels, log loss {row['log_loss']:.3f} "
        f"(standard error {row['log_loss_standard_error']:.3f}); {describe_half_width(row['count_labels'])}; "
        + ", ".join(validity.get(row["metric_name"], ["in no version"]))
        for row in opened.rows(QUERIES["list_calibrators"], ("fct_calibrators",))
        if row["status"] == "fitted"
    ]


def _describe_sets(opened: Warehouse) -> list[str]:
    lines = []
    for row in opened.rows(QUERIES["list_sets"], ("fct_evaluations.prediction_set", "fct_labels_needed")):
        share = row["count_decided"] / row["count_answers"]
        text = f"{row['metric_name']}: {share:.0%} of {row['count_answers']:,} answers decided"
        if row["target"] is not None:
            missing = {
                "out_of_reach": "out of reach with this score",
                "no_labels": "not planned without an audit label of either side",
            }.get(row["label_status"]) or f"{row['count_labels']} labels, {row['count_labels_needed']} are needed"
            text += f"; target {row['target']:.0%}: {missing}"
        lines.append(text)
    return lines
