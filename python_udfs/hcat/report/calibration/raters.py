"""Agreement between raters, and raters who disagree with all others."""

from __future__ import annotations

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import LABEL_CHARACTERS, clean_label
from hcat.report.ratings import KINDS
from hcat.report.showing import format_interval, format_number, format_percent, group_by

MAXIMUM_RATERS = 20

AGREEMENT_NAMES = {
    "percent_agreement": "percent agreement",
    "cohen_kappa": "Cohen’s kappa",
    "cohen_kappa_quadratic": "Cohen’s kappa, quadratic",
    "fleiss_kappa": "Fleiss’ kappa",
    "krippendorff_alpha_nominal": "Krippendorff’s alpha, nominal",
    "krippendorff_alpha_ordinal": "Krippendorff’s alpha, ordinal",
    "krippendorff_alpha_interval": "Krippendorff’s alpha, interval",
    "intra_rater_percent_agreement": "two passes of one rater, percent agreement",
    "intra_rater_cohen_kappa": "two passes of one rater, Cohen’s kappa",
    "intra_rater_cohen_kappa_quadratic": "two passes of one rater, Cohen’s kappa, quadratic",
}

AGREEMENT_REASONS = {
    "no_pairable_values": "no interaction has two raters, so agreement is unknown",
    "no_variation": "all ratings are equal, so agreement beyond chance is not defined",
    "more_than_two_raters": "defined for two raters only",
    "unequal_ratings_per_unit": "needs the same number of ratings for every interaction",
}

INTERVAL_REASONS = {
    "too_few_clusters": "no interval: fewer than 10 clusters",
    "too_few_usable_draws": "no interval: too few usable bootstrap samples",
    "no_spread": "no interval: all pairs agree",
    "no_estimate": "",
}
LIST_AGREEMENT = """
select * from fct_rater_agreement
order by criterion, rater_kind, other_rater_kind nulls first, rater nulls first, statistic
"""
LIST_RATER_REPORTS = "select * from fct_rater_reports order by criterion, rater_kind, rater"


def describe_agreement(source: Warehouse) -> list[Row]:
    """Return one row per criterion, kind of rater and statistic; a kind without an estimate has one with the reason."""
    described = []
    rows = [row | {"subject": _name_subject(row)} for row in source.rows(LIST_AGREEMENT, ["fct_rater_agreement"])]
    for name, figures in group_by(rows, "subject").items():
        between = [row for row in figures if row["rater"] is None]
        within = [row for row in figures if row["rater"] is not None]
        estimated = [row for row in between if row["status"] == "estimated"]
        if between and not estimated:
            reasons = list(dict.fromkeys(AGREEMENT_REASONS.get(row["status"], row["status"]) for row in between))
            described.append(
                {"criterion": name, "is_estimated": False, "reason": f"Agreement between raters: {reasons[0]}."}
            )
        for row in [*estimated, *within[:MAXIMUM_RATERS]]:
            figure = AGREEMENT_NAMES.get(row["statistic"], row["statistic"])
            if row["rater"] is not None:
                figure += f" ({clean_label(row['rater'], LABEL_CHARACTERS // 2)})"
            if row["agreement"] is None:
                reason = AGREEMENT_REASONS.get(row["status"], row["status"])
                described.append({"criterion": name, "is_estimated": False, "reason": f"{figure}: {reason}."})
                continue
            described.append(
                {
                    "criterion": name,
                    "is_estimated": True,
                    "figure": figure,
                    "value": format_number(row["agreement"]),
                    "interval": format_interval(row["agreement_low"], row["agreement_high"])
                    or INTERVAL_REASONS.get(row["interval_status"], "no interval"),
                    "count_units": row["count_units"],
                    "count_ratings": row["count_ratings"],
                    "count_clusters": row["count_clusters"],
                }
            )
    return described


def _name_subject(row: Row) -> str:
    """Return the criterion with those whose ratings are compared."""
    kinds = [KINDS[kind][1] for kind in (row["rater_kind"], row["other_rater_kind"]) if kind is not None]
    return f"{clean_label(row['criterion'])}: {' compared with '.join(kinds)}"


def describe_disagreeing_raters(source: Warehouse) -> list[str]:
    """Return one sentence per rater who disagrees with all other raters."""
    return [
        f"{clean_label(row['rater'])} ({clean_label(row['criterion'])}): agrees with the majority of the other "
        f"{KINDS[row['rater_kind']][1]} on {format_percent(row['agreement'])} of {row['count_shared_units']:,} shared "
        f"interactions; the others agree with each other on {format_percent(row['agreement_of_others'])}."
        for row in source.rows(LIST_RATER_REPORTS, ["fct_rater_reports"])
        if row["disagrees_with_everyone"]
    ][:MAXIMUM_RATERS]
