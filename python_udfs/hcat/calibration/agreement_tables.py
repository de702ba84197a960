"""Ratings as Arrow tables: agreement per criterion and kind of rater, and a report on each rater.

People are never joined with language models or rules to one group of raters. How far two kinds agree is a figure of its
own. A figure of one person's two passes has its own name and is never a claim of agreement.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.agreement import (
    COUNT_DRAWS,
    cohen_kappa,
    compare_strictness,
    count_values,
    dawid_skene,
    fleiss_kappa,
    krippendorff_alpha,
    most_frequent,
    percent_agreement,
    report_rater,
)
from hcat.calibration.targets import as_texts
from hcat.engine.columns import schema, stack_parts
from hcat.statistics.arrays import Floats, Keys

AGREEMENT_SCHEMA = schema(
    "string: criterion rater_kind other_rater_kind rater statistic status interval_status",
    "float64: value low high",
    "int64: count_units count_ratings count_clusters",
)

RATER_SCHEMA = schema(
    "string: criterion rater_kind rater status",
    "int64: count_ratings count_shared_units",
    "float64: count_effective agreement low high kappa agreement_of_others",
    "bool: disagrees_with_everyone",
    "int64: count_failed",
    "float64: share_failed chance_of_gap",
)

MODELLED_SCHEMA = schema("string: interaction_id criterion label_status", "int64: scale_point")

#: How ratings become a label; the last one needs a model.
RULES = ("majority", "mean", "dawid_skene")


class _Criterion(NamedTuple):
    """Looks of one kind of rater at one criterion: ratings of shape (n_units, n_raters), NaN = not rated."""

    name: str
    kind: str
    units: list[str]
    raters: list[str]
    clusters: Keys  # (n_units, 2)
    first: Floats
    second: Floats

    @property
    def head(self) -> dict[str, Any]:
        return {"criterion": self.name, "rater_kind": self.kind}


def measure_raters(ratings: pa.Table, rules: pa.Table, targets: pa.Table, random_seed: int) -> pa.Table:
    """Return the agreement of raters, a report of each rater, and the labels that a model of raters decides.

    Parameters
    ----------
    ratings : Table
        int_ratings_of_clusters, ordered by its key.
    rules : Table
        criterion, rule.
    targets : Table
        criterion, accept_from: the point of the scale from which a rating accepts.
    random_seed : int
        Bootstrap over whole clusters.

    Returns
    -------
    Table
        The parts ``agreement``, ``reports`` and ``labels`` (:func:`hcat.engine.columns.stack_parts`).
    """
    return stack_parts(
        {
            "agreement": measure_agreement(ratings, random_seed),
            "reports": report_raters(ratings, targets),
            "labels": adjudicate_by_model(ratings, rules),
        }
    )


def measure_agreement(ratings: pa.Table, random_seed: int, count_draws: int = COUNT_DRAWS) -> pa.Table:
    """Return the agreement between raters of one kind, between kinds, and of every rater with an own second pass."""
    rows: list[dict[str, Any]] = []
    criteria = list(_read_criteria(ratings))
    draws: dict[str, Any] = {"count_draws": count_draws, "seed": random_seed}
    for criterion in criteria:
        rows += [criterion.head | row for row in _between_raters(criterion.first, criterion.clusters, draws)]
        for rater, *passes in zip(criterion.raters, criterion.first.T, criterion.second.T, strict=True):
            if not np.isnan(passes[1]).all():
                own = (np.column_stack(passes), criterion.clusters)
                for figure in (percent_agreement(*own, **draws), cohen_kappa(*own, **draws)):
                    figure = figure._replace(statistic=f"intra_rater_{figure.statistic}")
                    rows.append(criterion.head | {"rater": rater} | figure._asdict())
    for one, other in combinations(criteria, 2):
        if one.name == other.name:
            head = one.head | {"other_rater_kind": other.kind}
            rows += [head | row for row in _between_raters(*_join_kinds(one, other), draws)]
    return pa.Table.from_pylist(rows, schema=AGREEMENT_SCHEMA)


def _between_raters(ratings: Floats, clusters: Keys, draws: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every statistic between raters once, each with its own status."""
    # the last one, of whole numbers with an order, bears several raters and gaps
    statistics = (percent_agreement, cohen_kappa, fleiss_kappa, krippendorff_alpha)
    return [measure(ratings, clusters, **draws)._asdict() for measure in statistics]


def report_raters(ratings: pa.Table, targets: pa.Table) -> pa.Table:
    """Return one row per (criterion, rater) that compares the rater with the others of this kind."""
    accept_from = {row["criterion"]: row["accept_from"] for row in targets.to_pylist()}
    rows = [
        criterion.head | {"rater": rater} | report_rater(criterion.first, criterion.clusters, column) | failed
        for criterion in _read_criteria(ratings)
        for column, (rater, failed) in enumerate(
            zip(criterion.raters, compare_strictness(criterion.first, accept_from.get(criterion.name)), strict=True)
        )
    ]
    return pa.Table.from_pylist(rows, schema=RATER_SCHEMA)


def adjudicate_by_model(ratings: pa.Table, rules: pa.Table) -> pa.Table:
    """Return the labels of the criteria whose rule is `dawid_skene`, one row per (interaction, criterion)."""
    by_criterion = {row["criterion"]: row["rule"] for row in rules.select(["criterion", "rule"]).to_pylist()}
    unknown = sorted({str(rule) for rule in by_criterion.values()}.difference(RULES))
    if unknown:
        raise ValueError(f"rating_criteria: rule must be among {', '.join(RULES)}, got {', '.join(unknown)}")
    rows: list[dict[str, Any]] = []
    for criterion in _read_criteria(ratings.filter(pc.field("gives_label"))):
        if by_criterion.get(criterion.name) != "dawid_skene":
            continue
        found = dawid_skene(criterion.first)
        for unit, status, point in zip(criterion.units, found.statuses, found.labels.tolist(), strict=True):
            known = None if np.isnan(point) else int(point)
            row = {"interaction_id": unit, "criterion": criterion.name, "label_status": status, "scale_point": known}
            rows.append(row)
    return pa.Table.from_pylist(rows, schema=MODELLED_SCHEMA)


def _join_kinds(one: _Criterion, other: _Criterion) -> tuple[Floats, Keys]:
    """Return the point that each kind gives to the units of both, shape (n, 2), and the clusters of the units."""
    _, *places = np.intersect1d(one.units, other.units, return_indices=True)
    points = [most_frequent(*count_values(each.first))[0] for each in (one, other)]
    return np.column_stack([points[0][places[0]], points[1][places[1]]]), one.clusters[places[0]]


def _read_criteria(ratings: pa.Table) -> Iterator[_Criterion]:
    """Yield criteria and kinds in the order of their names, units and raters in the order of theirs."""
    kinds = ratings.group_by(["criterion", "rater_kind"]).aggregate([]).to_pylist()
    for name, kind in sorted((row["criterion"], row["rater_kind"]) for row in kinds):
        own = ratings.filter((pc.field("criterion") == name) & (pc.field("rater_kind") == kind))
        units, rows, of_units = np.unique(as_texts(own["interaction_id"]), return_index=True, return_inverse=True)
        raters, of_raters = np.unique(as_texts(own["rater"]), return_inverse=True)
        looks = np.full((2, len(units), len(raters)), np.nan)
        is_second = [look != 1 for look in own["rating_pass"].to_pylist()]
        looks[np.array(is_second, dtype=np.int64), of_units, of_raters] = own["scale_point"].to_numpy()
        clusters = np.column_stack([as_texts(own[key])[rows] for key in ("cluster_id", "second_cluster_id")])
        yield _Criterion(name, kind, units.tolist(), raters.tolist(), clusters, *looks)
