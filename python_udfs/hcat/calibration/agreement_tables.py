"""Ratings of people as Arrow tables: agreement per criterion, and a report on each rater.

The statistics are those of :mod:`hcat.calibration.agreement`; here rows become the arrays it reads, and its results
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.calibration.agreement import (
    Agreement,
    agreement_statistics,
    dawid_skene,
    intra_rater_agreement,
    rater_reports,
)

AGREEMENT_SCHEMA = pa.schema(
    [
        ("criterion", pa.string()),
        ("rater", pa.string()),
        ("statistic", pa.string()),
        ("status", pa.string()),
        ("interval_status", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("count_units", pa.int64()),
        ("count_ratings", pa.int64()),
        ("count_clusters", pa.int64()),
    ]
)

RATER_SCHEMA = pa.schema(
    [
        ("criterion", pa.string()),
        ("rater", pa.string()),
        ("status", pa.string()),
        ("count_ratings", pa.int64()),
        ("count_shared_units", pa.int64()),
        ("count_effective", pa.float64()),
        ("agreement", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("kappa", pa.float64()),
        ("agreement_of_others", pa.float64()),
        ("disagrees_with_everyone", pa.bool_()),
    ]
)

MODELLED_SCHEMA = pa.schema(
    [
        ("interaction_id", pa.string()),
        ("criterion", pa.string()),
        ("label_status", pa.string()),
        ("scale_point", pa.int64()),
    ]
)

#: How ratings become a label; the last one needs a model.
RULES = ("majority", "mean", "dawid_skene")


class _Criterion(NamedTuple):
    """First and second looks at one criterion: ratings of shape (n_units, n_raters), NaN = not rated."""

    name: str
    units: list[str]
    raters: list[str]
    clusters: npt.NDArray[np.int64]
    first: npt.NDArray[np.float64]
    second: npt.NDArray[np.float64]


def measure_agreement(ratings: pa.Table, count_draws: int, random_seed: int) -> pa.Table:
    """Return the agreement between raters of every criterion, and of every rater with an own second pass.

    Parameters
    ----------
    ratings : Table
        interaction_id, cluster_id, criterion, rater, rating_pass (1 = first look), scale_point; one row per look.
    count_draws, random_seed : int
        Bootstrap over whole clusters.

    Returns
    -------
    Table
        Schema :data:`AGREEMENT_SCHEMA`, ordered; ``rater`` is null for figures between raters, and numbers are null
        where the status says that there is none.

    Examples
    --------
    >>> looks = [("i1", "anna", 1), ("i1", "ben", 1), ("i2", "anna", 1), ("i2", "ben", 0)]
    >>> rows = [
    ...     dict(interaction_id=i, cluster_id=i, criterion="correct", rater=rater, rating_pass=1, scale_point=point)
    ...     for i, rater, point in looks
    ... ]
    >>> found = measure_agreement(pa.Table.from_pylist(rows), count_draws=10, random_seed=1).to_pylist()
    >>> {row["statistic"]: row["value"] for row in found}["percent_agreement"]
    0.5
    """
    rows: list[dict[str, Any]] = []
    for criterion in _read_criteria(ratings):
        figures = agreement_statistics(criterion.first, criterion.clusters, count_draws, seed=random_seed)
        rows += _to_rows(criterion.name, None, figures)
        for column, rater in enumerate(criterion.raters):
            if np.isnan(criterion.second[:, column]).all():
                continue
            own = intra_rater_agreement(
                criterion.first[:, column],
                criterion.second[:, column],
                criterion.clusters,
                count_draws,
                seed=random_seed,
            )
            figures = (own.percent_agreement, own.cohen_kappa, own.cohen_kappa_quadratic)
            rows += _to_rows(criterion.name, rater, figures)
    return pa.Table.from_pylist(rows, schema=AGREEMENT_SCHEMA)


def report_raters(ratings: pa.Table, count_draws: int, random_seed: int) -> pa.Table:
    """Return one row per (criterion, rater) that compares the rater with the majority of the others.

    Parameters as in :func:`measure_agreement`; schema :data:`RATER_SCHEMA`. First looks only.
    """
    rows: list[dict[str, Any]] = []
    for criterion in _read_criteria(ratings):
        reports = rater_reports(criterion.first, criterion.clusters, count_draws, seed=random_seed)
        for rater, report in zip(criterion.raters, reports, strict=True):
            kappa = None if report.kappa is None else report.kappa.value
            row = {name: getattr(report, name) for name in RATER_SCHEMA.names if hasattr(report, name)}
            rows.append(row | {"criterion": criterion.name, "rater": rater, "kappa": kappa})
    return pa.Table.from_pylist(rows, schema=RATER_SCHEMA)


def adjudicate_by_model(ratings: pa.Table, rules: pa.Table) -> pa.Table:
    """Return the labels of the criteria whose rule is `dawid_skene`, one row per (interaction, criterion).

    Parameters
    ----------
    ratings : Table
        As in :func:`measure_agreement`. First looks only.
    rules : Table
        criterion, rule.

    Returns
    -------
    Table
        Schema :data:`MODELLED_SCHEMA`; scale_point is null unless label_status is `labelled`.

    Raises
    ------
    ValueError
        If a rule is none of :data:`RULES`.
    """
    by_criterion = {row["criterion"]: row["rule"] for row in rules.select(["criterion", "rule"]).to_pylist()}
    unknown = sorted({str(rule) for rule in by_criterion.values()}.difference(RULES))
    if unknown:
        raise ValueError(f"adjudication_rules: rule must be among {', '.join(RULES)}, got {', '.join(unknown)}")
    rows: list[dict[str, Any]] = []
    for criterion in _read_criteria(ratings):
        if by_criterion.get(criterion.name) != "dawid_skene":
            continue
        found = dawid_skene(criterion.first).adjudication
        for unit, status, point in zip(criterion.units, found.statuses, found.labels.tolist(), strict=True):
            known = None if np.isnan(point) else int(point)
            row = {"interaction_id": unit, "criterion": criterion.name, "label_status": status, "scale_point": known}
            rows.append(row)
    return pa.Table.from_pylist(rows, schema=MODELLED_SCHEMA)


def _to_rows(criterion: str, rater: str | None, figures: Iterable[Agreement]) -> list[dict[str, Any]]:
    names = [name for name in AGREEMENT_SCHEMA.names if name not in ("criterion", "rater")]
    return [
        {"criterion": criterion, "rater": rater} | {name: getattr(figure, name) for name in names} for figure in figures
    ]


def _read_criteria(ratings: pa.Table) -> Iterator[_Criterion]:
    """Yield the criteria in the order of their names, units and raters in the order of theirs."""
    looks: dict[str, dict[tuple[str, str, int], float]] = {}
    groups: dict[str, str] = {}
    for row in ratings.to_pylist():
        look = 1 if row["rating_pass"] == 1 else 2
        looks.setdefault(row["criterion"], {})[row["interaction_id"], row["rater"], look] = float(row["scale_point"])
        groups[row["interaction_id"]] = row["cluster_id"]
    for name in sorted(looks):
        own = looks[name]
        units = sorted({unit for unit, _, _ in own})
        raters = sorted({rater for _, rater, _ in own})
        unit_index = {unit: index for index, unit in enumerate(units)}
        rater_index = {rater: index for index, rater in enumerate(raters)}
        first = np.full((len(units), len(raters)), np.nan)
        second = np.full_like(first, np.nan)
        for (unit, rater, look), value in own.items():
            (first if look == 1 else second)[unit_index[unit], rater_index[rater]] = value
        clusters = np.unique([groups[unit] for unit in units], return_inverse=True)[1].astype(np.int64)
        yield _Criterion(name, units, raters, clusters, first, second)
