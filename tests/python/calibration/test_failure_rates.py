"""Rows of interactions against rates of arrays; what a predictor says of a cluster comes from other clusters."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from schemas import make_schema
from sklearn.linear_model import Ridge

from hcat.calibration.calibrators import COUNT_FOLDS
from hcat.calibration.failure_rates import FAILURE_RATE_SCHEMA, PENALTY, estimate_failure_rates, fit_ridge
from hcat.statistics.clusters import hash_folds
from hcat.statistics.prediction_powered import estimate_failure_rate

SEED = 7
EVALUATIONS = make_schema(
    string="criterion metric_name interaction_id rater_kind",
    float64="raw_score inclusion_probability",
    int32="label",
    int64="rater_code count_raters",
)
VERDICTS = make_schema(
    string="interaction_id cluster_id second_cluster_id system population verdict verdict_rule decided_by"
    " label_rater_kind",
    float64="sampling_weight inclusion_probability",
    int64="rater_code count_raters",
    int32="human_label",
)

Row = dict[str, Any]


def make_rows(count: int, share_labelled: float, seed: int, criterion: str = "faithfulness") -> list[Row]:
    """Two interactions a cluster; better scores are accepted more often; two systems, two topics."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        score = random.random()
        probability = share_labelled * (0.5 + score)
        is_labelled = random.random() < probability
        rows.append(
            {
                "criterion": criterion,
                "metric_name": "m",
                "interaction_id": f"i{number:05}",
                "cluster_id": f"s{number // 2:05}",
                "system": "new" if number % 3 else "old",
                "raw_score": score,
                "label": int(random.random() < 0.1 + 0.8 * score) if is_labelled else None,
                "inclusion_probability": probability if is_labelled else None,
                "rater_kind": ("person" if number % 2 else "language_model") if is_labelled else None,
                "rater_code": 1 if is_labelled else None,
                "count_raters": 1 if is_labelled else None,
            }
        )
    return rows


def add_metric(rows: list[Row], name: str, scores: list[float | None]) -> list[Row]:
    return rows + [row | {"metric_name": name, "raw_score": score} for row, score in zip(rows, scores, strict=True)]


def topic_of(row: Row) -> str:
    return "cards" if int(row["interaction_id"][1:]) % 4 else "loans"


def make_segments(rows: list[Row]) -> pa.Table:
    segments = []
    for row in {row["interaction_id"]: row for row in rows}.values():
        for dimension, segment in (("all", "all"), ("topic", topic_of(row))):
            segments.append({"interaction_id": row["interaction_id"], "dimension": dimension, "segment": segment})
    names = ("interaction_id", "dimension", "segment")
    return pa.Table.from_pylist(segments, schema=pa.schema([(name, pa.string()) for name in names]))


def cut(table: pa.Table, batch_rows: int) -> Iterator[pa.RecordBatch]:
    yield from table.combine_chunks().to_batches(max_chunksize=batch_rows)


def make_verdict(row: Row) -> Row:
    """What fct_verdicts says of an interaction; where `known_outcome` is 1, the answer declines as expected."""
    is_known = row.get("known_outcome") == 1
    return {
        **{name: row[name] for name in ("interaction_id", "cluster_id", "system")},
        "second_cluster_id": row.get("second_cluster_id", row["interaction_id"]),
        "population": row.get("population", "test_set"),
        "verdict": "acceptable" if is_known else row.get("verdict", "undecided"),
        "verdict_rule": "refused_as_expected" if is_known else row.get("verdict_rule", "set_undecided"),
        "decided_by": "rule" if is_known else row.get("decided_by", "prediction_set"),
        "label_rater_kind": row["rater_kind"],
        "sampling_weight": row.get("sampling_weight") or 1.0,
        "human_label": row["label"],
        **{name: row[name] for name in ("inclusion_probability", "rater_code", "count_raters")},
    }


def estimate(rows: list[Row], batch_rows: int = 1000, criterion: str | None = None) -> list[Row]:
    rows = sorted(rows, key=lambda row: (row["criterion"], row["metric_name"], row["interaction_id"]))
    # ids and segments come in whatever order the engine has them
    segments = make_segments(rows)
    order = np.random.default_rng(batch_rows).permutation(segments.num_rows)
    verdicts = {row["interaction_id"]: make_verdict(row) for row in rows}
    ids = sorted(verdicts, key=lambda name: name[::-1])
    # labels of a criterion without a metric stand beside no score
    nothing = dict.fromkeys(("label", "rater_kind", "inclusion_probability", "rater_code", "count_raters"))
    rows = [row | nothing if row.get("is_without_metric") else row for row in rows]
    table = estimate_failure_rates(
        pa.Table.from_pylist([verdicts[name] for name in ids], schema=VERDICTS),
        cut(pa.Table.from_pylist(rows, schema=EVALUATIONS), batch_rows),
        cut(segments.take(order), batch_rows),
        confidence=0.95,
        random_seed=SEED,
    )
    assert table.schema == FAILURE_RATE_SCHEMA
    found: list[Row] = table.to_pylist()
    return [row for row in found if (row["criterion"] == "verdict") == (criterion == "verdict")]


def by_cell(rows: list[Row]) -> dict[tuple[str, str, str], Row]:
    return {(row["criterion"], row["system"], row["segment"]): row for row in rows}


def cross_fit_by_hand(rows: list[Row]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """One ridge of scikit-learn per fold of clusters with labels, fitted on the others; new clusters take the mean."""
    labelled = [row for row in rows if row["label"] is not None]
    names = np.unique([row["cluster_id"] for row in labelled])
    folds = dict(zip(names.tolist(), hash_folds(names, COUNT_FOLDS, f"hcat cross-fit|{SEED}").tolist(), strict=True))
    ridges: dict[int, Any] = {}
    for fold in sorted(set(folds.values())):
        others = [row for row in labelled if folds[row["cluster_id"]] != fold]
        scores = np.array([row["raw_score"] for row in others])
        weights = np.array([1 / row["inclusion_probability"] for row in others])
        mean = np.average(scores, weights=weights)
        spread = np.sqrt(np.average((scores - mean) ** 2, weights=weights))
        ridge = Ridge(alpha=PENALTY).fit(
            ((scores - mean) / spread)[:, None],
            np.array([1 - row["label"] for row in others], dtype=np.float64),
            weights / weights.mean(),
        )
        ridges[fold] = lambda score, ridge=ridge, mean=mean, spread=spread: np.clip(
            ridge.predict([[(score - mean) / spread]])[0], 0, 1
        )
    predictions = []
    for row in rows:
        own = folds.get(row["cluster_id"])
        used = [ridges[own]] if own is not None else list(ridges.values())
        predictions.append(np.mean([ridge(row["raw_score"]) for ridge in used]))
    return np.array(predictions)


def test_rates_of_labels_by_hand() -> None:
    """Four labels of four clusters, two failures drawn with 1 in 2 and two passes drawn for certain: 4 / 6 fail."""
    rows = make_rows(8, 0.0, 1)
    for number, (label, probability) in enumerate(((0, 0.5), (0, 0.5), (1, 1.0), (1, 1.0))):
        rows[2 * number] |= {"label": label, "inclusion_probability": probability, "rater_kind": "person"}
        rows[2 * number] |= {"rater_code": number // 2, "count_raters": 1}
    for row in rows:
        row["system"] = "old"
    found = by_cell(estimate(rows))["faithfulness", "old", "all"]
    assert found["labels_only_rate"] == found["failure_rate"] == pytest.approx(2 / 3)
    assert (found["count_interactions"], found["count_labels"], found["count_labels_by_people"]) == (8, 4, 4)
    assert (found["method"], found["width_ratio"]) == ("labels_only", None)
    assert found["message"] == "labels alone: 2 labelled failures; 5 are needed for predictions"
    assert found["statement"].startswith("2 of 4 labelled answers failed; of all, 67 % (")
    assert found["statement"].endswith(", in the eyes of these raters")


def test_sampling_weights_enter_the_rate_its_error_and_the_effective_number() -> None:
    """The failure stands for three interactions: 3 / 6 fail, and weights of 3, 1, 1 and 1 tell as much as 3 labels."""
    rows = make_rows(8, 0.0, 1)
    for row in rows:
        row |= {"system": "old", "sampling_weight": None}
    for number, (label, weight) in enumerate(((0, 3.0), (1, 1.0), (1, 1.0), (1, None))):
        rows[2 * number] |= {"label": label, "inclusion_probability": 1.0, "sampling_weight": weight}
    found = by_cell(estimate(rows))["faithfulness", "old", "all"]
    assert found["failure_rate"] == pytest.approx(0.5)
    assert found["effective_n"] <= 3 + 1e-9


def test_known_outcomes_need_no_label() -> None:
    rows = make_rows(1200, 0.3, 2)
    plain = by_cell(estimate(rows))["faithfulness", "new", "all"]
    # a rule passes every answer of the topic loans, whatever its label says
    known = [row | {"known_outcome": 1 if topic_of(row) == "loans" else None} for row in rows]
    found = by_cell(estimate(known))
    loans, whole, cards = (found["faithfulness", "new", name] for name in ("loans", "all", "cards"))
    assert (loans["method"], loans["failure_rate"], loans["count_labels"]) == ("known_outcomes", 0.0, 0)
    assert (loans["message"], loans["count_clusters"]) == ("a rule knows every outcome", loans["count_interactions"])
    assert 0 < loans["failure_rate_upper"] < 0.05
    assert whole["count_known_outcomes"] == loans["count_interactions"] > 0
    assert whole["count_labels"] == cards["count_labels"] < plain["count_labels"]
    share_open = cards["count_interactions"] / whole["count_interactions"]
    assert whole["failure_rate"] == pytest.approx(share_open * cards["failure_rate"])
    for limit in ("lower", "upper"):
        own = abs(whole[f"failure_rate_{limit}"] - whole["failure_rate"])
        of_cards = share_open * abs(cards[f"failure_rate_{limit}"] - cards["failure_rate"])
        # the share of open answers is not certain either
        assert of_cards < own < 1.2 * of_cards
    assert "a rule decides" in whole["statement"]


def test_rates_are_those_of_the_statistics_with_cross_fitted_predictions() -> None:
    rows = make_rows(1200, 0.3, 2)
    predictions = cross_fit_by_hand(rows)
    found = by_cell(estimate(rows))
    for system, segment in (("new", "all"), ("new", "cards"), ("old", "loans")):
        own = [place for place, row in enumerate(rows) if row["system"] == system and segment in ("all", topic_of(row))]
        labelled = [place for place in own if rows[place]["label"] is not None]
        expected = estimate_failure_rate(
            np.array([rows[place]["label"] == 0 for place in labelled]),
            predictions[labelled],
            np.array([rows[place]["cluster_id"] for place in labelled]),
            predictions[own],
            np.array([rows[place]["cluster_id"] for place in own]),
            1 / np.array([rows[place]["inclusion_probability"] for place in labelled]),
            label_second_clusters=np.array(labelled),
            second_clusters=np.array(own),
        )
        row = found["faithfulness", system, segment]
        assert row["method"] == expected.status
        assert expected.chosen is not None
        assert expected.labels_only is not None
        assert row["failure_rate"] == pytest.approx(expected.chosen.estimate)
        assert row["failure_rate_upper"] == pytest.approx(expected.chosen.high)
        assert row["labels_only_rate"] == pytest.approx(expected.labels_only.estimate)
        assert row["power_tuning"] == pytest.approx(expected.power_tuning)
        people = sum(rows[place]["rater_kind"] == "person" for place in labelled)
        assert row["count_labels_by_people"] == people
        assert row["count_labels_by_language_models"] == len(labelled) - people
    whole = found["faithfulness", "new", "all"]
    assert whole["method"] == "prediction_powered"
    # the score tells much of the label: a narrower interval
    assert whole["width_ratio"] < 0.95
    assert whole["message"].startswith("lambda = ")


def test_a_second_metric_narrows_the_interval_of_the_one_rate() -> None:
    rows = make_rows(1200, 0.3, 3)
    random = np.random.default_rng(3)
    clues = [None if row["label"] is None else row["label"] + random.normal(0, 0.3) for row in rows]
    told = [random.random() < 0.5 if clue is None else clue for clue in clues]
    both = estimate(add_metric(rows, "n", [float(clue) for clue in told]))
    alone = by_cell(estimate(rows))["faithfulness", "new", "all"]
    assert len(both) == 6
    assert by_cell(both)["faithfulness", "new", "all"]["width_ratio"] < alone["width_ratio"] - 0.1


def test_a_missing_score_is_a_fact_of_its_own() -> None:
    """Whoever has no score fails: the indicator of absence tells it, and the score itself says nothing."""
    random = np.random.default_rng(4)
    is_failure = random.random(400) < 0.3
    scores = np.where(is_failure, np.nan, random.random(400))[:, None]
    ridge = fit_ridge(scores, is_failure, np.ones(400))
    predicted = ridge(scores)
    assert predicted[is_failure].min() > 0.95
    assert predicted[~is_failure].max() < 0.05


@pytest.mark.parametrize("batch_rows", [1, 63])
def test_batch_borders_do_not_matter(batch_rows: int) -> None:
    rows = add_metric(make_rows(160, 0.5, 4), "n", [None] * 160) + make_rows(160, 0.5, 5, "relevance")
    np.random.default_rng(batch_rows).shuffle(rows)  # type: ignore[arg-type]
    assert estimate(rows, batch_rows) == estimate(rows, 10_000)


def test_the_verdict_has_a_rate_of_its_own_in_each_population() -> None:
    """Of eight customers a rule fails two and raters fail one of the others; the test set has two answers that pass."""
    rows = make_rows(10, 0.0, 1)
    for number, row in enumerate(rows):
        row |= {"system": "new", "cluster_id": f"c{number}", "population": "production" if number < 8 else "test_set"}
        if number < 2:
            row |= {"verdict": "failing", "verdict_rule": "no_answer", "decided_by": "rule"}
        else:
            row |= {"label": int(number != 2), "inclusion_probability": 1.0, "rater_kind": "person"}
            row |= {"rater_code": 1, "count_raters": 1}
    found = {(row["population"], row["segment"]): row for row in estimate(rows, criterion="verdict")}
    assert found["production", "all"]["failure_rate"] == pytest.approx(3 / 8)
    assert (found["production", "all"]["count_known_outcomes"], found["production", "all"]["count_clusters"]) == (2, 8)
    assert found["production", "all"]["count_labels_by_people"] == 6
    assert found["production", "all"]["statement"].endswith(", in the eyes of this rater")
    assert found["test_set", "all"]["failure_rate"] == 0.0
    # without an answer none can be judged by a criterion
    asked = [row for row in estimate(rows) if row["population"] == "production" and row["segment"] == "all"]
    assert [row["count_interactions"] for row in asked] == [6]


def test_labels_of_a_criterion_without_metric_count_in_the_verdict() -> None:
    rows = make_rows(200, 0.6, 12)
    beside = [row | {"is_without_metric": number % 3 == 0} for number, row in enumerate(rows)]
    assert estimate(beside, criterion="verdict") == estimate(rows, criterion="verdict")


def test_every_cell_has_its_row_with_a_reason() -> None:
    rows = make_rows(300, 0.5, 7)
    for row in rows:
        if row["system"] == "old":
            row |= {"label": None, "inclusion_probability": None}
    found = by_cell(estimate(rows))
    assert len(found) == 6
    unlabelled = found["faithfulness", "old", "all"]
    assert (unlabelled["method"], unlabelled["count_interactions"]) == ("insufficient", 100)
    assert (unlabelled["failure_rate"], unlabelled["statement"]) == (None, None)
    assert unlabelled["message"] == "0 labels of 0 clusters; labels of at least 2 clusters are needed"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"raw_score": 0.5}, "the predictions add nothing to the labels"),
        ({"label": 1}, "labels alone: 0 labelled failures; 5 are needed for predictions"),
    ],
)
def test_without_a_clue_the_labels_stand_alone(change: Row, message: str) -> None:
    rows = make_rows(400, 0.5, 8)
    for row in rows:
        row |= {name: value for name, value in change.items() if name != "label" or row["label"] is not None}
    row = by_cell(estimate(rows))["faithfulness", "new", "all"]
    assert (row["method"], row["message"]) == ("labels_only", message)
    assert row["failure_rate"] == row["labels_only_rate"]


def test_what_shares_a_document_or_a_rater_says_less() -> None:
    """Of twelve documents, or raters, half fail nearly all answers: about twelve independent facts."""
    rows = make_rows(600, 0.4, 9)
    for number, row in enumerate(rows):
        row |= {"cluster_id": f"q{number}", "system": "new"}
        if row["label"] is not None:
            row |= {"label": int(number % 12 < 6 and number % 36 > 0), "rater_kind": "person"}
    width: dict[str, float] = {}
    for name, change in (
        ("none", {}),
        ("document", {"second_cluster_id": "document_{}"}),
        ("rater", {"rater_code": "{}"}),
    ):
        changed = [
            row | {key: value.format(number % 12) for key, value in change.items()} for number, row in enumerate(rows)
        ]
        for row in changed:
            row["rater_code"] = None if row["label"] is None else int(row["rater_code"] or 0)
        found = by_cell(estimate(changed))["faithfulness", "new", "all"]
        width[name] = found["failure_rate_upper"] - found["failure_rate_lower"]
    assert min(width["document"], width["rater"]) > 2.5 * width["none"]


def test_labels_that_miss_low_scores_are_weighted_by_band() -> None:
    """Nobody rates most of the answers that score low. The labels alone would say .3 where about half fail."""
    rows = make_rows(2000, 0.3, 11)
    random = np.random.default_rng(11)
    for row in rows:
        row["inclusion_probability"] = row["label"] and None
        is_rated = random.random() < (0.3 if row["raw_score"] > 0.5 else 0.03)
        label = int(random.random() < 0.1 + 0.8 * row["raw_score"])
        row |= {"label": label, "inclusion_probability": 0.2} if is_rated else {"label": None}
        row |= {"rater_kind": "person", "rater_code": 1, "count_raters": 1} if is_rated else {"rater_kind": None}
    found = by_cell(estimate(rows))["faithfulness", "new", "all"]
    assert "higher than the others (p < .001): labels are weighted by band of scores" in found["message"]
    assert found["failure_rate_lower"] < 0.5 < found["failure_rate_upper"]
    assert abs(found["labels_only_rate"] - 0.5) < 0.12
