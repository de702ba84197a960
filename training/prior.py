"""The shipped prior of groundedness: one fusion of signals, fitted on many sets with equal weight, and its cut-offs.

Each family has the same weight, and so has each kind of fault. Sets that the classifier itself was trained on take part
in the fit and judge nothing.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Flags, Floats
from training.fusion import Fusion, fit_fusion
from training.signals import Signals

#: Sets whose answers the shipped classifiers have read in training: no test of them.
TRAINED_SETS: Final = frozenset({"ragtruth", "expertqa"})

#: Families of answers of RAG systems and dialogues over passages, on which the cut-off of an answer is chosen.
RAG_FAMILIES: Final = ("rag", "wizard")

#: Share of the weight that made faults have in the fit, half of it on the faithful sentences that they were made from.
FAULT_SHARE: Final = 0.5

#: Half the weight of the squared standardised coefficients.
PENALTY: Final = 2.0

#: Share of good answers whose contradiction may lie above its cut-off.
CONTRADICTION_ALARMS: Final = 0.03

#: What a cut-off may have less in balanced accuracy than the best one.
CUT_OFF_TOLERANCE: Final = 0.01


def balance(signals: Signals, is_fitted: Flags) -> Floats:
    """Return the weight of each answer in a fit, shape (n,), 0 where it takes no part; their mean is 1 over the others.

    Labelled answers: each family, and each set of a family, weighs the same. Made faults: each kind, and each family of
    a kind, weighs the same; the faithful sentences weigh as much as all faults together.
    """
    weights = np.zeros(len(signals.answers))
    groups: dict[tuple[str, ...], list[int]] = {}
    for position in np.flatnonzero(is_fitted):
        answer, kind = signals.answers[position], signals.kinds[position]
        key = ("labelled", answer.family, answer.set_name) if kind is None else ("made", kind, answer.family)
        groups.setdefault(key, []).append(int(position))
    for key, positions in groups.items():
        siblings = len({other for other in groups if other[:2] == key[:2]})
        cousins = len({other[1] for other in groups if other[0] == key[0]})
        if key[0] == "labelled":
            share = (1 - FAULT_SHARE) / cousins
        elif key[1] == "faithful":
            share = FAULT_SHARE / 2
        else:
            share = FAULT_SHARE / 2 / (cousins - 1)
        weights[positions] = share / siblings / len(positions)
    taken = weights > 0
    weights[taken] /= weights[taken].mean()
    return weights


def fit(signals: Signals, is_fitted: Flags) -> Fusion:
    """Return the fusion of the chosen answers, each with its balanced weight."""
    weights = balance(signals, is_fitted)
    kept = weights > 0
    rows = kept[signals.owners] & ~signals.claims_nothing
    numbers = np.cumsum(kept) - 1
    return fit_fusion(
        signals.features[rows],
        numbers[signals.owners[rows]],
        ~signals.is_bad[kept],
        weights=weights[kept],
        penalty=PENALTY,
    )


def is_untrained(signals: Signals) -> Flags:
    """Return which answers come from sets that the classifiers were not trained on, shape (n,)."""
    return np.array([answer.set_name not in TRAINED_SETS for answer in signals.answers], dtype=bool)


def fit_left_out(signals: Signals) -> Floats:
    """Return the log odds of each sentence by the fusion of all other families, shape (m,)."""
    log_odds = np.empty(len(signals.owners))
    families = signals.families
    for family in np.unique(families):
        fusion = fit(signals, families != family)
        rows = (families == family)[signals.owners]
        log_odds[rows] = fusion.sentence_log_odds(signals.features[rows])
    return log_odds


def choose_cut_off(signals: Signals, log_odds: Floats, is_chosen: Flags) -> float:
    """Return the log odds below which flagging has the highest balanced accuracy, each family with equal weight.

    The curve is flat at its top: of all cut-offs within :data:`CUT_OFF_TOLERANCE` of the best the middle one is taken.
    """
    weights = np.zeros(len(log_odds))
    families = signals.families
    is_bad = signals.is_bad
    for family in np.unique(families[is_chosen]):
        for label in (True, False):
            own = is_chosen & (families == family) & (is_bad == label)
            weights[own] = 1 / max(own.sum(), 1)
    weights /= len(np.unique(families[is_chosen]))
    order = np.argsort(log_odds[is_chosen], kind="stable")
    ordered = log_odds[is_chosen][order]
    gains = np.cumsum(np.where(is_bad[is_chosen][order], 1.0, -1.0) * weights[is_chosen][order])
    return float(np.median(ordered[gains >= gains.max() - 2 * CUT_OFF_TOLERANCE]))


def propose_cut_offs(signals: Signals) -> dict[str, float]:
    """Return cut-offs for the seed threshold_decisions, from fusions that have not seen the family of an answer.

    ``groundedness`` and ``sentence_support`` are probabilities of highest balanced accuracy, the first on
    :data:`RAG_FAMILIES`. ``contradiction`` and ``sentence_contradiction`` flag :data:`CONTRADICTION_ALARMS` of the good
    answers and sentences, each family with equal weight.
    """
    log_odds = fit_left_out(signals)
    is_chosen = signals.is_labelled & is_untrained(signals)
    answer = choose_cut_off(signals, signals.join(log_odds), is_chosen & np.isin(signals.families, RAG_FAMILIES))
    is_single = np.bincount(signals.owners, minlength=len(signals.answers)) == 1
    sentence = choose_cut_off(signals, signals.join(log_odds), is_untrained(signals) & is_single)
    is_good = is_chosen & ~signals.is_bad
    contradiction = -signals.worst("contradiction_logit")
    alarm = _weighted_quantile(contradiction[is_good], signals.families[is_good], 1 - CONTRADICTION_ALARMS)
    found = {"groundedness": answer, "sentence_support": sentence, "contradiction": alarm}
    return {name: float(1 / (1 + np.exp(-value))) for name, value in found.items()}


def _weighted_quantile(values: Floats, families: npt.NDArray[np.str_], level: float) -> float:
    """Return the quantile of values in which each family has the same weight."""
    counts = {family: (families == family).sum() for family in np.unique(families)}
    weights = np.array([1 / counts[family] / len(counts) for family in families])
    order = np.argsort(values, kind="stable")
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), level)])
