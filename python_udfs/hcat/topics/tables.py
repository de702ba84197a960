"""Topics of chunks as Arrow tables: fits with lasting ids, topics of chunks, stability."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import count
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.engine.relations import map_batches, read_rows
from hcat.metrics.texts import to_matrix
from hcat.statistics.arrays import Floats, Vectors
from hcat.topics.models import (
    MEMBER_QUANTILE,
    NOISE,
    TopicSettings,
    cluster_vectors,
    find_centres,
    find_picture_axes,
    match_centres,
    measure_silhouette,
    measure_stability,
    pull_to_documents,
    unit_rows,
)
from hcat.topics.phrases import NO_NAME, TopicName, describe_naming, name_topics

#: Id of texts without a topic; a stratum of its own.
NOISE_TOPIC: Final = "noise"
#: Raised when the windows of a chunk, the texts of a fit or these rules change: topics are fitted again, and ids stay.
REVISION: Final = 2
#: Cosine of the centres of two fits, measured from the mean of all texts, from which a topic keeps its id.
MATCH_SIMILARITY: Final = 0.9
#: Fits of each kind whose agreement measures the stability of the topics.
COUNT_FITS: Final = 5
BATCH_CHUNKS: Final = 4096
#: Decimals of a distance that decide which centre is nearest; later ones depend on the batch.
DISTANCE_DECIMALS: Final = 9

FITTED_SCHEMA: Final = schema(
    "string: fit_topic_id fit_id topic_id encoder_key topic_name naming",
    "list<string>: words",
    "list<float64>: word_weights",
    "string: settings",
    "int32: fit_number count_topics count_fitted",
    "float64: similarity_to_previous least_similarity silhouette",
    "list<float64>: centre picture_origin picture_x_axis picture_y_axis",
    "list<string>: text_ids",
)

ASSIGNED_SCHEMA: Final = schema(
    "string: chunk_id document_id topic_id fit_id", "float64: similarity_to_centre x y", "bool: is_fitted"
)

MEASURED_SCHEMA: Final = schema("string: fit_id variation", "int32: first_fit second_fit", "float64: adjusted_rand")


def fit_topics(
    sample: Any, fits: pa.Table | None, settings: Mapping[str, Any], encoder_key: str, naming: Mapping[str, Any]
) -> pa.Table:
    """Return the topics of a new fit (schema :data:`FITTED_SCHEMA`); no row if the last fit is still valid.

    A topic keeps the id of a topic of the last fit that is about as similar as :data:`MATCH_SIMILARITY`. Centres of
    another encoder are computed again from the new vectors of their texts.

    Parameters
    ----------
    sample : relation
        text_id, document_id, topic_text, embedding; one row per distinct text, ordered by text_id. It is read only if a
        fit is due.
    fits : Table or None
        Rows of all earlier fits.
    settings : mapping
        Fields of :class:`hcat.topics.models.TopicSettings`.
    encoder_key : str
        Another one makes another fit.
    naming : mapping
        tagger and languages of :func:`hcat.topics.phrases.name_topics`. Another value makes another fit.

    Raises
    ------
    ValueError
        If a setting is invalid.
    """
    chosen = TopicSettings(**settings)
    named_by = describe_naming(naming["tagger"])
    fitted_by = {**asdict(chosen), "revision": REVISION, "encoder_key": encoder_key}
    described = json.dumps({**fitted_by, "naming": {**naming, "tagger": named_by}}, sort_keys=True)
    last = _last_fit(fits)
    if last.num_rows and last["settings"][0].as_py() == described:
        return FITTED_SCHEMA.empty_table()
    rows = read_rows(sample)
    if not rows.num_rows:
        return FITTED_SCHEMA.empty_table()
    text_ids, vectors = rows["text_id"].to_pylist(), to_matrix(rows["embedding"])
    pulled = pull_to_documents(vectors, rows["document_id"].to_pylist(), chosen.document_share)
    clustering = cluster_vectors(pulled, chosen)
    centres = find_centres(vectors, clustering.labels)
    earlier = last.filter(pc.not_equal(last["topic_id"], NOISE_TOPIC))
    # texts of one corpus have much in common, and topics differ by the rest
    is_one = min(earlier.num_rows, len(centres)) == 1
    middle = np.zeros(vectors.shape[1]) if is_one else vectors.mean(axis=0, dtype=np.float64)
    placed = _place_again(earlier, text_ids, vectors, encoder_key, middle)
    kept = match_centres(placed, centres - middle, MATCH_SIMILARITY)
    names = _name_topics(kept, earlier["topic_id"].to_pylist(), fits, len(centres))
    called = name_topics(rows["topic_text"].to_pylist(), clustering.labels, len(centres), **naming)
    number = max(fits["fit_number"].to_pylist(), default=0) + 1 if fits is not None else 1
    fit_id = hash_text("topic fit", str(number), described)
    silhouette = measure_silhouette(clustering, chosen.random_seed)
    origin, axes = find_picture_axes(vectors)
    shared = {
        "fit_id": fit_id,
        "encoder_key": encoder_key,
        "settings": described,
        "fit_number": number,
        "count_topics": len(centres),
        "silhouette": None if np.isnan(silhouette) else silhouette,
        "picture_origin": origin.tolist(),
        "picture_x_axis": axes[0].tolist(),
        "picture_y_axis": axes[1].tolist(),
    }
    topics, has_noise = [], chosen.method != "k_means"
    for label, name in enumerate(names):
        members = np.flatnonzero(clustering.labels == label)
        cosines = vectors[members].astype(np.float64) @ unit_rows(centres[label][None])[0]
        topics.append(
            called[label]._asdict()
            | {
                "topic_id": name,
                "topic_name": called[label].topic_name or name,
                "count_fitted": len(members),
                # a cosine may exceed 1 in its last digit
                "similarity_to_previous": min(kept[label][1], 1.0) if label in kept else None,
                "least_similarity": float(np.quantile(cosines, MEMBER_QUANTILE)) if has_noise else None,
                "centre": centres[label].tolist(),
                "text_ids": [text_ids[row] for row in members],
            }
        )
    if has_noise:
        members = np.flatnonzero(clustering.labels == NOISE)
        counted = {"count_fitted": len(members), "text_ids": [text_ids[row] for row in members]}
        topics.append(TopicName(NOISE_TOPIC, [], [], NO_NAME)._asdict() | {"topic_id": NOISE_TOPIC} | counted)
    complete = [{**shared, **topic, "fit_topic_id": hash_text(fit_id, str(topic["topic_id"]))} for topic in topics]
    return pa.Table.from_pylist(complete, schema=FITTED_SCHEMA)


def assign_topics(embeddings: Any, fits: pa.Table) -> pa.RecordBatchReader:
    """Return the topic of every chunk by the last fit (schema :data:`ASSIGNED_SCHEMA`), streamed.

    Parameters
    ----------
    embeddings : relation
        chunk_id, document_id, text_id, embedding; any order.
    fits : Table
        Rows of all fits.

    Raises
    ------
    ValueError
        If there are chunks and no fit.

    Notes
    -----
    Texts of the fit keep their topic. Any other text belongs to the nearest centre by Euclidean distance to the mean of
    the members, as in k-means. With DBSCAN and HDBSCAN it is noise unless it is about as similar to the centre as the
    members are (:data:`hcat.topics.models.MEMBER_QUANTILE`).
    """
    last = _last_fit(fits)
    return map_batches(
        embeddings, _start_assigning(last) if last.num_rows else _refuse_chunks, ASSIGNED_SCHEMA, BATCH_CHUNKS
    )


def measure_topics(sample: Any, fits: pa.Table, done: pa.Table | None, settings: Mapping[str, Any]) -> pa.Table:
    """Return the agreement of fits that vary in one respect (schema :data:`MEASURED_SCHEMA`); once per fit.

    Parameters
    ----------
    sample : relation
        As in :func:`fit_topics`; read only if the last fit is not measured yet.
    fits : Table
        Rows of all fits.
    done : Table or None
        Rows of earlier builds.
    settings : mapping
        As in :func:`fit_topics`; the number of topics is that of the fit.
    """
    last = _last_fit(fits)
    if not last.num_rows or (done is not None and last["fit_id"][0].as_py() in done["fit_id"].to_pylist()):
        return MEASURED_SCHEMA.empty_table()
    chosen = TopicSettings(**settings)
    if chosen.method == "k_means":
        chosen = replace(chosen, count_topics=last["count_topics"][0].as_py())
    rows = read_rows(sample)
    vectors = to_matrix(rows["embedding"])
    pulled = pull_to_documents(vectors, rows["document_id"].to_pylist(), chosen.document_share)
    measured = measure_stability(pulled, chosen, COUNT_FITS)
    columns = list(zip(*((last["fit_id"][0].as_py(), *row) for row in measured), strict=True))
    return pa.table(dict(zip(MEASURED_SCHEMA.names, map(list, columns), strict=True)), schema=MEASURED_SCHEMA)


def _refuse_chunks(_: pa.RecordBatch) -> pa.RecordBatch:
    raise ValueError("chunks need a fit of topics, got none")


def _start_assigning(fit: pa.Table) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return a function from chunks to their topics by a fit."""
    every = fit.to_pylist()
    topics = [row for row in every if row["centre"] is not None]
    topic_ids = [topic["topic_id"] for topic in topics]
    numbers = {topic: number for number, topic in enumerate(topic_ids)}
    topic_of_text = {text: row["topic_id"] for row in every for text in row["text_ids"]}
    axes, origin = (np.array([every[0][f"picture_{axis}_axis"] for axis in "xy"]), np.array(every[0]["picture_origin"]))
    centres = np.array([topic["centre"] for topic in topics]).reshape(len(topics), axes.shape[1])
    # k-means has no noise: the nearest topic is taken, however dissimilar
    least = np.array([-np.inf if row["least_similarity"] is None else row["least_similarity"] for row in topics])

    def assign(batch: pa.RecordBatch) -> pa.RecordBatch:
        vectors = to_matrix(pa.chunked_array([batch.column("embedding")])).astype(np.float64)
        known = [topic_of_text.get(text) for text in batch.column("text_id").to_pylist()]
        placed = zip(_find_nearest(vectors, centres, least).tolist(), known, strict=True)
        rows = np.array([near if topic is None else numbers.get(topic, NOISE) for near, topic in placed], np.int64)
        # the similarity of noise is the largest to any centre, which shows how far off it lies
        cosines = vectors @ unit_rows(centres).T if len(centres) else np.zeros((len(vectors), 1))
        similarity = np.where(rows == NOISE, cosines.max(axis=1), cosines[np.arange(len(rows)), np.maximum(rows, 0)])
        places = vectors @ axes.T - origin
        columns = {
            "chunk_id": batch.column("chunk_id"),
            "document_id": batch.column("document_id"),
            "topic_id": pa.array([topic_ids[row] if row != NOISE else NOISE_TOPIC for row in rows.tolist()]),
            "fit_id": pa.array([every[0]["fit_id"]] * len(rows), pa.string()),
            "similarity_to_centre": pa.array(np.clip(similarity, -1.0, 1.0).round(DISTANCE_DECIMALS)),
            "x": pa.array(places[:, 0].round(DISTANCE_DECIMALS)),
            "y": pa.array(places[:, 1].round(DISTANCE_DECIMALS)),
            "is_fitted": pa.array([topic is not None for topic in known]),
        }
        return pa.RecordBatch.from_pydict(columns, schema=ASSIGNED_SCHEMA)

    return assign


def _find_nearest(vectors: Floats, centres: Floats, least_similarities: Floats) -> npt.NDArray[np.int64]:
    if not len(centres):
        return np.full(len(vectors), NOISE)
    # |v - c|^2 without |v|^2, which is the same for all centres
    distances = (np.sum(centres**2, axis=1) - 2 * vectors @ centres.T).round(DISTANCE_DECIMALS)
    nearest = distances.argmin(axis=1)
    similarity = np.sum(vectors * unit_rows(centres)[nearest], axis=1)
    return np.where(similarity >= least_similarities[nearest], nearest, NOISE)


def _last_fit(fits: pa.Table | None) -> pa.Table:
    if fits is None or not fits.num_rows:
        return FITTED_SCHEMA.empty_table()
    return fits.filter(pc.equal(fits["fit_number"], pc.max(fits["fit_number"]))).sort_by("topic_id")


def _place_again(
    earlier: pa.Table, text_ids: Sequence[str], vectors: Vectors, encoder_key: str, middle: Floats
) -> Floats:
    """Return the centres of earlier topics minus ``middle`` in the space of ``vectors``; zeros where unknown."""
    rows = earlier.select(["encoder_key", "centre", "text_ids"]).to_pylist()
    row_of_text = {text: row for row, text in enumerate(text_ids)}
    centres = np.zeros((len(rows), vectors.shape[1]))
    for number, topic in enumerate(rows):
        members = [row_of_text[text] for text in topic["text_ids"] if text in row_of_text]
        if topic["encoder_key"] == encoder_key:
            centres[number] = topic["centre"] - middle
        elif members:
            centres[number] = vectors[members].mean(axis=0, dtype=np.float64) - middle
    return centres


def _name_topics(
    kept: Mapping[int, tuple[int, float]], earlier: Sequence[str], fits: pa.Table | None, count_topics: int
) -> list[str]:
    """Return the id of each topic of a fit: its earlier id, otherwise the next number that was never used."""
    given = [] if fits is None else [name for name in fits["topic_id"].to_pylist() if name != NOISE_TOPIC]
    numbers = count(1 + max((int(name.rsplit("_", 1)[1]) for name in given), default=0))
    return [earlier[kept[label][0]] if label in kept else f"topic_{next(numbers):03d}" for label in range(count_topics)]
