"""Failure rates of systems and segments as an Arrow table: one rate per criterion, and one of the verdict.

docs/thresholds.md has the estimator. A linear predictor needs no link, because the correction by labels removes
whatever it gets wrong. The limits of a rate with known outcomes add in squares (Zou and Donner 2008).

Rates know two keys of siblings, and people as raters (:mod:`hcat.statistics.clustered`): what raters owe to their own
strictness is added to the variance by cluster and document. A few raters, or documents, are named in the statement.

Whether an answer was rated may depend on its score, though no plan says so. Where the scores of the rated answers show
it, the labels of each band of scores stand for all answers of the band (post-stratification, Holt and Smith 1979).

In memory are the scores of all metrics that people calibrate, and four bytes per (interaction, dimension).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.calibrators import COUNT_FOLDS
from hcat.engine.columns import as_floats, schema
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clustered import LEAST_VALUES, crossed_keys, crossed_rate_interval, join_crossed, mean_interval
from hcat.statistics.clusters import hash_folds, sum_by_cluster
from hcat.statistics.intervals import t_tail
from hcat.statistics.memberships import find_places, read_memberships
from hcat.statistics.prediction_powered import LEAST_EXPECTED, FailureRate, RateInterval, estimate_failure_rate

FAILURE_RATE_SCHEMA: Final = schema(
    "string: criterion system population dimension segment method message statement",
    "int64: count_interactions count_known_outcomes count_labels count_labels_by_people",
    "int64: count_labels_by_language_models count_failures count_clusters",
    "float64: effective_n failure_rate failure_rate_lower failure_rate_upper labels_only_rate power_tuning width_ratio",
)
#: Failures, and passes, below which no predictor is fitted: a fold then learns from about four of each.
LEAST_TO_FIT: Final = 5
#: Penalty of the ridge in labels: that many, of each standardised score, pull its slope towards zero.
PENALTY: Final = 1.0

#: Difference from the plain share below which a rate is stated as that share.
_SAME_RATE: Final = 0.005
#: Standard deviations below it are those of a constant.
_CONSTANT: Final = 1e-9
#: P-value below which scores of rated answers differ from those of all, and number of bands of scores.
_DIFFERENCE: Final = 0.01
_COUNT_BANDS: Final = 5
#: Words for the values of a second key, whose ids begin with them.
_SECOND_KEYS: Final = {"document": "documents", "day": "days", "tag": "values of the tag"}
#: All things considered: every metric predicts it.
VERDICT: Final = "verdict"
_LABEL_COLUMNS: Final = ("label", "inclusion_probability", "rater_code", "count_raters")
#: What is read of int_target_evaluations and of fct_verdicts.
EVALUATION_COLUMNS: Final = ("criterion", "metric_name", "interaction_id", "raw_score", "rater_kind", *_LABEL_COLUMNS)
INTERACTION_COLUMNS: Final = (
    "interaction_id", "cluster_id", "second_cluster_id", "system", "population", "sampling_weight", "verdict",
    "verdict_rule", "decided_by", "human_label", "label_rater_kind", "inclusion_probability", "rater_code",
    "count_raters",
)  # fmt: skip
_RATER_KINDS: Final = {"person": 1, "language_model": 2}


class Interactions(NamedTuple):
    """What fct_verdicts says of all interactions, each array of shape (n_interactions,)."""

    ids: pa.Array
    systems: Integers  # codes of (system, population)
    system_names: list[tuple[str, str]]
    clusters: Integers
    cluster_names: list[str]
    second_clusters: Integers
    second_names: list[str]
    sampling_weights: Floats
    is_answered: Flags
    known: Floats  # of any criterion: an expected refusal passes
    known_verdicts: Floats  # by a rule
    labels: Floats  # of all criteria together, also of one that no metric measures
    rater_kinds: Integers
    inclusion_probabilities: Floats
    raters: tuple[Floats, Floats]  # code of the first, and how many


class Rows(NamedTuple):
    """What one criterion says of them, each array of shape (n_interactions,); NaN = no label, no known outcome."""

    of: Interactions
    is_read: Flags  # whether the criterion has the interaction
    labels: Floats
    inclusion_probabilities: Floats
    rater_kinds: Integers  # values of _RATER_KINDS, 0 for others
    raters: Floats  # code of the first who gave the label
    counts_raters: Floats  # of the label
    known: Floats
    scores: Floats  # shape (n_interactions, n_metrics); NaN = no score


def estimate_failure_rates(
    interactions: pa.Table,
    evaluations: Iterable[pa.RecordBatch],
    segments: Iterable[pa.RecordBatch],
    *,
    confidence: float,
    random_seed: int,
) -> pa.Table:
    """Return one row per (criterion or verdict, system, population, dimension, segment) that has interactions.

    Parameters
    ----------
    interactions : Table
        :data:`INTERACTION_COLUMNS` of fct_verdicts, each interaction once; human_label is what raters say, all things
        considered.
    evaluations : iterable of RecordBatch
        :data:`EVALUATION_COLUMNS`: raw_score (null = the metric gave none), label (1 = raters accept, null = none), and
        what is known of the label. Ordered by criterion and metric_name, one row per metric and interaction. Read once.
    segments : iterable of RecordBatch
        interaction_id, dimension, segment, in any order; the whole of a system is `all`, `all`. Read first, and once.
    confidence : float
        Two-sided, in (0, 1).
    random_seed : int
        Salt of the folds of cross-fitting.

    Returns
    -------
    Table
        Schema :data:`FAILURE_RATE_SCHEMA`, ordered by its key. Y = 1 is a failure.
    """
    known = _read_interactions(interactions)
    cells = read_memberships(segments, known.ids)
    rows: list[dict[str, Any]] = []
    keys = FAILURE_RATE_SCHEMA.names[:5]
    for criterion, found in _read_criteria(evaluations, known):
        reason, predictions, ranks = predict_failures(found, random_seed)
        for cell, (dimension, segment) in enumerate(cells.names):
            members = cells.of(cell).astype(np.int64)
            members = members[found.is_read[members]]
            for system in np.unique(found.of.systems[members]).tolist():
                key = zip(keys, (criterion, *found.of.system_names[system], dimension, segment), strict=True)
                of_system = members[found.of.systems[members] == system]
                rows.append(dict(key) | estimate_cell(found, of_system, predictions, ranks, reason, confidence))
    rows.sort(key=lambda row: [row[name] for name in keys])
    return pa.Table.from_pylist(rows, schema=FAILURE_RATE_SCHEMA)


def _read_interactions(table: pa.Table) -> Interactions:
    table = table.combine_chunks()
    column = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    system_names = sorted(set(zip(column["system"].tolist(), column["population"].tolist(), strict=True)))
    codes = {name: code for code, name in enumerate(system_names)}
    cluster_names, clusters = np.unique(column["cluster_id"].astype(str), return_inverse=True)
    second_names, second_clusters = np.unique(column["second_cluster_id"].astype(str), return_inverse=True)
    passes = (column["verdict"] == "acceptable").astype(np.float64)
    return Interactions(
        table["interaction_id"].combine_chunks(),
        np.array([codes[pair] for pair in zip(column["system"], column["population"], strict=True)], dtype=np.int64),
        system_names,
        clusters.astype(np.int64),
        cluster_names.tolist(),
        second_clusters.astype(np.int64),
        second_names.tolist(),
        as_floats(table["sampling_weight"]),
        column["verdict_rule"] != "no_answer",
        np.where(column["verdict_rule"] == "refused_as_expected", 1.0, np.nan),
        np.where(column["decided_by"] == "rule", passes, np.nan),
        as_floats(table["human_label"]),
        np.array([_RATER_KINDS.get(kind, 0) for kind in column["label_rater_kind"].tolist()], dtype=np.int64),
        as_floats(table["inclusion_probability"]),
        (as_floats(table["rater_code"]), as_floats(table["count_raters"])),
    )


def _read_criteria(evaluations: Iterable[pa.RecordBatch], known: Interactions) -> Iterator[tuple[str, Rows]]:
    """Yield the rows of each criterion when its last batch has come, then those of the verdict."""
    everything = _Reader(known)
    parts = (
        (criterion, batch.filter(pc.field("criterion") == criterion))
        for batch in evaluations
        for criterion in pc.unique(batch["criterion"]).to_pylist()
    )
    for criterion, of_criterion in groupby(parts, key=itemgetter(0)):
        reader = _Reader(known)
        for _, part in of_criterion:
            reader.add(part)
            everything.add(part)
        yield criterion, reader.finish()
    if everything.scores:
        yield VERDICT, everything.finish(is_verdict=True)


class _Reader:
    """Scores and labels by interaction, filled batch by batch."""

    def __init__(self, known: Interactions) -> None:
        self.interactions = known
        count = len(known.ids)
        self.is_read = np.zeros(count, dtype=np.bool_)
        self.numbers = {name: np.full(count, np.nan) for name in _LABEL_COLUMNS}
        self.rater_kinds = np.zeros(count, dtype=np.int64)
        self.scores: dict[str, Floats] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the rows of a batch; what a criterion says of an interaction is the same for all its metrics."""
        places = find_places(batch["interaction_id"], self.interactions.ids, "interaction_id of evaluations")
        self.is_read[places] = True
        for name, column in self.numbers.items():
            column[places] = np.fmin(column[places], as_floats(batch[name]))
        self.rater_kinds[places] = [_RATER_KINDS.get(kind, 0) for kind in batch["rater_kind"].to_pylist()]
        metrics = batch["metric_name"].dictionary_encode()
        indices, scores = metrics.indices.to_numpy(zero_copy_only=False), as_floats(batch["raw_score"])
        for code, metric in enumerate(metrics.dictionary.to_pylist()):
            own_rows = indices == code
            column = self.scores.setdefault(metric, np.full(len(self.is_read), np.nan))
            column[places[own_rows]] = scores[own_rows]

    def finish(self, is_verdict: bool = False) -> Rows:
        """Return what was read of a criterion, or of all; where there is no answer, no criterion can be judged."""
        known = self.interactions
        label, *drawn = self.numbers.values()
        judged = self.is_read & known.is_answered, label, self.rater_kinds, known.known, *drawn
        everything = np.ones_like(self.is_read), known.labels, known.rater_kinds, known.known_verdicts
        found = (*everything, known.inclusion_probabilities, *known.raters) if is_verdict else judged
        is_read, labels, rater_kinds, outcomes, probabilities, raters, counts_raters = found
        probabilities = np.where(np.isnan(labels), np.nan, probabilities)
        scores = np.stack([self.scores[name] for name in sorted(self.scores)], axis=1)
        return Rows(known, is_read, labels, probabilities, rater_kinds, raters, counts_raters, outcomes, scores)


def predict_failures(found: Rows, random_seed: int) -> tuple[str | None, Floats, Floats]:
    """Return why there is no predictor, or None, what it says of each interaction, and the rank of that, 0 to 1."""
    # ranks are those of one fold: its mean, which knows what it left out, is gone
    is_labelled = found.is_read & ~np.isnan(found.labels) & np.isnan(found.known)
    nothing, ranks = np.zeros(len(found.labels)), np.zeros(len(found.labels))
    ranks[found.is_read] = _rank(-found.scores[:, np.isnan(found.scores).sum(axis=0).argmin()][found.is_read])
    for kind, label in (("failures", 0), ("passes", 1)):
        count = int((found.labels[is_labelled] == label).sum())
        if count < LEAST_TO_FIT:
            return f"{count} labelled {kind}; {LEAST_TO_FIT} are needed for predictions", nothing, ranks
    with_labels = np.unique(found.of.clusters[is_labelled])
    own_fold = np.full(len(found.of.cluster_names), -1)
    names = [found.of.cluster_names[code] for code in with_labels]
    own_fold[with_labels] = hash_folds(names, COUNT_FOLDS, f"hcat cross-fit|{random_seed}")
    fold_of_row = np.where(found.is_read, own_fold[found.of.clusters], -1)
    folds = np.unique(own_fold[with_labels])
    if len(folds) < 2:
        return f"labels of {len(names)} clusters; more are needed for predictions", nothing, ranks
    is_new = found.is_read & (fold_of_row < 0)
    predictions = nothing
    ranks[is_new] = 0
    for fold in folds:
        others = is_labelled & (fold_of_row != fold)
        weights = found.of.sampling_weights[others] / found.inclusion_probabilities[others]
        ridge = fit_ridge(found.scores[others], found.labels[others] == 0, weights)
        is_own = found.is_read & (fold_of_row == fold)
        predicted, ranked = np.zeros((2, len(found.labels)))
        predicted[found.is_read] = ridge(found.scores[found.is_read])
        ranked[found.is_read] = _rank(predicted[found.is_read])
        for found_here, combined in ((predicted, predictions), (ranked, ranks)):
            combined[is_own] = found_here[is_own]
            combined[is_new] += found_here[is_new] / len(folds)
    return None, predictions, ranks


def _rank(values: Floats) -> Floats:
    """Return the share of values below each, ties by half, shape (n,); without a value it is in the middle."""
    from scipy.stats import rankdata

    ranks = (rankdata(np.nan_to_num(values, nan=np.inf)) - 0.5) / max(len(values), 1)
    return np.where(np.isnan(values), 0.5, ranks)


def fit_ridge(scores: Floats, is_failure: Flags, weights: Floats) -> Callable[[Floats], Floats]:
    """Return the ridge regression of failures on standardised scores; a missing one is a mean with an indicator."""
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import StandardScaler

    # a metric without any score has no mean
    with np.errstate(invalid="ignore"):
        present, absent = (StandardScaler().fit(read, sample_weight=weights) for read in (scores, np.isnan(scores)))

    def standardise(read: Floats) -> Floats:
        return np.hstack([np.nan_to_num(present.transform(read)), absent.transform(np.isnan(read))])

    # the weights of the solver have the sum 1, or its penalty would grow with them
    shares = weights / weights.sum()
    model = Ridge(alpha=PENALTY / len(scores)).fit(standardise(scores), is_failure.astype(np.float64), shares)
    return lambda read: np.clip(model.predict(standardise(read)), 0.0, 1.0)


def estimate_cell(
    found: Rows, members: Integers, predictions: Floats, ranks: Floats, reason: str | None, confidence: float
) -> dict[str, Any]:
    """Return the columns of one cell but for its key."""
    is_known = ~np.isnan(found.known[members])
    others, by_rule = members[~is_known], members[is_known]
    labelled = others[~np.isnan(found.labels[others])]
    by_people = found.rater_kinds[labelled] == _RATER_KINDS["person"]
    rate, balance = FailureRate("insufficient", 0, 0, 0), None
    if len(others):
        weights = found.of.sampling_weights[labelled] / found.inclusion_probabilities[labelled]
        if 1 < len(labelled) < len(others):
            weights, balance = _balance(found, others, labelled, weights, 1 - ranks)
        rate = estimate_failure_rate(
            found.labels[labelled] == 0,
            predictions[labelled],
            found.of.clusters[labelled],
            predictions[others],
            found.of.clusters[others],
            weights,
            confidence,
            sampling_weights=found.of.sampling_weights[others],
            label_second_clusters=found.of.second_clusters[labelled],
            second_clusters=found.of.second_clusters[others],
            label_raters=found.raters[labelled] if by_people.any() else None,
        )
    method, chosen, labels_only = str(rate.status), rate.chosen, rate.labels_only
    if len(by_rule) and not len(others):
        # as much as there are clusters is learnt
        keys = found.of.clusters[members], found.of.second_clusters[members]
        sampling_weights = found.of.sampling_weights[members]
        rate_known = crossed_rate_interval(found.known[members] == 0, *keys, sampling_weights, confidence)
        method, chosen = "known_outcomes", RateInterval(rate_known.estimate, rate_known.low, rate_known.high)
    elif len(by_rule):
        is_same, chosen = labels_only is chosen, _join_known(found, members, chosen, confidence)
        labels_only = chosen if is_same else _join_known(found, members, labels_only, confidence)
    return {
        "method": method,
        "message": _explain(rate, reason, method) + ("" if balance is None else f"; {balance}"),
        "statement": _state(rate, chosen, found.known[by_rule], _limits(rate, found, members, labelled[by_people])),
        "count_interactions": len(members),
        "count_known_outcomes": len(by_rule),
        "count_labels": rate.count_labels,
        "count_labels_by_people": int(by_people.sum()),
        "count_labels_by_language_models": int((found.rater_kinds[labelled] == _RATER_KINDS["language_model"]).sum()),
        "count_failures": rate.count_failures,
        "count_clusters": len(np.unique(found.of.clusters[np.concatenate([labelled, by_rule])])),
        "effective_n": rate.effective_n,
        "failure_rate": None if chosen is None else chosen.estimate,
        "failure_rate_lower": None if chosen is None else chosen.low,
        "failure_rate_upper": None if chosen is None else chosen.high,
        "labels_only_rate": None if labels_only is None else labels_only.estimate,
        # without a predictor there is nothing to put beside the labels
        "power_tuning": rate.power_tuning if reason is None else None,
        "width_ratio": rate.width_ratio if reason is None else None,
    }


def _balance(
    found: Rows, members: Integers, labelled: Integers, weights: Floats, scores: Floats
) -> tuple[Floats, str | None]:
    """Return the weights of labels, by band of scores where the rated answers differ, and what then is to be said."""
    shares, parts = weights / weights.sum(), found.of.sampling_weights[members]
    parts = parts / parts.sum()
    of_labels, of_all = float(shares @ scores[labelled]), float(parts @ scores[members])
    moved = np.zeros(len(found.labels))
    moved[members] = -parts * (scores[members] - of_all)
    moved[labelled] += shares * (scores[labelled] - of_labels)
    by_cluster = sum_by_cluster(moved[members], found.of.clusters[members])
    error = math.sqrt(float(by_cluster @ by_cluster))
    degrees = len(np.unique(found.of.clusters[labelled])) - 1
    p_value = 2 * float(t_tail(abs(of_labels - of_all) / error, degrees)) if error > _CONSTANT and degrees else 1.0
    if not p_value < _DIFFERENCE:
        return weights, None
    edges = np.quantile(scores[members], np.arange(1, _COUNT_BANDS) / _COUNT_BANDS)
    bands = np.searchsorted(edges, scores, side="right")
    # a band without a label joins the next one that has some, else the last
    with_labels = np.unique(bands[labelled])
    bands = np.minimum(np.searchsorted(with_labels, bands), len(with_labels) - 1)
    due, given = sum_by_cluster(parts, bands[members]), sum_by_cluster(shares, bands[labelled])
    difference = (of_labels - of_all) / max(1 - len(labelled) / len(members), _CONSTANT)
    chance = "p < .001" if p_value < 0.001 else f"p = {p_value:.3f}".replace("0.", ".")
    return weights * (due / given)[bands[labelled]], (
        f"rated answers score {abs(difference):.2f} {'higher' if difference > 0 else 'lower'} than the others "
        f"({chance}): labels are weighted by band of scores"
    )


def _limits(rate: FailureRate, found: Rows, members: Integers, rated: Integers) -> str:
    """Return what the labels are worth with the scores, and whose rate it is where raters or documents are few."""
    said = ""
    if rate.status == "prediction_powered" and rate.width_ratio:
        said = f", worth {rate.count_labels / rate.width_ratio**2:,.0f} labels"
    if len(rated):
        count = max(len(np.unique(found.raters[rated])), int(np.nan_to_num(found.counts_raters[rated], nan=1).max()))
        said += "" if count >= LEAST_VALUES else f", in the eyes of {'this rater' if count == 1 else 'these raters'}"
    seconds = np.unique(found.of.second_clusters[members])
    name = _SECOND_KEYS.get(found.of.second_names[seconds[0]].split("_")[0])
    return said if name is None or len(seconds) >= LEAST_VALUES else f"{said}, for {len(seconds)} {name}"


def _join_known(found: Rows, members: Integers, theta: RateInterval | None, confidence: float) -> RateInterval | None:
    """Return the rate of all answers, those with a known outcome and the others, whose rate is theta."""
    if theta is None:
        return None
    outcomes, weights = 1 - found.known[members], found.of.sampling_weights[members]
    open_share = float(weights[np.isnan(outcomes)].sum() / weights.sum())
    # what the shares of both kinds vary by cluster, each open answer failing as often as theta says
    expected = np.where(np.isnan(outcomes), theta.estimate, outcomes)
    keys = found.of.clusters[members], found.of.second_clusters[members]
    of_shares = [mean_interval(expected, key, weights, confidence) for key in crossed_keys(*keys)]
    margin = math.sqrt(join_crossed([(each.high - each.estimate) ** 2 for each in of_shares]))
    estimate = min(1.0, max(0.0, of_shares[0].estimate))
    down = math.hypot(open_share * (theta.estimate - theta.low), margin)
    up = math.hypot(open_share * (theta.high - theta.estimate), margin)
    return RateInterval(estimate, max(0.0, estimate - down), min(1.0, estimate + up))


def _explain(rate: FailureRate, reason: str | None, method: str) -> str:
    """Return one sentence on where the rate comes from, or why there is none."""
    if method == "known_outcomes":
        return "a rule knows every outcome"
    if rate.status == "insufficient":
        return f"{rate.count_labels} labels of {rate.count_clusters} clusters; labels of at least 2 clusters are needed"
    if rate.status == "prediction_powered":
        return f"lambda = {rate.power_tuning:.2f}: the interval is {rate.width_ratio:.2f} as wide as that of the labels"
    if reason is not None:
        return f"labels alone: {reason}"
    if rate.power_tuning is None:
        effective = (rate.effective_n or 0) / max(rate.count_labels, 1)
        rarer, kind = min((rate.count_failures, "failures"), (rate.count_labels - rate.count_failures, "passes"))
        if rarer * effective < LEAST_EXPECTED:
            return f"labels alone: {rarer * effective:.1f} effective {kind}; {LEAST_EXPECTED:.0f} are needed"
        return "labels alone: too few predictions are wrong to tell how wrong they are"
    if rate.power_tuning == 0:
        return "the predictions add nothing to the labels"
    return f"with predictions the interval would be {rate.width_ratio:.2f} as wide: not worth it"


def _state(rate: FailureRate, chosen: RateInterval | None, known: Floats, limits: str) -> str | None:
    """Return the rate in one line, or None without one."""
    if chosen is None:
        return None
    bounds = f"{100 * chosen.low:.0f} to {100 * chosen.high:.0f} %"
    of_all = f"{100 * chosen.estimate:.0f} % ({bounds})"
    counted = f"{rate.count_failures} of {rate.count_labels}"
    if len(known) and not rate.count_labels:
        return f"a rule decides all {len(known)}: {of_all} failed{limits}"
    if len(known):
        by_rule = f"{np.count_nonzero(known == 0)} of {len(known)} that a rule decides"
        return f"{counted} labelled answers failed, and {by_rule}; of all, {of_all}{limits}"
    # weights of unequal sampling, and predictions, move the rate away from the plain share
    if abs(chosen.estimate - rate.count_failures / rate.count_labels) < _SAME_RATE:
        return f"{counted} failed, {bounds}{limits}"
    return f"{counted} labelled answers failed; of all, {of_all}{limits}"
