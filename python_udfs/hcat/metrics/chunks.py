"""How well each retrieved chunk fits its query, read alone: what is ranked against judgements of relevance.

A metric of a whole context cannot be held against judgements of single chunks. Here each chunk is the whole context.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.metrics.evidence import read_words
from hcat.metrics.similarity import best_matches
from hcat.metrics.texts import take_texts, to_batch, to_matrix

#: List columns whose elements are text ids.
CHUNK_LISTS = ("query_text_ids", "context_text_ids")

COMPARED_CHUNKS_SCHEMA = schema(
    "string: interaction_id input_key", "int64: rank", "float64: context_relevancy context_precision word_overlap"
)


def compare_chunks(batch: pa.RecordBatch, texts: pa.Table) -> pa.RecordBatch:
    """Return one row per (interaction, rank) with the scores of the chunk at that rank.

    ``context_relevancy`` is the mean of the best matches of the query's sentences in the chunk, and
    ``context_precision`` that of the chunk's sentences in the query, both in [-1, 1]. ``word_overlap`` is the share of
    the distinct content words of the query that the chunk holds, in [0, 1]; 0 for a query without any.

    Parameters
    ----------
    batch : RecordBatch
        Columns interaction_id, input_key, context_ranks (one per context sentence) and the lists :data:`CHUNK_LISTS`,
        none of them empty.
    texts : Table
        Columns text_id (unique), encoded_text, embedding (unit vectors, float32); at least the texts that the batch
        names.

    Raises
    ------
    KeyError
        If a text of the batch is missing: a score from a part of a chunk would be wrong without notice.
    """
    queries, contexts = (batch.column(name).to_pylist() for name in CHUNK_LISTS)
    needed = sorted({text_id for lists in (queries, contexts) for texts_of in lists for text_id in texts_of})
    taken = take_texts(texts, needed)
    words = dict(zip(needed, map(read_words, taken["encoded_text"].to_pylist()), strict=True))
    position = {text_id: index for index, text_id in enumerate(needed)}
    matrix = to_matrix(taken["embedding"])
    rows: list[tuple[Any, ...]] = []
    for interaction_id, input_key, query, context, ranks in zip(
        batch.column("interaction_id").to_pylist(),
        batch.column("input_key").to_pylist(),
        queries,
        contexts,
        batch.column("context_ranks").to_pylist(),
        strict=True,
    ):
        asked = frozenset().union(*[words[text_id] for text_id in query])
        cosines = (
            matrix[[position[text_id] for text_id in query]] @ matrix[[position[text_id] for text_id in context]].T
        )
        of_rank: dict[int, list[int]] = {}
        for place, rank in enumerate(ranks):
            of_rank.setdefault(rank, []).append(place)
        for rank, places in sorted(of_rank.items()):
            chunk = np.clip(cosines[:, places], -1.0, 1.0).astype(np.float64)
            held = asked.intersection(frozenset().union(*[words[context[place]] for place in places]))
            rows.append(
                (
                    interaction_id,
                    input_key,
                    rank,
                    float(best_matches(chunk)[0].mean()),
                    float(best_matches(chunk.T)[0].mean()),
                    len(held) / len(asked) if asked else 0.0,
                )
            )
    return to_batch(rows, COMPARED_CHUNKS_SCHEMA)
