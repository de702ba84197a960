"""Stage 1 of calibration with people: from a score to the probability that people accept.

The families are those of Sudjianto et al. 2024 (section 5.1); docs/calibration.md has their formulas, and the least
labels that each needs. A fitted calibrator consists of its rows alone: a person can read them, and SQL or Python can
apply them. In a boosted tree, go left at a node when s is <= threshold. Labels that were sampled with inclusion
probability pi weigh 1 / pi.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import hash_folds, mean_and_error

#: From simple to flexible: the order in which the one-standard-error rule prefers.
FAMILIES: Final = ("logistic", "ordinal", "multinomial", "isotonic", "boosted")
#: Families of a scale of three or more points.
GRADED_FAMILIES: Final = ("ordinal", "multinomial")
#: The catalogue's words for the direction of a metric, and the sign that a slope must have.
DIRECTIONS: Final[Mapping[str, int]] = {"higher_is_better": 1, "lower_is_better": -1}

MINIMUM_LABELS_PER_CLASS: Final = 20
MINIMUM_CLUSTERS_PER_CLASS: Final = 10
#: Families that make steps of single scores make steps of noise of fewer labels.
MINIMUM_LABELS_STEPS: Final = 1_000
#: Folds of whole clusters that choose a family and give each label a probability.
COUNT_FOLDS: Final = 5
SEED: Final = 20260101

#: A probability is held this far from 0 and 1 before its logit is taken (|x| <= 13.8): one value must not decide.
LOGIT_BOUND: Final = 1e-6
#: Half of this times the squared slope per standard deviation is added to the negative log likelihood (a sum over
#: labels). Labels bring up to n / 4 of curvature, so that it moves a slope by about 1 part in 10,000 at n = 40 and less
#: beyond; where scores separate the classes, it is what keeps the slope finite.
PENALTY: Final = 1e-3
#: Log loss of a probability of 0 or 1 is that of this distance from it.
LOG_LOSS_BOUND: Final = 1e-12
#: A small learner: trees of at most 8 leaves of at least 20 labels, no inner validation split (it would part siblings).
_BOOSTED: Final[Mapping[str, Any]] = {
    "max_iter": 50,
    "learning_rate": 0.1,
    "max_leaf_nodes": 8,
    "min_samples_leaf": 20,
    "l2_regularization": 1.0,
    "early_stopping": False,
}
#: Largest gradient of the mean negative log likelihood at which an ordinal fit counts as converged.
_GRADIENT_TOLERANCE: Final = 1e-6

Row = dict[str, Any]
"""One parameter, step or tree node, with the columns that apply; its key is (parameter, position)."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledScores:
    """Scores with adjudicated labels; make it with :func:`label_scores`."""

    scores: Floats
    labels: Integers  # scale points 0 to count_scale_points - 1
    clusters: Integers
    cluster_names: npt.NDArray[Any]  # by code
    weights: Floats  # 1 / inclusion probability, scaled to mean 1
    sign: int  # +1 where a higher score is better, else -1
    is_probability: bool  # the logit of the score, not the score, enters logistic, ordinal and multinomial
    count_scale_points: int
    accept_from: int  # the least point that people accept

    @property
    def is_accepted(self) -> Flags:
        """True where people accept, shape (n,)."""
        return np.asarray(self.labels >= self.accept_from)

    def take(self, rows: Flags) -> LabelledScores:
        """Return the chosen rows, their weights scaled to mean 1 again."""
        weights = self.weights[rows] / self.weights[rows].mean()
        return replace(
            self, scores=self.scores[rows], labels=self.labels[rows], clusters=self.clusters[rows], weights=weights
        )


def label_scores(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    direction: str = "higher_is_better",
    is_probability: bool = False,
    count_scale_points: int = 2,
    accept_from: int = 1,
) -> LabelledScores:
    """Return scores and labels, checked."""
    values, points = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    names, codes = np.unique(np.asarray(clusters), return_inverse=True)
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not (len(values),) == points.shape == codes.shape == weight.shape:
        raise ValueError(
            "scores, labels, clusters and weights must have one length, got "
            f"{values.shape}, {points.shape}, {codes.shape}, {weight.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError("scores must be finite, got NaN or infinity: leave out rows that are not scored")
    others = sorted(set(points.tolist()).difference(range(count_scale_points)))
    if others:
        raise ValueError(f"labels must be whole numbers from 0 to {count_scale_points - 1}, got {others}")
    if not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError(f"weights must be finite and positive, got {weight.min()} to {weight.max()}")
    if is_probability and ((values < 0) | (values > 1)).any():
        raise ValueError(f"a probability must lie in [0, 1], got {values.min()} to {values.max()}")
    return LabelledScores(
        values,
        points.astype(np.int64),
        codes.astype(np.int64),
        names,
        weight / weight.mean() if len(weight) else weight,
        DIRECTIONS[direction],
        is_probability,
        count_scale_points,
        accept_from,
    )


class Calibrator(NamedTuple):
    """A fitted calibrator: a family out of :data:`FAMILIES`, and all that it is as rows."""

    family: str
    rows: Sequence[Row]

    def values(self, parameter: str, column: str = "value") -> Floats:
        """Return a column of the rows of one parameter, in their order, NaN for null; empty when it has none."""
        found = [row.get(column) for row in self.rows if row["parameter"] == parameter]
        return np.array(found, dtype=np.float64)

    def apply(self, scores: npt.ArrayLike) -> Floats:
        """Return P(y = 1), shape (n,)."""
        values = np.asarray(scores, dtype=np.float64)
        if self.family == "isotonic":
            bounds, probabilities = self.values("step", "lower_bound")[1:], self.values("step", "probability")
            return probabilities[np.searchsorted(bounds, values, side="right")]
        if self.family == "boosted":
            return _expit(self._log_odds_of_trees(values))
        if self.family == "logistic":
            return _expit(self.values("intercept")[0] + self.values("slope")[0] * self._inputs(values))
        accept_from = int(self.values("accept_from")[0])
        if self.family == "ordinal":
            return _expit(self.values("slope")[0] * self._inputs(values) - self.values("cut_point")[accept_from - 1])
        return np.asarray(self.scale_point_probabilities(values)[:, accept_from:].sum(axis=1))

    def scale_point_probabilities(self, scores: npt.ArrayLike) -> Floats:
        """Return P(label = k) of a graded scale, shape (n, count_scale_points); rows sum to 1."""
        from scipy.special import softmax

        inputs = self._inputs(np.asarray(scores, dtype=np.float64))[:, None]
        if self.family == "multinomial":
            log_odds = self.values("intercept") + self.values("slope") * inputs
            return np.asarray(softmax(np.pad(log_odds, ((0, 0), (1, 0))), axis=1))
        at_least = _expit(self.values("slope")[0] * inputs - self.values("cut_point"))
        edges = np.pad(at_least, ((0, 0), (1, 1)), constant_values=((0, 0), (1, 0)))
        return np.maximum(-np.diff(edges, axis=1), 0.0)  # rounding

    def _inputs(self, scores: Floats) -> Floats:
        bound = self.values("logit_bound")
        return _logit(scores, float(bound[0])) if len(bound) else scores

    def _log_odds_of_trees(self, scores: Floats) -> Floats:
        total = np.full(len(scores), self.values("baseline")[0])
        tree, node, value, threshold, left, right = (
            self.values("node", column) for column in ("tree", "node", "value", "threshold", "left", "right")
        )
        for number in np.unique(tree):
            own = tree == number
            # a leaf is its own child, so that every row may walk as long as the longest path
            is_leaf = ~np.isnan(value[own])
            lower, upper = (np.where(is_leaf, node[own], child[own]).astype(int) for child in (left, right))
            at = np.zeros(len(scores), dtype=np.int64)
            while not is_leaf[at].all():
                at = np.where(scores <= threshold[own][at], lower[at], upper[at])
            total += value[own][at]
        return total


class Fit(NamedTuple):
    """A family fitted on all rows, and how it did in the choice: mean losses in nats, their excess above the best."""

    family: str
    status: str
    calibrator: Calibrator | None = None
    # a cut of the score parts accepted from other answers: only the penalty sets the slope (Albert and Anderson 1984)
    is_separated: bool = False
    log_loss: float | None = None
    log_loss_standard_error: float | None = None
    excess_log_loss: float | None = None
    excess_log_loss_standard_error: float | None = None
    is_chosen: bool = False


def fit_calibrator(data: LabelledScores, family: str, seed: int = SEED) -> Fit:
    """Return a family fitted by (penalised) maximum likelihood, or a status."""
    status = _status_of_labels(data, family)
    if status != "fitted":
        return Fit(family, status)
    status, calibrator = _fit(data, family, seed)
    accepted, others = data.scores[data.is_accepted], data.scores[~data.is_accepted]
    is_separated = bool(others.max() <= accepted.min() or accepted.max() <= others.min())
    return Fit(family, status, calibrator, status == "fitted" and is_separated)


def _classes(data: LabelledScores, family: str) -> tuple[Integers, int]:
    """Return the classes that a family tells apart, and their number."""
    if family in GRADED_FAMILIES:
        return data.labels, data.count_scale_points
    return data.is_accepted.astype(np.int64), 2


def _status_of_labels(data: LabelledScores, family: str) -> str:
    if len(data.labels) and (data.is_accepted.all() or not data.is_accepted.any()):
        return "one_class"
    classes, count = _classes(data, family)
    for label in range(count):
        own = data.clusters[classes == label]
        if len(own) < MINIMUM_LABELS_PER_CLASS or len(np.unique(own)) < MINIMUM_CLUSTERS_PER_CLASS:
            return "insufficient"
    makes_steps = family in ("isotonic", "boosted")
    return "insufficient" if makes_steps and len(classes) < MINIMUM_LABELS_STEPS else "fitted"


def _fit(data: LabelledScores, family: str, seed: int) -> tuple[str, Calibrator | None]:
    """Return status and calibrator without the minimum numbers of labels, for the inner folds."""
    if data.is_accepted.all() or not data.is_accepted.any():
        return "one_class", None
    if np.ptp(data.scores) == 0:
        return "constant_score", None
    if family == "boosted":
        status, rows = _fit_boosted(data, seed)
    elif family == "isotonic":
        status, rows = _fit_isotonic(data)
    else:
        status, rows = _fit_parametric(data, family)
    if status != "fitted":
        return status, None
    rows.append({"parameter": "direction", "position": 0, "value": float(data.sign)})
    return status, Calibrator(family, sorted(rows, key=lambda row: (row["parameter"], row["position"])))


def _fit_parametric(data: LabelledScores, family: str) -> tuple[str, list[Row]]:
    inputs = _logit(data.scores, LOGIT_BOUND) if data.is_probability else data.scores
    if np.ptp(inputs) == 0:
        return "constant_score", []
    center = float(np.average(inputs, weights=data.weights))
    scale = float(np.sqrt(np.average((inputs - center) ** 2, weights=data.weights)))
    classes, count = _classes(data, family)
    if not np.bincount(classes, minlength=count).all():
        return "insufficient", []
    solve = _fit_cut_points if family == "ordinal" else _fit_log_odds
    constants, slopes, has_converged = solve((inputs - center) / scale, classes, data.weights)
    if not has_converged:
        return "not_converged", []
    # P(accepted) rises everywhere when every accepted scale point has a larger slope than every other; label 0 has 0
    all_slopes = data.sign * np.concatenate([[0.0], slopes])
    accept_from = data.accept_from if family == "multinomial" else 1
    if all_slopes[accept_from:].min() <= all_slopes[:accept_from].max():
        return "wrong_direction", []
    slopes = slopes / scale
    name, shift = ("cut_point", center) if family == "ordinal" else ("intercept", -center)
    # those of a graded scale are numbered by scale point, point 0 being the reference
    rows = _number(name, constants + slopes * shift, int(family != "logistic"))
    rows += _number("slope", slopes, int(family == "multinomial"))
    if family in GRADED_FAMILIES:
        rows += _number("accept_from", [data.accept_from])
    if data.is_probability:
        rows += _number("logit_bound", [LOGIT_BOUND])
    return "fitted", rows


def _number(parameter: str, values: Sequence[float] | Floats, first: int = 0) -> list[Row]:
    return [
        {"parameter": parameter, "position": place, "value": float(value)} for place, value in enumerate(values, first)
    ]


def _fit_log_odds(inputs: Floats, classes: Integers, weights: Floats) -> tuple[Floats, Floats, bool]:
    """Return intercepts and slopes of classes 1 and up against class 0 (two classes: logistic regression)."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1 / PENALTY, solver="newton-cholesky", tol=1e-10)
    model.fit(inputs[:, None], classes, sample_weight=weights)
    constants, slopes = model.intercept_, model.coef_[:, 0]
    if len(slopes) > 1:
        constants, slopes = constants[1:] - constants[0], slopes[1:] - slopes[0]
    return constants, slopes, bool(model.n_iter_.max() < model.max_iter)


def _fit_cut_points(inputs: Floats, classes: Integers, weights: Floats) -> tuple[Floats, Floats, bool]:
    """Return cut points and slope of proportional odds: P(Y <= k) = F(cut_point[k + 1] - slope x) (McCullagh 1980)."""
    # statsmodels' OrderedModel takes no weights
    from scipy.optimize import minimize

    total = float(weights.sum())

    def place(parameters: Floats) -> Floats:
        return np.cumsum(np.concatenate([parameters[:1], np.exp(parameters[1:-1])]))

    def loss(parameters: Floats) -> float:
        slope = parameters[-1]
        edges = np.concatenate([[-np.inf], place(parameters), [np.inf]])
        low, high = edges[classes] - slope * inputs, edges[classes + 1] - slope * inputs
        # F(high) - F(low) = F(high) F(-low) (1 - exp(low - high))
        log_shares = np.log(-np.expm1(low - high)) - np.logaddexp(0.0, -high) - np.logaddexp(0.0, low)
        return float(PENALTY / 2 * slope**2 - weights @ log_shares) / total

    below = np.cumsum(np.bincount(classes, weights=weights))[:-1] / total
    log_odds = np.log(below / (1 - below))
    start = np.concatenate([log_odds[:1], np.log(np.diff(log_odds)), [0.0]])
    found = minimize(loss, start, jac="3-point", method="BFGS", options={"gtol": 1e-8, "maxiter": 1000})
    return place(found.x), found.x[-1:], bool(np.abs(found.jac).max() <= _GRADIENT_TOLERANCE)


def _fit_isotonic(data: LabelledScores) -> tuple[str, list[Row]]:
    """Return the steps of isotonic regression, clipped to [1 / (n + 2), 1 - 1 / (n + 2)]."""
    from sklearn.isotonic import IsotonicRegression

    values, inverse = np.unique(data.scores, return_inverse=True)
    totals = np.bincount(inverse, weights=data.weights)
    shares = np.bincount(inverse, weights=data.weights * data.is_accepted) / totals
    # ranks, because scikit-learn joins scores that differ by less than 1e-15
    ranks = np.arange(len(values), dtype=np.float64)
    fitted = IsotonicRegression(increasing=data.sign > 0).fit_transform(ranks, shares, sample_weight=totals)
    margin = 1 / (len(data.labels) + 2)
    fitted = np.clip(fitted, margin, 1 - margin)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(fitted)) + 1])
    if len(starts) == 1:
        return "wrong_direction", []
    bounds = values[starts - 1] / 2 + values[starts] / 2
    # between neighbours in double precision there is no middle
    bounds = np.where(bounds > values[starts - 1], bounds, values[starts])
    return "fitted", [
        {
            "parameter": "step",
            "position": place,
            "lower_bound": float(bounds[place]) if place else None,
            "probability": float(fitted[start]),
        }
        for place, start in enumerate(starts)
    ]


def _fit_boosted(data: LabelledScores, seed: int) -> tuple[str, list[Row]]:
    """Return baseline and nodes of monotone gradient-boosted trees (Friedman 2001; scikit-learn's histogram form)."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(monotonic_cst=[data.sign], random_state=seed, **_BOOSTED)
    model.fit(data.scores[:, None], data.is_accepted.astype(np.int64), sample_weight=data.weights)
    rows = _number("baseline", model._baseline_prediction.ravel())
    for tree, (predictor,) in enumerate(model._predictors):
        for node, found in enumerate(predictor.nodes):
            row: Row = {"parameter": "node", "position": len(rows) - 1, "tree": tree, "node": node}
            if found["is_leaf"]:
                row["value"] = float(found["value"])
            else:
                row |= {"feature": 0, "threshold": float(found["num_threshold"])}
                row |= {"left": int(found["left"]), "right": int(found["right"])}
                row["missing_goes_left"] = bool(found["missing_go_to_left"])
            rows.append(row)
    return ("fitted", rows) if any("threshold" in row for row in rows) else ("wrong_direction", [])


def cross_fit(data: LabelledScores, family: str, seed: int = SEED) -> tuple[Floats, Floats, Floats | None]:
    """Return what a calibrator of the other folds says of each label; whole clusters share a fold."""
    # P(accepted), or the share where no fit is possible; that share, (count + 1) / (n + 2): what is known without a
    # score; and P(label = k) of a graded family, (n, n_points), None where a fold has no fit
    folds = hash_folds(data.cluster_names, COUNT_FOLDS, f"hcat cross-validation|{seed}")[data.clusters]
    shares, points = np.full(len(folds), 0.5), np.full((len(folds), data.count_scale_points), np.nan)
    probabilities = shares.copy()
    for fold in np.unique(folds):
        own = folds == fold
        if own.all():
            break
        others = data.take(~own)
        shares[own] = (others.weights @ others.is_accepted + 1) / (len(others.labels) + 2)
        calibrator = _fit(others, family, seed)[1]
        probabilities[own] = shares[own] if calibrator is None else calibrator.apply(data.scores[own])
        if calibrator is not None and family in GRADED_FAMILIES:
            points[own] = calibrator.scale_point_probabilities(data.scores[own])
    return probabilities, shares, None if np.isnan(points).any() else points


def log_losses(probabilities: Floats, is_accepted: Flags) -> Floats:
    """Return the log loss of each row in nats; finite for probabilities of 0 and 1."""
    clipped = np.clip(probabilities, LOG_LOSS_BOUND, 1 - LOG_LOSS_BOUND)
    return np.asarray(-np.where(is_accepted, np.log(clipped), np.log1p(-clipped)))


def choose_calibrator(data: LabelledScores, seed: int = SEED) -> tuple[Fit, ...]:
    """Return all families; chosen is the simplest whose log loss is within one standard error of the best."""
    fits = [fit_calibrator(data, family, seed) for family in families_of(data.count_scale_points)]
    losses = {
        fit.family: log_losses(cross_fit(data, fit.family, seed)[0], data.is_accepted)
        for fit in fits
        if fit.calibrator is not None
    }
    if not losses:
        return tuple(fits)
    rows = data.clusters, data.weights
    figures = {family: mean_and_error(loss, *rows) for family, loss in losses.items()}
    best = min(figures, key=lambda family: figures[family][0])
    excess = {family: mean_and_error(loss - losses[best], *rows) for family, loss in losses.items()}
    chosen = next(family for family in losses if excess[family][0] <= excess[family][1])
    return tuple(
        Fit(*fit[:4], *figures[fit.family], *excess[fit.family], fit.family == chosen) if fit.family in losses else fit
        for fit in fits
    )


def families_of(count_scale_points: int) -> list[str]:
    """Return the families that a scale allows, from simple to flexible."""
    return [family for family in FAMILIES if family not in GRADED_FAMILIES or count_scale_points > 2]


def _logit(probabilities: Floats, bound: float) -> Floats:
    from scipy.special import logit

    return np.asarray(logit(np.clip(probabilities, bound, 1 - bound)))


def _expit(log_odds: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(log_odds))
