"""Stage 1 of calibration with people: from a score to the probability that people accept.

Sudjianto et al. 2024 (section 5.1) name the families: logistic (Platt 1999), isotonic (Zadrozny and Elkan 2002),
ordinal (McCullagh 1980), multinomial and monotone gradient boosting. y = 1 means accepted. A fitted calibrator consists
of its rows alone (:class:`CalibratorRow`): a person can read them and SQL can apply them. s is the score. When the
score is a probability, x = ln(c / (1 - c)) with c = greatest(logit_bound, least(1 - logit_bound, s)); else x = s:

- logistic: ``1 / (1 + exp(-(intercept + slope * x)))``
- ordinal: P(label >= k) = ``1 / (1 + exp(-(slope * x - cut_point[k])))``; accepted: k = accept_from
- multinomial: P(label = k) = ``exp(intercept[k] + slope[k] * x)`` over the sum of these, with 0 and 0 for label 0;
  accepted: the sum over k >= accept_from
- isotonic: the probability of the last step with ``lower_bound is null or lower_bound <= s``
- boosted: baseline + sum over trees of the value of the leaf that s reaches, through ``1 / (1 + exp(-.))``; at a node
  go left when the feature is <= threshold, or when it is missing and missing_goes_left

Labels that were sampled with inclusion probability pi weigh 1 / pi. No row is resampled and no class is weighted,
because both would move the probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Floats, Integers
from hcat.statistics.clusters import error_of_mean, folds_of_clusters

#: From simple to flexible: the order in which the one-standard-error rule prefers.
FAMILIES = ("logistic", "ordinal", "multinomial", "isotonic", "boosted")
#: Families of a scale of three or more points.
GRADED_FAMILIES = ("ordinal", "multinomial")
FIT_STATUSES = ("fitted", "one_class", "insufficient", "constant_score", "wrong_direction", "not_converged")
#: The catalogue's words for the direction of a metric, and the sign that a slope must have.
DIRECTIONS: Mapping[str, int] = {"higher_is_better": 1, "lower_is_better": -1}

MINIMUM_LABELS_PER_CLASS = 20
MINIMUM_CLUSTERS_PER_CLASS = 10
MINIMUM_LABELS_STEPS = 1_000
COUNT_FOLDS = 5
SEED = 20260101

#: A probability is held this far from 0 and 1 before its logit is taken (|x| <= 13.8): one value must not decide.
LOGIT_BOUND = 1e-6
#: Half of this times the squared slope per standard deviation is added to the negative log likelihood (a sum over
#: labels). Labels bring up to n / 4 of curvature, so that it moves a slope by about 1 part in 10,000 at n = 40 and less
#: beyond; where scores separate the classes, it is what keeps the slope finite.
PENALTY = 1e-3
#: Log loss of a probability of 0 or 1 is that of this distance from it.
LOG_LOSS_BOUND = 1e-12
#: A small learner: trees of at most 8 leaves of at least 20 labels, no inner validation split (it would part siblings).
BOOSTED_SETTINGS: Mapping[str, Any] = {
    "max_iter": 50,
    "learning_rate": 0.1,
    "max_leaf_nodes": 8,
    "min_samples_leaf": 20,
    "l2_regularization": 1.0,
    "early_stopping": False,
}

_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "logistic": ("intercept", "slope"),
    "ordinal": ("accept_from", "cut_point", "slope"),
    "multinomial": ("accept_from", "intercept", "slope"),
    "isotonic": ("step",),
    "boosted": ("baseline", "node"),
}
#: Positions count from 0 but for these, which are numbered by scale point, point 0 being the reference.
_FIRST_POSITIONS = {("ordinal", "cut_point"): 1, ("multinomial", "intercept"): 1, ("multinomial", "slope"): 1}
_NEWTON_STEPS = 100
_NEWTON_DECREMENT = 1e-13
_NEWTON_SHORTEST = 1e-6
#: Largest gradient of the mean negative log likelihood at which a fit counts as converged.
_GRADIENT_TOLERANCE = 1e-6


# --- labelled scores --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class LabelledScores:
    """Scores with adjudicated labels; make it with :func:`label_scores`, which checks it.

    Attributes
    ----------
    scores : ndarray, shape (n, n_features)
        One column, or several for the family `boosted` alone.
    labels : ndarray of int, shape (n,)
        Scale points 0 to count_scale_points - 1.
    clusters : ndarray of int, shape (n,)
        Codes of the clusters.
    cluster_names : ndarray, shape (n_clusters,)
        Cluster group of each code.
    weights : ndarray, shape (n,)
        1 / inclusion probability, scaled to mean 1.
    signs : tuple of int
        +1 where a higher score is better, else -1, per feature.
    is_probability : bool
        The logit of the score, not the score, enters logistic, ordinal and multinomial.
    count_scale_points, accept_from : int
        Points of the scale, and the least that people accept.
    """

    scores: Floats
    labels: Integers
    clusters: Integers
    cluster_names: npt.NDArray[Any]
    weights: Floats
    signs: tuple[int, ...]
    is_probability: bool
    count_scale_points: int
    accept_from: int

    @property
    def is_accepted(self) -> npt.NDArray[np.bool_]:
        """True where people accept, shape (n,)."""
        result: npt.NDArray[np.bool_] = self.labels >= self.accept_from
        return result

    def take(self, chosen: npt.NDArray[np.bool_]) -> LabelledScores:
        """Return the chosen rows, their weights scaled to mean 1 again."""
        weights = self.weights[chosen]
        return replace(
            self,
            scores=self.scores[chosen],
            labels=self.labels[chosen],
            clusters=self.clusters[chosen],
            weights=weights / weights.mean(),
        )


def label_scores(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    direction: str | Sequence[str] = "higher_is_better",
    is_probability: bool = False,
    count_scale_points: int = 2,
    accept_from: int = 1,
) -> LabelledScores:
    """Return scores and labels, checked."""
    if not 1 <= accept_from < count_scale_points:
        raise ValueError(f"accept_from must lie in 1 to {count_scale_points - 1}, got {accept_from}")
    table = np.asarray(scores, dtype=np.float64)
    table = _checked_scores(table, max(1, table.shape[1]) if table.ndim == 2 else 1)
    directions = [direction] * table.shape[1] if isinstance(direction, str) else list(direction)
    if len(directions) != table.shape[1] or not set(directions) <= set(DIRECTIONS):
        raise ValueError(f"there must be {table.shape[1]} directions out of {list(DIRECTIONS)}, got {directions}")
    raw_labels, raw_clusters = np.asarray(labels), np.asarray(clusters)
    weight = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not (len(table),) == raw_labels.shape == raw_clusters.shape == weight.shape:
        raise ValueError(
            "scores, labels, clusters and weights must have one length, got "
            f"{len(table)}, {raw_labels.shape}, {raw_clusters.shape}, {weight.shape}"
        )
    others = [label for label in np.unique(raw_labels).tolist() if label not in range(count_scale_points)]
    if others:
        raise ValueError(f"labels must be whole numbers from 0 to {count_scale_points - 1}, got {others}")
    if not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError(f"weights must be finite and positive, got {weight.min()} to {weight.max()}")
    if is_probability:
        _logit(table, LOGIT_BOUND)
    names, codes = np.unique(raw_clusters, return_inverse=True)
    return LabelledScores(
        scores=table,
        labels=raw_labels.astype(np.int64),
        clusters=codes.astype(np.int64),
        cluster_names=names,
        weights=weight / weight.mean() if len(weight) else weight,
        signs=tuple(DIRECTIONS[name] for name in directions),
        is_probability=is_probability,
        count_scale_points=count_scale_points,
        accept_from=accept_from,
    )


def _checked_scores(scores: Floats, count_features: int) -> Floats:
    """Return scores as a table, shape (n, count_features); refuse what no calibrator may see."""
    table = scores[:, None] if scores.ndim == 1 else scores
    if table.ndim != 2 or table.shape[1] != count_features:
        raise ValueError(f"scores must have {count_features} features, got shape {scores.shape}")
    if np.isinf(table).any() or (np.isnan(table).all(axis=1) if count_features > 1 else np.isnan(table)).any():
        raise ValueError("scores must be finite, got NaN or infinity: leave out rows that are not scored")
    return table


# --- calibrators as rows ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CalibratorRow:
    """One parameter, step or tree node; fields that do not apply are None. Key: (parameter, position).

    Attributes
    ----------
    family : str
        One of :data:`FAMILIES`.
    parameter : str
        `direction` (+1 higher is better, -1 lower; position = feature), `logit_bound`, `intercept`, `slope`,
        `cut_point`, `accept_from`, `step`, `baseline` or `node`.
    position : int
        Scale point of an intercept, slope or cut point of a graded scale; rank of a step or node; else 0.
    value : float or None
        Value of the parameter or leaf.
    lower_bound, probability : float or None
        Of a step: it holds from lower_bound (None = from minus infinity) to the next step.
    tree, node, feature, left, right : int or None
        Of a tree node; left and right are nodes of the same tree, None at a leaf.
    threshold : float or None
        Of a tree node: features up to it go left.
    missing_goes_left : bool or None
        Of a tree node: where a missing feature goes.
    """

    family: str
    parameter: str
    position: int
    value: float | None = None
    lower_bound: float | None = None
    probability: float | None = None
    tree: int | None = None
    node: int | None = None
    feature: int | None = None
    threshold: float | None = None
    left: int | None = None
    right: int | None = None
    missing_goes_left: bool | None = None


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A fitted calibrator; make it with :func:`fit_calibrator` or :func:`from_rows`.

    Attributes
    ----------
    family : str
        One of :data:`FAMILIES`.
    rows : tuple of CalibratorRow
        All that it is, sorted by parameter and position.
    """

    family: str
    rows: tuple[CalibratorRow, ...]

    def to_rows(self) -> list[CalibratorRow]:
        """Return the rows; :func:`from_rows` makes the same calibrator of them, bit for bit."""
        return list(self.rows)

    def values(self, parameter: str) -> Floats:
        """Return the values of one parameter by position; empty when it has none."""
        return np.array([row.value for row in self.rows if row.parameter == parameter], dtype=np.float64)

    def apply(self, scores: npt.ArrayLike) -> Floats:
        """Return P(y = 1), shape (n,)."""
        table = _checked_scores(np.asarray(scores, dtype=np.float64), len(self.values("direction")))
        if self.family == "isotonic":
            steps = [row for row in self.rows if row.parameter == "step"]
            bounds = np.array([row.lower_bound for row in steps[1:]], dtype=np.float64)
            probabilities = np.array([row.probability for row in steps], dtype=np.float64)
            return probabilities[np.searchsorted(bounds, table[:, 0], side="right")]
        if self.family == "boosted":
            return _expit(self._log_odds_of_trees(table))
        inputs = self._inputs(table)
        if self.family == "logistic":
            return _expit(self.values("intercept")[0] + self.values("slope")[0] * inputs)
        accept_from = int(self.values("accept_from")[0])
        if self.family == "ordinal":
            return _expit(self.values("slope")[0] * inputs - self.values("cut_point")[accept_from - 1])
        result: Floats = self._multinomial(inputs)[:, accept_from:].sum(axis=1)
        return result

    def scale_point_probabilities(self, scores: npt.ArrayLike) -> Floats:
        """Return P(label = k) of a graded scale, shape (n, count_scale_points); rows sum to 1."""
        if self.family not in GRADED_FAMILIES:
            raise ValueError(f"scale points need a family out of {list(GRADED_FAMILIES)}, got {self.family!r}")
        inputs = self._inputs(_checked_scores(np.asarray(scores, dtype=np.float64), 1))
        if self.family == "multinomial":
            return self._multinomial(inputs)
        at_least = _expit(self.values("slope")[0] * inputs[:, None] - self.values("cut_point"))
        ones, zeros = np.ones((len(inputs), 1)), np.zeros((len(inputs), 1))
        shares = -np.diff(np.hstack([ones, at_least, zeros]), axis=1)
        result: Floats = np.maximum(shares, 0.0)  # rounding
        return result

    def _inputs(self, table: Floats) -> Floats:
        bound = self.values("logit_bound")
        return _logit(table[:, 0], float(bound[0])) if len(bound) else table[:, 0]

    def _multinomial(self, inputs: Floats) -> Floats:
        log_odds = self.values("intercept") + self.values("slope") * inputs[:, None]
        log_odds = np.hstack([np.zeros((len(inputs), 1)), log_odds])
        shares = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
        result: Floats = shares / shares.sum(axis=1, keepdims=True)
        return result

    def _log_odds_of_trees(self, table: Floats) -> Floats:
        total = np.full(len(table), self.values("baseline")[0])
        trees: dict[int, list[CalibratorRow]] = {}
        for row in self.rows:
            if row.parameter == "node":
                trees.setdefault(row.tree or 0, []).append(row)
        rows_of_table = np.arange(len(table))
        for nodes in trees.values():
            # a leaf is its own child, so that every row may walk as long as the longest path
            left = np.array([row.node if row.left is None else row.left for row in nodes], dtype=np.int64)
            right = np.array([row.node if row.right is None else row.right for row in nodes], dtype=np.int64)
            feature = np.array([row.feature or 0 for row in nodes], dtype=np.int64)
            threshold = np.array([np.inf if row.threshold is None else row.threshold for row in nodes])
            missing_goes_left = np.array([bool(row.missing_goes_left) for row in nodes])
            value = np.array([np.nan if row.value is None else row.value for row in nodes])
            at = np.zeros(len(table), dtype=np.int64)
            while np.isnan(value[at]).any():
                reached = table[rows_of_table, feature[at]]
                goes_left = np.where(np.isnan(reached), missing_goes_left[at], reached <= threshold[at])
                at = np.where(goes_left, left[at], right[at])
            total += value[at]
        return total


def from_rows(rows: Iterable[CalibratorRow]) -> Calibrator:
    """Return the calibrator of its rows, in whatever order they come."""
    ordered = tuple(sorted(rows, key=lambda row: (row.parameter, row.position)))
    families = sorted({row.family for row in ordered})
    if len(families) != 1 or families[0] not in FAMILIES:
        raise ValueError(f"rows must be of one family out of {list(FAMILIES)}, got {families}")
    family = families[0]
    positions: dict[str, list[int]] = {}
    for row in ordered:
        positions.setdefault(row.parameter, []).append(row.position)
    needed = {*_PARAMETERS[family], "direction"}
    if set(positions) - {"logit_bound"} != needed:
        raise ValueError(f"{family} must have the parameters {sorted(needed)}, got {sorted(positions)}")
    for parameter, found in positions.items():
        first = _FIRST_POSITIONS.get((family, parameter), 0)
        if found != [*range(first, first + len(found))]:
            raise ValueError(f"{parameter} must have every position from {first} once, got {found}")
    values = [row.value for row in ordered if row.parameter not in ("step", "node")]
    if any(value is None or not math.isfinite(value) for value in values):
        raise ValueError(f"parameters must have finite values, got {values}")
    calibrator = Calibrator(family, ordered)
    if family in GRADED_FAMILIES:
        points = len(calibrator.values(_PARAMETERS[family][1])) + 1
        if len(calibrator.values("slope")) != (points - 1 if family == "multinomial" else 1):
            raise ValueError(f"{family} of {points} scale points must have their slopes, got {ordered}")
        if calibrator.values("accept_from")[0] not in range(1, points):
            raise ValueError(f"accept_from must lie in 1 to {points - 1}, got {calibrator.values('accept_from')[0]}")
        if (np.diff(calibrator.values("cut_point")) <= 0).any():
            raise ValueError(f"cut points must rise, got {calibrator.values('cut_point')}")
    _check_steps([row for row in ordered if row.parameter == "step"])
    _check_nodes([row for row in ordered if row.parameter == "node"], len(positions["direction"]))
    return calibrator


def _check_steps(steps: list[CalibratorRow]) -> None:
    bounds = [-math.inf if row.lower_bound is None else row.lower_bound for row in steps]
    if steps and (bounds[0] != -math.inf or not all(low < high for low, high in pairwise(bounds))):
        raise ValueError(f"lower bounds must rise from none, got {bounds}")
    shares = [row.probability for row in steps]
    if any(share is None or not 0 <= share <= 1 for share in shares):
        raise ValueError(f"probabilities of steps must lie in [0, 1], got {shares}")


def _check_nodes(nodes: list[CalibratorRow], count_features: int) -> None:
    sizes: dict[int | None, int] = {}
    for row in nodes:
        if row.node != sizes.get(row.tree, 0):
            raise ValueError(f"tree {row.tree} must have every node from 0 in order, got {row.node}")
        sizes[row.tree] = row.node + 1
    for row in nodes:
        if row.value is not None and math.isfinite(row.value):
            continue
        children, feature = (row.left, row.right), row.feature
        # children come after their parent: no walk can turn in a circle
        is_forward = all(child is not None and (row.node or 0) < child < sizes[row.tree] for child in children)
        has_test = feature is not None and 0 <= feature < count_features and row.threshold is not None
        if row.value is not None or not is_forward or not has_test or math.isnan(row.threshold or 0.0):
            raise ValueError(f"a node must be a leaf or have a feature, a threshold and later children, got {row}")


# --- fitting ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted family, or why there is none: calibrator is None unless status is `fitted`.

    Attributes
    ----------
    family, status : str
        Out of :data:`FAMILIES` and :data:`FIT_STATUSES`. `wrong_direction`: the probability would not rise (fall) with
        a score of which higher (lower) is better.
    calibrator : Calibrator or None
        The fitted calibrator.
    count_labels, count_clusters : int
        What it was fitted on; counts, not weights.
    is_separated : bool
        A cut of the score parts accepted from other answers without overlap. No maximum of the likelihood exists then
        (Albert and Anderson 1984): the penalty sets the slope of a logistic, and its probabilities are near 0 and 1.
    """

    family: str
    status: str
    calibrator: Calibrator | None
    count_labels: int
    count_clusters: int
    is_separated: bool


def fit_calibrator(data: LabelledScores, family: str, seed: int = SEED) -> Fit:
    """Return a family fitted by (penalised) maximum likelihood, or a status."""
    _check_family(data, family)
    status = _status_of_labels(data, family)
    calibrator = None
    if status == "fitted":
        status, calibrator = _fit(data, family, seed)
    is_separated = status == "fitted" and data.scores.shape[1] == 1 and _is_separated(data)
    return Fit(family, status, calibrator, len(data.labels), len(np.unique(data.clusters)), is_separated)


def _is_separated(data: LabelledScores) -> bool:
    accepted, others = data.scores[data.is_accepted, 0], data.scores[~data.is_accepted, 0]
    return bool(others.max() <= accepted.min() or accepted.max() <= others.min())


def _check_family(data: LabelledScores, family: str) -> None:
    if family not in FAMILIES:
        raise ValueError(f"family must be out of {list(FAMILIES)}, got {family!r}")
    if family in GRADED_FAMILIES and data.count_scale_points < 3:
        raise ValueError(f"{family} needs at least 3 scale points, got {data.count_scale_points}")
    if family != "boosted" and data.scores.shape[1] != 1:
        raise ValueError(f"{family} takes 1 feature, got {data.scores.shape[1]}")


def _status_of_labels(data: LabelledScores, family: str) -> str:
    is_graded = family in GRADED_FAMILIES
    classes = data.labels if is_graded else data.is_accepted.astype(np.int64)
    count_classes = data.count_scale_points if is_graded else 2
    if len(classes) and (data.is_accepted.all() or not data.is_accepted.any()):
        return "one_class"
    for label in range(count_classes):
        of_class = classes == label
        count_clusters = len(np.unique(data.clusters[of_class]))
        if of_class.sum() < MINIMUM_LABELS_PER_CLASS or count_clusters < MINIMUM_CLUSTERS_PER_CLASS:
            return "insufficient"
    # both make steps of single scores, and fewer labels make steps of noise
    makes_steps = family == "isotonic" or (family == "boosted" and data.scores.shape[1] == 1)
    if makes_steps and len(classes) < MINIMUM_LABELS_STEPS:
        return "insufficient"
    return "fitted"


def _fit(data: LabelledScores, family: str, seed: int) -> tuple[str, Calibrator | None]:
    """Return status and calibrator without the minimum numbers of labels, for the inner folds."""
    if data.is_accepted.all() or not data.is_accepted.any():
        return "one_class", None
    if family == "boosted":
        status, rows = _fit_boosted(data, seed)
    elif family == "isotonic":
        status, rows = _fit_isotonic(data)
    else:
        status, rows = _fit_parametric(data, family)
    if status != "fitted":
        return status, None
    rows += [CalibratorRow(family, "direction", place, float(sign)) for place, sign in enumerate(data.signs)]
    return status, from_rows(rows)


def _fit_parametric(data: LabelledScores, family: str) -> tuple[str, list[CalibratorRow]]:
    inputs = _logit(data.scores[:, 0], LOGIT_BOUND) if data.is_probability else data.scores[:, 0]
    if inputs.min() == inputs.max():
        return "constant_score", []
    center = float(np.average(inputs, weights=data.weights))
    scale = float(np.sqrt(np.average((inputs - center) ** 2, weights=data.weights)))
    standard = (inputs - center) / scale
    classes = data.labels if family in GRADED_FAMILIES else data.is_accepted.astype(np.int64)
    count_classes = data.count_scale_points if family in GRADED_FAMILIES else 2
    if not np.bincount(classes, minlength=count_classes).all():
        return "insufficient", []
    if family == "ordinal":
        cut_points, slopes, has_converged = _maximise_ordinal(standard, classes, data.weights, count_classes)
        named, intercepts = "cut_point", cut_points + slopes * center / scale
    else:
        constants, slopes, has_converged = _maximise_multinomial(standard, classes, data.weights, count_classes)
        named, intercepts = "intercept", constants - slopes * center / scale
    if not has_converged:
        return "not_converged", []
    # P(accepted) rises everywhere when every accepted scale point has a larger slope than every other; label 0 has 0
    all_slopes = data.signs[0] * np.concatenate([[0.0], slopes])
    accept_from = data.accept_from if family == "multinomial" else 1
    if all_slopes[accept_from:].min() <= all_slopes[:accept_from].max():
        return "wrong_direction", []
    first = 0 if family == "logistic" else 1
    rows = [CalibratorRow(family, named, place, float(value)) for place, value in enumerate(intercepts, first)]
    first = 1 if family == "multinomial" else 0
    rows += [CalibratorRow(family, "slope", place, float(value)) for place, value in enumerate(slopes / scale, first)]
    if family in GRADED_FAMILIES:
        rows.append(CalibratorRow(family, "accept_from", 0, float(data.accept_from)))
    if data.is_probability:
        rows.append(CalibratorRow(family, "logit_bound", 0, LOGIT_BOUND))
    return "fitted", rows


def _maximise_multinomial(
    inputs: Floats, classes: Integers, weights: Floats, count_classes: int
) -> tuple[Floats, Floats, bool]:
    """Return intercepts and slopes of classes 1 and up against class 0 (two classes: logistic regression), by
    Newton."""
    # einsum and sum rather than matrix products: their order of addition does not depend on the number of threads
    design = np.column_stack([np.ones(len(inputs)), inputs])
    targets = np.eye(count_classes)[classes][:, 1:]
    count = count_classes - 1
    ridge = np.tile([0.0, PENALTY], count)

    def evaluate(parameters: Floats) -> tuple[float, Floats]:
        log_odds = parameters[::2] + parameters[1::2] * inputs[:, None]
        log_total = np.logaddexp(0.0, np.logaddexp.reduce(log_odds, axis=1))
        losses = weights * (log_total - (targets * log_odds).sum(axis=1))
        return float(losses.sum() + (ridge * parameters**2).sum() / 2), np.exp(log_odds - log_total[:, None])

    def slope_of_loss(parameters: Floats, shares: Floats) -> Floats:
        result: Floats = np.einsum("n,ni,na->ia", weights, shares - targets, design).ravel() + ridge * parameters
        return result

    parameters = np.zeros(2 * count)
    loss, shares = evaluate(parameters)
    for _ in range(_NEWTON_STEPS):
        gradient = slope_of_loss(parameters, shares)
        curvature = weights[:, None, None] * (shares[:, :, None] * np.eye(count) - shares[:, :, None] * shares[:, None])
        hessian = np.einsum("nij,na,nb->iajb", curvature, design, design).reshape(2 * count, 2 * count)
        step = np.linalg.lstsq(hessian + np.diag(ridge), gradient, rcond=None)[0]
        # the loss that a full step gains; when it is this small, one more step is exact to rounding (Boyd and
        # Vandenberghe 2004, section 9.6) and the loss itself can no longer tell better from worse
        is_last = gradient @ step <= _NEWTON_DECREMENT * len(inputs)
        size = 1.0
        while True:
            candidate = parameters - size * step
            new_loss, new_shares = evaluate(candidate)
            if is_last or new_loss <= loss or size < _NEWTON_SHORTEST:
                break
            size /= 2
        parameters, loss, shares = candidate, new_loss, new_shares
        if is_last:
            break
    gradient = slope_of_loss(parameters, shares)
    table = parameters.reshape(count, 2)
    return table[:, 0], table[:, 1], bool(np.abs(gradient).max() <= _GRADIENT_TOLERANCE * len(inputs))


def _maximise_ordinal(
    inputs: Floats, classes: Integers, weights: Floats, count_classes: int
) -> tuple[Floats, Floats, bool]:
    """Return cut points and slope of proportional odds: P(Y <= k) = F(cut_point[k + 1] - slope x) (McCullagh 1980)."""
    from scipy.optimize import minimize

    members = [np.flatnonzero(classes == label) for label in range(count_classes)]
    count_cuts = count_classes - 1

    def loss(parameters: Floats) -> tuple[float, Floats]:
        gaps = np.exp(parameters[1:count_cuts])
        cut_points = np.cumsum(np.concatenate([parameters[:1], gaps]))
        slope = parameters[-1]
        total, by_cut, by_slope = 0.0, np.zeros(count_cuts), 0.0
        for label, rows in enumerate(members):
            x, weight = inputs[rows], weights[rows]
            log_share, by_input = np.zeros(len(rows)), np.zeros(len(rows))
            inner = 1 / np.expm1(gaps[label - 1]) if 0 < label < count_cuts else 0.0
            if label < count_cuts:
                upper = cut_points[label] - slope * x
                log_share -= np.logaddexp(0.0, -upper)
                by_upper = _expit(-upper) + inner
                by_cut[label] += (weight * by_upper).sum()
                by_input -= by_upper
            if label > 0:
                lower = cut_points[label - 1] - slope * x
                log_share -= np.logaddexp(0.0, lower)
                by_lower = -_expit(lower) - inner
                by_cut[label - 1] += (weight * by_lower).sum()
                by_input -= by_lower
            if 0 < label < count_cuts:
                log_share += np.log(-np.expm1(-gaps[label - 1]))
            total += float((weight * log_share).sum())
            by_slope += float((weight * by_input * x).sum())
        by_gap = np.cumsum(by_cut[::-1])[::-1]  # a gap moves every later cut point
        gradient = np.concatenate([by_gap[:1], by_gap[1:] * gaps, [by_slope - PENALTY * slope]])
        return -(total - PENALTY / 2 * slope**2) / len(inputs), -gradient / len(inputs)

    below = np.cumsum(np.bincount(classes, weights=weights, minlength=count_classes))[:-1] / weights.sum()
    log_odds = np.log(below / (1 - below))
    start = np.concatenate([log_odds[:1], np.log(np.diff(log_odds)), [0.0]])
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 1000})
    cut_points = np.cumsum(np.concatenate([found.x[:1], np.exp(found.x[1:count_cuts])]))
    has_converged = bool(np.abs(found.jac).max() <= _GRADIENT_TOLERANCE)
    return cut_points, np.asarray(found.x[-1:], dtype=np.float64), has_converged


def _fit_isotonic(data: LabelledScores) -> tuple[str, list[CalibratorRow]]:
    """Return the steps of isotonic regression by pool adjacent violators (Ayer et al. 1955; Zadrozny and Elkan
    2002)."""
    from sklearn.isotonic import IsotonicRegression

    values, inverse = np.unique(data.scores[:, 0], return_inverse=True)
    if len(values) == 1:
        return "constant_score", []
    totals = np.bincount(inverse, weights=data.weights)
    shares = np.bincount(inverse, weights=data.weights * data.is_accepted) / totals
    # ranks, because scikit-learn joins scores that differ by less than 1e-15
    ranks = np.arange(len(values), dtype=np.float64)
    fitted = IsotonicRegression(increasing=data.signs[0] > 0).fit_transform(ranks, shares, sample_weight=totals)
    margin = 1 / (len(data.labels) + 2)
    fitted = np.clip(fitted, margin, 1 - margin)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(fitted)) + 1])
    if len(starts) == 1:
        return "wrong_direction", []
    rows = [CalibratorRow("isotonic", "step", 0, probability=float(fitted[0]))]
    for place, start in enumerate(starts[1:], 1):
        bound = values[start - 1] / 2 + values[start] / 2
        bound = bound if bound > values[start - 1] else values[start]  # neighbours in double precision
        rows.append(
            CalibratorRow("isotonic", "step", place, lower_bound=float(bound), probability=float(fitted[start]))
        )
    return "fitted", rows


def _fit_boosted(data: LabelledScores, seed: int) -> tuple[str, list[CalibratorRow]]:
    """Return baseline and nodes of monotone gradient-boosted trees (Friedman 2001; scikit-learn's histogram form)."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    known = [column[~np.isnan(column)] for column in data.scores.T]
    if all(len(np.unique(column)) < 2 for column in known):
        return "constant_score", []
    model = HistGradientBoostingClassifier(monotonic_cst=list(data.signs), random_state=seed, **BOOSTED_SETTINGS)
    model.fit(data.scores, data.is_accepted.astype(np.int64), sample_weight=data.weights)
    rows = [CalibratorRow("boosted", "baseline", 0, float(model._baseline_prediction.ravel()[0]))]
    has_split = False
    for tree, (predictor,) in enumerate(model._predictors):
        for node, found in enumerate(predictor.nodes):
            place = len(rows) - 1
            if found["is_leaf"]:
                rows.append(CalibratorRow("boosted", "node", place, float(found["value"]), tree=tree, node=node))
                continue
            has_split = True
            rows.append(
                CalibratorRow(
                    "boosted",
                    "node",
                    place,
                    tree=tree,
                    node=node,
                    feature=int(found["feature_idx"]),
                    threshold=float(found["num_threshold"]),
                    left=int(found["left"]),
                    right=int(found["right"]),
                    missing_goes_left=bool(found["missing_go_to_left"]),
                )
            )
    return ("fitted", rows) if has_split else ("wrong_direction", [])


# --- choice -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FamilyLoss:
    """One family in the choice; the figures are None unless status is `fitted`.

    Attributes
    ----------
    family, status : str
        As in :class:`Fit`.
    log_loss, standard_error : float or None
        Cross-validated mean log loss of P(accepted) in nats, weighted, and its standard error by cluster.
    excess, excess_standard_error : float or None
        Log loss above that of the best family on the same rows, >= 0, and the standard error of this difference by
        cluster.
    is_chosen : bool
        True for the chosen family.
    """

    family: str
    status: str
    log_loss: float | None
    standard_error: float | None
    excess: float | None
    excess_standard_error: float | None
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen calibrator, fitted on all rows, and how every family did.

    Attributes
    ----------
    status : str
        `fitted`, or the status of the simplest family when none could be fitted.
    fit : Fit or None
        The chosen fit.
    families : tuple of FamilyLoss
        In the order of :data:`FAMILIES`.
    fits : mapping of str to Fit
        Every family fitted on all rows.
    """

    status: str
    fit: Fit | None
    families: tuple[FamilyLoss, ...]
    fits: Mapping[str, Fit]


@dataclass(frozen=True, slots=True)
class CrossFit:
    """Calibrators of one family, each fitted without the clusters of one fold; make it with :func:`cross_fit`.

    Attributes
    ----------
    folds : ndarray of int, shape (n,)
        Fold of each row; whole clusters share one.
    calibrators : tuple of Calibrator or None
        By fold, fitted on all other folds; None where these allow no fit.
    shares : ndarray, shape (n,)
        Share accepted in the other folds, (count + 1) / (n + 2), for each row: what is known without a score.
    """

    folds: Integers
    calibrators: tuple[Calibrator | None, ...]
    shares: Floats

    def apply(self, data: LabelledScores) -> Floats:
        """Return the out-of-fold P(y = 1) of each row of the data of the fit, shape (n,)."""
        predicted = self.shares.copy()
        for fold, calibrator in enumerate(self.calibrators):
            own = self.folds == fold
            if calibrator is not None:
                predicted[own] = calibrator.apply(data.scores[own])
        return predicted

    def scale_point_probabilities(self, data: LabelledScores) -> Floats | None:
        """Return the out-of-fold P(label = k) of a graded family, shape (n, n_points); None where a fold has no fit."""
        found = np.empty((len(self.folds), data.count_scale_points))
        for fold, calibrator in enumerate(self.calibrators):
            if calibrator is None:
                return None
            own = self.folds == fold
            found[own] = calibrator.scale_point_probabilities(data.scores[own, 0])
        return found


def cross_fit(data: LabelledScores, family: str, count_folds: int = COUNT_FOLDS, seed: int = SEED) -> CrossFit:
    """Return one calibrator per fold of whole clusters, each fitted on the other folds."""
    _check_family(data, family)
    if count_folds < 2:
        raise ValueError(f"count_folds must be at least 2, got {count_folds}")
    fractions = {str(fold): 1 / count_folds for fold in range(count_folds)}
    names = folds_of_clusters(data.cluster_names, fractions, salt=f"hcat cross-validation|{seed}")[data.clusters]
    folds: Integers = np.unique(names, return_inverse=True)[1].astype(np.int64)
    calibrators: list[Calibrator | None] = []
    shares = np.full(len(folds), 0.5)
    for fold in range(int(folds.max()) + 1 if len(folds) else 0):
        held_out = folds == fold
        if held_out.all():
            calibrators.append(None)
            continue
        others = data.take(~held_out)
        calibrators.append(_fit(others, family, seed)[1])
        shares[held_out] = (others.weights @ others.is_accepted + 1) / (len(others.labels) + 2)
    return CrossFit(folds, tuple(calibrators), shares)


def cross_validated_losses(
    data: LabelledScores, family: str, count_folds: int = COUNT_FOLDS, seed: int = SEED
) -> Floats:
    """Return the log loss of each row under the family fitted on other clusters, shape (n,), nats."""
    predicted = cross_fit(data, family, count_folds, seed).apply(data)
    predicted = np.clip(predicted, LOG_LOSS_BOUND, 1 - LOG_LOSS_BOUND)
    result: Floats = -np.where(data.is_accepted, np.log(predicted), np.log1p(-predicted))
    return result


def choose_calibrator(
    data: LabelledScores,
    families: Sequence[str] | None = None,
    count_folds: int = COUNT_FOLDS,
    seed: int = SEED,
) -> Choice:
    """Return the simplest family whose cross-validated log loss is within one standard error of the best."""
    if families is None:
        is_single, is_graded = data.scores.shape[1] == 1, data.count_scale_points > 2
        families = [
            family
            for family in FAMILIES
            if family == "boosted" or (is_single and (is_graded or family not in GRADED_FAMILIES))
        ]
    if not families:
        raise ValueError("there must be at least 1 family to choose from, got 0")
    for family in families:
        _check_family(data, family)
    candidates = [family for family in FAMILIES if family in families]
    fits = {family: fit_calibrator(data, family, seed) for family in candidates}
    losses = {
        family: cross_validated_losses(data, family, count_folds, seed)
        for family, fit in fits.items()
        if fit.status == "fitted"
    }
    if not losses:
        nothing = tuple(FamilyLoss(name, fit.status, None, None, None, None, False) for name, fit in fits.items())
        return Choice(fits[candidates[0]].status, None, nothing, fits)
    figures = {family: _mean_and_error(loss, data) for family, loss in losses.items()}
    best = min(figures, key=lambda family: figures[family][0])
    excess = {family: _mean_and_error(loss - losses[best], data) for family, loss in losses.items()}
    chosen = next(family for family in losses if excess[family][0] <= excess[family][1])
    rows = tuple(
        FamilyLoss(family, fit.status, *figures[family], *excess[family], family == chosen)
        if family in losses
        else FamilyLoss(family, fit.status, None, None, None, None, False)
        for family, fit in fits.items()
    )
    return Choice("fitted", fits[chosen], rows, fits)


def _mean_and_error(values: Floats, data: LabelledScores) -> tuple[float, float]:
    """Return the weighted mean and its standard error, linearised by cluster."""
    total = data.weights.sum()
    mean = float(data.weights @ values / total)
    return mean, float(error_of_mean(data.weights * (values - mean), data.clusters, total))


def _logit(probabilities: Floats, bound: float) -> Floats:
    if ((probabilities < 0) | (probabilities > 1)).any():
        raise ValueError(
            f"a probability must lie in [0, 1], got {np.nanmin(probabilities)} to {np.nanmax(probabilities)}"
        )
    clipped = np.clip(probabilities, bound, 1 - bound)
    # scipy.special.logit rounds the last bit otherwise, which moves ordinal fits by up to 2e-7
    result: Floats = np.log(clipped / (1 - clipped))
    return result


def _expit(log_odds: Floats) -> Floats:
    # scipy.special.expit rounds the last bit otherwise, which moves ordinal fits by up to 5e-8
    result: Floats = np.exp(-np.logaddexp(0.0, -log_odds))
    return result
