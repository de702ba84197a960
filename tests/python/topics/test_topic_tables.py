"""Tables of topics: fits keep ids, nothing is fitted twice, every chunk has a topic whatever the batches."""

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from hcat.engine.relations import order_by
from hcat.topics import tables as topic_tables
from hcat.topics.models import unit_rows
from hcat.topics.tables import (
    ASSIGNED_SCHEMA,
    FITTED_SCHEMA,
    MEASURED_SCHEMA,
    assign_topics,
    fit_topics,
    measure_topics,
)

WORDS = ["mortgage", "card", "savings", "pension"]
SETTINGS: dict[str, Any] = {
    "method": "k_means",
    "reduction": "pca",
    "count_dimensions": 4,
    "document_share": 0.0,
    "count_neighbours": 2,
    "count_topics": 3,
    "count_bounds": (2, 6),
    "minimum_texts": 4,
    "neighbourhood_distance": 0.0,
    "random_seed": 1,
}
NAMING = {"tagger": "none", "languages": ["en"]}


@pytest.fixture
def connection() -> Iterator[Any]:
    with duckdb.connect() as opened:
        yield opened


def make_texts(sizes: dict[int, int], encoder: int = 0) -> pa.Table:
    """Return texts of groups (number -> size), unit vectors about one axis per group; another encoder turns them."""
    generator = np.random.default_rng(4)
    # the vector of a text does not depend on which others there are
    noise = generator.normal(0, 0.05, (len(WORDS), 60, 6))
    rows = []
    for group, size in sizes.items():
        for number in range(size):
            vector = unit_rows((np.eye(6)[group] + noise[group, number])[None])[0]
            rows.append((f"t{group}_{number:02d}", f"all about {WORDS[group]} {number}", np.roll(vector, encoder)))
    return pa.table(
        {
            "text_id": [row[0] for row in rows],
            "document_id": [None] * len(rows),
            "topic_text": [row[1] for row in rows],
            "embedding": pa.array([row[2].astype(np.float32).tolist() for row in rows], pa.list_(pa.float32())),
        }
    )


def shift(texts: pa.Table) -> pa.Table:
    """Return texts whose vectors share a long common part, as those of one corpus do."""
    vectors = np.array(texts["embedding"].to_pylist()) + 5 * np.eye(6)[5]
    column = pa.array(unit_rows(vectors).astype(np.float32).tolist(), pa.list_(pa.float32()))
    return texts.set_column(3, "embedding", column)


def fit(connection: Any, texts: pa.Table, fits: pa.Table | None = None, **changes: Any) -> pa.Table:
    settings = SETTINGS | {key: value for key, value in changes.items() if key in SETTINGS}
    naming = NAMING | {key: value for key, value in changes.items() if key in NAMING}
    return fit_topics(
        order_by(connection.from_arrow(texts), "text_id"), fits, settings, changes.get("encoder_key", "e1"), naming
    )


def test_a_document_draws_its_chunks_into_one_topic(connection: Any) -> None:
    texts = make_texts({0: 8, 1: 8, 2: 8})
    # the last chunk of the first group belongs to the document of the second
    names = [name.split("_")[0] for name in texts["text_id"].to_pylist()]
    names[7] = "t1"
    texts = texts.set_column(1, "document_id", pa.array(names))

    def group_of(fits: pa.Table) -> set[str]:
        return next(set(row["text_ids"]) for row in fits.to_pylist() if "t0_07" in row["text_ids"])

    assert "t0_00" in group_of(fit(connection, texts))
    assert "t1_00" in group_of(fit(connection, texts, document_share=0.9))


def assign(connection: Any, texts: pa.Table, fits: pa.Table) -> list[dict[str, Any]]:
    ids = texts["text_id"].to_pylist()
    chunks = pa.table(
        {
            "chunk_id": [f"c_{name}" for name in ids],
            "document_id": pa.array([None if name.endswith("0") else "d1" for name in ids], pa.string()),
            "text_id": ids,
            "embedding": texts["embedding"],
        }
    )
    rows = assign_topics(connection.from_arrow(chunks), fits).read_all()
    assert rows.schema == ASSIGNED_SCHEMA
    return sorted(rows.to_pylist(), key=lambda row: row["chunk_id"])


def names(table: pa.Table) -> dict[str, str]:
    return {row["topic_name"].split(",")[0]: row["topic_id"] for row in table.to_pylist()}


def test_first_fit_numbers_topics_by_size(connection: Any) -> None:
    fitted = fit(connection, make_texts({0: 9, 1: 20, 2: 14}))
    assert fitted.schema == FITTED_SCHEMA
    assert [row["count_fitted"] for row in fitted.to_pylist()] == [20, 14, 9]
    assert names(fitted) == {"card": "topic_001", "savings": "topic_002", "mortgage": "topic_003"}
    assert set(fitted["fit_number"].to_pylist()) == {1}
    assert fitted["similarity_to_previous"].null_count == 3
    first = fitted.to_pylist()[0]
    assert first["text_ids"] == [f"t1_{number:02d}" for number in range(20)]
    assert first["words"][0] == "card"
    assert first["word_weights"] == sorted(first["word_weights"], reverse=True)


def test_a_fit_in_force_is_not_made_again_and_reads_no_text(connection: Any) -> None:
    fitted = fit(connection, make_texts({0: 9, 1: 20, 2: 14}))

    class Unreadable:
        def to_arrow_table(self) -> pa.Table:
            raise AssertionError("a fit in force needs no texts")

    again = fit_topics(Unreadable(), fitted, SETTINGS, "e1", NAMING)
    assert again.num_rows == 0
    assert again.schema == FITTED_SCHEMA


@pytest.mark.parametrize("changes", [{"encoder_key": "e2"}, {"random_seed": 2}, {"count_neighbours": 0}])
def test_encoder_and_settings_make_a_new_fit_that_keeps_ids(connection: Any, changes: dict[str, Any]) -> None:
    first = fit(connection, make_texts({0: 9, 1: 20, 2: 14}))
    # another encoder has another space: its topics are matched by the texts that both fits hold
    texts = make_texts({0: 22, 1: 20, 2: 14}, encoder=1 if "encoder_key" in changes else 0)
    second = fit(connection, texts, first, **changes)
    assert names(second) == names(first)
    assert set(second["fit_number"].to_pylist()) == {2}
    assert all(0.98 < value <= 1 + 1e-9 for value in second["similarity_to_previous"].to_pylist())
    assert set(second["fit_id"].to_pylist()).isdisjoint(first["fit_id"].to_pylist())


def test_what_all_texts_share_makes_no_topic_the_same(connection: Any) -> None:
    first = fit(connection, shift(make_texts({0: 9, 1: 20})), count_topics=2)
    second = fit(connection, shift(make_texts({2: 9, 3: 20})), first, random_seed=2, count_topics=2)
    raw = np.array(first["centre"].to_pylist()) @ np.array(second["centre"].to_pylist()).T
    assert raw.min() > 0.9
    assert second["topic_id"].to_pylist() == ["topic_003", "topic_004"]


def test_the_only_topic_stays_the_same(connection: Any) -> None:
    first = fit(connection, make_texts({0: 9}), count_topics=1)
    second = fit(connection, make_texts({0: 12}), first, random_seed=2, count_topics=1)
    assert second["topic_id"].to_pylist() == ["topic_001"]


def test_retired_ids_are_never_given_again(connection: Any) -> None:
    first = fit(connection, make_texts({0: 9, 1: 20, 2: 14}))
    second = fit(connection, make_texts({1: 20, 2: 14}), first, random_seed=2, count_topics=2)
    assert names(second) == {"card": "topic_001", "savings": "topic_002"}
    both = pa.concat_tables([first, second])
    third = fit(connection, make_texts({1: 20, 2: 14, 3: 9}), both, random_seed=3)
    assert names(third) == {"card": "topic_001", "savings": "topic_002", "pension": "topic_004"}


def test_no_texts_no_fit(connection: Any) -> None:
    empty = make_texts({0: 1}).slice(0, 0)
    assert fit(connection, empty).num_rows == 0
    assert assign(connection, empty, FITTED_SCHEMA.empty_table()) == []


def test_chunks_without_a_fit_are_an_error(connection: Any) -> None:
    with pytest.raises(ValueError, match="chunks need a fit of topics, got none"):
        assign(connection, make_texts({0: 2}), FITTED_SCHEMA.empty_table())


def test_new_texts_join_the_nearest_topic_and_old_ones_stay(connection: Any) -> None:
    fitted = fit(connection, make_texts({0: 9, 1: 20, 2: 14}))
    rows = assign(connection, make_texts({0: 25, 1: 30, 2: 30}), fitted)
    topics = names(fitted)
    for row in rows:
        group, number = int(row["chunk_id"][3]), int(row["chunk_id"][5:])
        assert row["topic_id"] == topics[WORDS[group]]
        assert row["is_fitted"] is (number < {0: 9, 1: 20, 2: 14}[group])
        assert 0.9 < row["similarity_to_centre"] <= 1
        assert row["document_id"] == (None if number % 10 == 0 else "d1")
    before = assign(connection, make_texts({0: 9, 1: 20, 2: 14}), fitted)
    after = {row["chunk_id"]: row for row in rows}
    assert all(after[row["chunk_id"]] == row for row in before)


def test_assignment_does_not_depend_on_batches_or_order(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = make_texts({0: 25, 1: 30, 2: 30, 3: 10})
    fitted = fit(connection, make_texts({0: 9, 1: 20, 2: 14}))
    expected = assign(connection, texts, fitted)
    monkeypatch.setattr(topic_tables, "BATCH_CHUNKS", 7)
    reverse = texts.take(pa.array(range(texts.num_rows - 1, -1, -1)))
    assert assign(connection, reverse, fitted) == expected


def test_k_means_gives_strangers_a_topic_and_density_makes_them_noise(connection: Any) -> None:
    texts, strangers = make_texts({0: 20, 1: 30}), make_texts({3: 6})
    by_k_means = assign(connection, strangers, fit(connection, texts, count_topics=2))
    assert {row["topic_id"] for row in by_k_means} <= {"topic_001", "topic_002"}
    fitted = fit(connection, texts, method="hdbscan")
    assert fitted["topic_id"].to_pylist() == ["topic_001", "topic_002", "noise"]
    assert {row["topic_id"] for row in assign(connection, strangers, fitted)} == {"noise"}
    # what the fit saw keeps the label of the fit, noise included
    of_fit = {text: row["topic_id"] for row in fitted.to_pylist() for text in row["text_ids"]}
    assert {row["chunk_id"][2:]: row["topic_id"] for row in assign(connection, texts, fitted)} == of_fit


def test_all_noise_is_one_stratum(connection: Any) -> None:
    texts = make_texts({0: 3})
    fitted = fit(connection, texts, method="dbscan")
    assert [(row["topic_id"], row["count_fitted"]) for row in fitted.to_pylist()] == [("noise", 3)]
    assert {row["topic_id"] for row in assign(connection, make_texts({1: 2}), fitted)} == {"noise"}
    measured = measure_topics(connection.from_arrow(texts), fitted, None, SETTINGS | {"method": "dbscan"})
    assert measured.num_rows == 20


def test_stability_is_measured_once_per_fit(connection: Any) -> None:
    texts = make_texts({0: 9, 1: 20, 2: 14})
    fitted = fit(connection, texts)
    sample = connection.from_arrow(texts).order("text_id")
    measured = measure_topics(sample, fitted, None, SETTINGS)
    assert measured.schema == MEASURED_SCHEMA
    assert measured["variation"].to_pylist() == ["seed"] * 10 + ["sample"] * 10
    assert min(measured["adjusted_rand"].to_pylist()) > 0.9
    assert measure_topics(sample, fitted, measured, SETTINGS).num_rows == 0
    assert measure_topics(sample, FITTED_SCHEMA.empty_table(), None, SETTINGS).num_rows == 0
