"""Topics of untagged queries: separable groups are found, names are stable, an empty input stays empty."""

import numpy as np
import pyarrow as pa
from schemas import make_schema

from hcat.topics.queries import CLUSTERED_SCHEMA, cluster_queries


def sentences(groups: list[str], per_group: int) -> pa.Table:
    generator = np.random.default_rng(7)
    rows = []
    for group, word in enumerate(groups):
        for number in range(per_group):
            centre = np.zeros(8)
            centre[group] = 1
            vector = centre + generator.normal(0, 0.05, 8)
            unit = (vector / np.linalg.norm(vector)).astype(np.float32)
            rows.append((f"p{group}_{number:02d}", f"question about {word} {word}", unit.tolist()))
    rows.sort()
    return pa.table(
        {
            "passage_id": [row[0] for row in rows],
            "sentence_text": [row[1] for row in rows],
            "embedding": pa.array([row[2] for row in rows], pa.list_(pa.float32())),
        }
    )


def test_separable_groups_get_their_own_named_topic():
    result = cluster_queries(sentences(["mortgage", "card", "savings"], 12), 1, 3).to_pylist()
    topics = {row["passage_id"][:2]: row["topic"] for row in result}
    assert len(set(topics.values())) == 3
    assert "mortgage" in topics["p0"]
    assert all(row["topic"] == topics[row["passage_id"][:2]] for row in result)
    assert all(row["similarity_to_centre"] > 0.9 for row in result)


def test_fewer_queries_than_topics():
    assert cluster_queries(sentences(["card"], 1), 1, 8).num_rows == 1


def test_queries_that_point_the_same_way_are_one_topic():
    same = [[1.0, 0.0], [2.0, -0.0], [1.0, -1e-9], [1.0, 1e-9]]
    rows = {"passage_id": list("abcd"), "sentence_text": ["card"] * 4}
    table = pa.table(rows | {"embedding": pa.array(same, pa.list_(pa.float32()))})
    assert set(cluster_queries(table, 1, 3)["topic"].to_pylist()) == {"topic_01: card"}


def test_nothing_to_cluster():
    empty = make_schema(string="passage_id sentence_text", float32_lists="embedding")
    assert cluster_queries(empty.empty_table(), 1, 8).schema == CLUSTERED_SCHEMA
