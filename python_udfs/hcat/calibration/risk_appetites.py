"""How much risk the owner of an application takes: what a threshold is fitted for and judged by."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import pyarrow as pa

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class RiskAppetite:
    """How much risk the owner of an application takes; rows of the seed `risk_appetites`."""

    name: str
    confidence: float  # in (0.5, 1). Sarmah et al. 2024, step 3: high 0.90, moderate 0.95, low 0.98 to 0.99
    tolerated_false_accept_share: float  # type I errors that are tolerated (step 1C)
    tolerated_false_reject_share: float  # and type II
    cost_false_accept: float = 1.0  # in any common unit: only their ratio counts
    cost_false_reject: float = 1.0

    def __post_init__(self) -> None:
        if not 0.5 < self.confidence < 1:
            raise ValueError(f"confidence must lie in (0.5, 1), got {self.confidence}")
        for share in (self.tolerated_false_accept_share, self.tolerated_false_reject_share):
            if not 0 <= share <= 1:
                raise ValueError(f"a tolerated share must lie in [0, 1], got {share}")
        for cost in (self.cost_false_accept, self.cost_false_reject):
            if not 0 < cost < math.inf:
                raise ValueError(f"a cost must be positive and finite, got {cost}")

    @property
    def cost_ratio(self) -> float:
        """Return what a false accept costs in false rejects."""
        return self.cost_false_accept / self.cost_false_reject


def read_risk_appetites(appetites: pa.Table) -> list[RiskAppetite]:
    """Return the rows of the seed `risk_appetites`, checked."""
    names = [each.name for each in fields(RiskAppetite)[1:]]
    return [RiskAppetite(row["risk_appetite"], *(float(row[name]) for name in names)) for row in appetites.to_pylist()]


def find_appetite_in_force(applications: pa.Table, appetites: Sequence[RiskAppetite]) -> str:
    """Return the appetite that decides for a build: the strictest of its applications, or `moderate` without any."""
    stated = {name for name in applications["risk_appetite"].to_pylist() if name is not None} or {"moderate"}
    known = [appetite.name for appetite in order_appetites(appetites)]
    unknown = sorted(stated.difference(known))
    if unknown:
        raise ValueError(f"applications: risk_appetite must be one of {known}, got {unknown[0]!r}")
    return [name for name in known if name in stated][-1]


def order_appetites(appetites: Sequence[RiskAppetite]) -> list[RiskAppetite]:
    """Return the appetites by rising confidence."""
    ordered = sorted(appetites, key=lambda appetite: appetite.confidence)
    if not ordered:
        raise ValueError("there must be at least one appetite, got 0")
    if len({a.name for a in ordered}) < len(ordered) or len({a.confidence for a in ordered}) < len(ordered):
        raise ValueError(
            f"appetites must differ in name and confidence, got {[(a.name, a.confidence) for a in ordered]}"
        )
    for laxer, stricter in pairwise(ordered):
        if stricter.cost_ratio < laxer.cost_ratio * (1 - _ROUNDING):
            raise ValueError(
                "cost_false_accept / cost_false_reject must not fall while confidence rises, "
                f"got {laxer.cost_ratio} for {laxer.name} and {stricter.cost_ratio} for {stricter.name}"
            )
    return ordered
