"""How often another draw of the same size would change the verdict of a gate, and which loss the gate would stop.

The truth of a share with Wilson's interval of n answers follows Jeffreys' beta distribution, and another draw counts
failures among n answers of that rate. Differences and means are normal. The rule of the gate decides each draw.
What the choice of the worst segment adds is left out.

Where truths spread evenly, as many gates flip as is said; at one truth no rule is right on average (decision 72). The
least and the largest share over the truths in the gate's interval are right where the interval is.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.monitoring.words import MEASURED
from hcat.statistics.arrays import Floats
from hcat.statistics.intervals import normal_quantile, wilson_interval, wilson_rows

#: Losses whose detection is shown, and the sizes among which the smallest one is sought.
LOSSES: Final = (0.05, 0.10)
_STEPS: Final = np.arange(1, 51) / 100
#: Share of draws in which a loss that counts as stopped is stopped.
POWER: Final = 0.8
#: Draws of each truth, and truths in the interval of a gate.
_DRAWS, _TRUTHS = 5_000, 21
#: Measured values, and both bounds.
_Drawn = tuple[Floats, Floats, Floats]
#: Share of draws with another verdict above which page one names a gate.
UNSURE: Final = 0.1

_LIST_GATES: Final = """
select gate_name, measurement, comparison, burden, verdict, threshold, measured_value, lower_bound, upper_bound,
    (select cast(settings ->> 'hcat_confidence' as double) from dim_runs order by build_number desc limit 1)
        as confidence
from fct_threshold_gates
where build_number = (select max(build_number) from fct_threshold_gates)
order by gate_name
"""


class Rehearsed(NamedTuple):
    """What other draws of the same size would say of a gate; shares of draws, in [0, 1]."""

    gate_name: str
    verdict: str
    share_other_verdict: float
    #: Its least and largest value for a truth in the interval of the gate.
    range_other_verdict: tuple[float, float]
    #: Of :data:`LOSSES`; None where the gate measures no share and no difference of shares.
    shares_stopped: tuple[float, ...] | None
    #: Smallest loss that is stopped in :data:`POWER` of the draws; None where it is above .5.
    smallest_stopped: float | None

    @property
    def is_unsure(self) -> bool:
        """Return whether another draw says something else in more than one of ten cases."""
        return self.share_other_verdict > UNSURE


def rehearse_last_build(source: Warehouse) -> list[Rehearsed]:
    """Return the gates of the last build that measured an interval, by name."""
    return rehearse(source.rows(_LIST_GATES, ["fct_threshold_gates", "dim_runs.settings"]))


def rehearse(gates: Iterable[Row]) -> list[Rehearsed]:
    """Return what other draws would say of each gate that was decided by an interval."""
    return [
        _rehearse(gate)
        for gate in gates
        for low, high in [(gate["lower_bound"], gate["upper_bound"])]
        if gate["verdict"] != "not_evaluated" and low is not None and high is not None and low < high
    ]


def list_rehearsed(found: Iterable[Rehearsed]) -> list[tuple[str, str]]:
    """Return a table for a terminal: a line of headings, and one line per gate."""
    losses = [f"stops {100 * loss:g} points" for loss in LOSSES]
    rows = [("gate", "verdict", "other verdict", *losses, "stops in 4 of 5")]
    for one in found:
        shares = [f"{100 * share:.0f} %" for share in one.shares_stopped or ()] or ["–"] * len(LOSSES)
        smallest = "–" if one.smallest_stopped is None else f"{100 * one.smallest_stopped:g} points"
        least, most = one.range_other_verdict
        other = f"{100 * one.share_other_verdict:.0f} % ({100 * least:.0f} to {100 * most:.0f})"
        rows.append((one.gate_name, one.verdict, other, *shares, smallest))
    return [(name, f"{first:10}{''.join(f'{other:>18}' for other in others)}") for name, first, *others in rows]


def _rehearse(gate: Row) -> Rehearsed:
    unit = MEASURED[gate["measurement"]].unit if gate["measurement"] in MEASURED else ""
    truths, draw = _draw_shares(gate) if unit == "%" else _draw_numbers(gate)
    worse = 1 if gate["comparison"] == "at_most" else -1
    # without proof of harm, an undecided gate lets a release through
    passing = ["passed", "undecided"] if gate["burden"] == "prove_harm" else ["passed"]

    def share_other(truth: Floats, verdicts: list[str]) -> float:
        return float(np.mean(~np.isin(_decide(gate, *draw(truth)), verdicts)))

    def share_stopped(loss: float) -> float:
        return share_other(np.full(_DRAWS, gate["measured_value"] + worse * loss), passing)

    possible = np.linspace(gate["lower_bound"], gate["upper_bound"], _TRUTHS)
    shares = [share_other(np.full(_DRAWS, truth), [gate["verdict"]]) for truth in possible]
    return Rehearsed(
        clean_label(gate["gate_name"]),
        gate["verdict"],
        share_other(truths, [gate["verdict"]]),
        (min(shares), max(shares)),
        tuple(share_stopped(loss) for loss in LOSSES) if unit else None,
        next((float(loss) for loss in _STEPS if share_stopped(loss) >= POWER), None) if unit else None,
    )


def _draw_numbers(gate: Row) -> tuple[Floats, Callable[[Floats], _Drawn]]:
    """Return truths and draws of a difference or a mean: normal, with the standard error of the interval."""
    random, value = np.random.default_rng(0), float(gate["measured_value"])
    below, above = value - gate["lower_bound"], gate["upper_bound"] - value
    error = (below + above) / 2 / normal_quantile((1 + gate["confidence"]) / 2)

    def draw(truth: Floats) -> _Drawn:
        values = random.normal(truth, error)
        return values, values - below, values + above

    return random.normal(value, error, _DRAWS), draw


def _draw_shares(gate: Row) -> tuple[Floats, Callable[[Floats], _Drawn]]:
    """Return truths and draws of a share among as many answers as Wilson's interval of this width is made of."""
    random, value = np.random.default_rng(0), float(gate["measured_value"])
    quantile = normal_quantile((1 + gate["confidence"]) / 2)
    n = max(1, round(wilson_rows(value, gate["upper_bound"] - gate["lower_bound"], quantile)))

    def draw(truth: Floats) -> _Drawn:
        values = random.binomial(n, truth.clip(0, 1)) / n
        return values, *wilson_interval(values, np.full(_DRAWS, float(n)), np.full(_DRAWS, quantile))

    return random.beta(value * n + 0.5, n - value * n + 0.5, _DRAWS), draw


def _decide(gate: Row, values: Floats, lows: Floats, highs: Floats) -> npt.NDArray[np.str_]:
    """Return the verdict of the gate on each draw."""
    limit, is_below = gate["threshold"], gate["comparison"] == "at_most"
    tested = highs if is_below == (gate["burden"] == "prove_safe") else lows
    meets, bound_meets = (values <= limit, tested <= limit) if is_below else (values >= limit, tested >= limit)
    return np.where(meets & bound_meets, "passed", np.where(meets | bound_meets, "undecided", "failed"))
