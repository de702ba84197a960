"""Topics for queries without one: seeded k-means over sentence embeddings, named by their most typical words."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.metrics.texts import to_matrix
from hcat.topics.models import count_words, order_labels, unit_rows, weigh_words

#: Topics of queries that carry none.
COUNT_TOPICS = 8
COUNT_NAME_WORDS = 3

#: One row per query text; the similarity is a cosine.
CLUSTERED_SCHEMA = schema("string: passage_id topic", "float64: similarity_to_centre")


def cluster_queries(sentences: pa.Table, random_seed: int, count_topics: int = COUNT_TOPICS) -> pa.Table:
    """Return the topic of each query text (schema :data:`CLUSTERED_SCHEMA`).

    Parameters
    ----------
    sentences : Table
        passage_id, sentence_text, embedding; ordered by passage and sentence. An empty table gives an empty result.
    random_seed : int
        Seed of the k-means starts.
    count_topics : int
        k of k-means; fewer distinct queries give fewer topics.

    Notes
    -----
    A topic is named ``topic_<number>: <three words>``, the words with the largest class-based TF-IDF (Grootendorst
    2022). Topics are numbered from the largest, so that the same input gives the same names.

    Examples
    --------
    >>> sentences = pa.table(
    ...     {
    ...         "passage_id": ["a", "b", "c"],
    ...         "sentence_text": ["Mortgage rates", "Mortgage", "Lost card"],
    ...         "embedding": [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]],
    ...     }
    ... )
    >>> cluster_queries(sentences, 1, 2)["topic"].to_pylist()
    ['topic_01: mortgage, rates', 'topic_01: mortgage, rates', 'topic_02: card, lost']
    """
    if sentences.num_rows == 0:
        return CLUSTERED_SCHEMA.empty_table()
    from sklearn.cluster import KMeans

    vectors = to_matrix(sentences["embedding"])
    ids = sentences["passage_id"].to_pylist()
    starts = [row for row in range(len(ids)) if row == 0 or ids[row] != ids[row - 1]]
    pooled = unit_rows(np.add.reduceat(vectors, starts, axis=0, dtype=np.float32))
    count_clusters = _count_distinct(pooled, count_topics)
    model = KMeans(n_clusters=count_clusters, n_init=3, random_state=random_seed % 2**32).fit(pooled)
    centres = unit_rows(model.cluster_centers_)[model.labels_]
    texts = sentences["sentence_text"].to_pylist()
    ends = [*starts[1:], len(ids)]
    passages = [" ".join(texts[start:end]) for start, end in zip(starts, ends, strict=True)]
    labels = order_labels(model.labels_)
    words = weigh_words(count_words(passages, labels, count_clusters), COUNT_NAME_WORDS)
    names = [f"topic_{number:02d}: {', '.join(word for word, _ in found)}" for number, found in enumerate(words, 1)]
    return pa.table(
        {
            "passage_id": [ids[start] for start in starts],
            "topic": [names[label] for label in labels],
            "similarity_to_centre": np.sum(pooled * centres, axis=1).astype(np.float64),
        },
        schema=CLUSTERED_SCHEMA,
    )


def _count_distinct(vectors: npt.NDArray[np.float32], most: int) -> int:
    """Return the number of distinct rows, to six digits; at most ``most``, and no row is read after as many."""
    found: set[bytes] = set()
    for row in vectors:
        # a rounded number may be -0, which is 0 in other bytes
        found.add((row.round(6) + 0.0).tobytes())
        if len(found) == most:
            break
    return len(found)
