"""From documents to a test set, to answers, to evaluations: variants stand beside their parents all the way."""

import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from builds import DEMO, EVERYTHING, REPOSITORY, UNTESTED, Dbt, load_service, read_lines, run_hcat

TOKEN = "a-token-of-the-test"
VARIANT_MODELS = (
    "int_variant_materials int_variants_planned int_queries_varied int_test_variants"
    " int_test_texts_recognisable int_test_texts_recognised int_test_texts_masked fct_test_variants"
)


@pytest.fixture
def service() -> Iterator[Any]:
    """Serve the example without faults."""
    module = load_service()
    server = module.Service(("127.0.0.1", 0), module.BM25(module.read_chunks()), token=TOKEN)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def run(*arguments: object) -> str:
    """Run hcat with the token of the service, and return what it printed."""
    return run_hcat(*arguments, environment=os.environ | {"RAG_SERVICE_TOKEN": TOKEN, "NO_PROXY": "127.0.0.1"})


def root_of(query_id: str, rows: dict[str, dict[str, Any]]) -> str:
    """Return the query at the end of the chain of parents."""
    parent = rows[query_id]["parent_query_id"]
    return root_of(parent, rows) if parent else query_id


def test_variants_sit_beside_their_parents(tmp_path: Path, service: Any, dbt: Dbt) -> None:
    raw, collected, warehouse = tmp_path / "raw", tmp_path / "collected", tmp_path / "warehouse"
    for folder in (raw, collected):
        folder.mkdir()
        for name in ("documents.jsonl", "chunks.jsonl"):
            shutil.copy(DEMO / name, folder / name)

    # documents -> queries and variants
    build = dbt("build --select +tag:test_set --indirect-selection cautious", raw, warehouse, variables=EVERYTHING)
    assert build.exit_code == 0, build.output
    statuses = dict(build.query("select variant_status, count(*) from fct_test_variants group by all"))
    assert statuses["made"] > 50
    planned_types = {row[0] for row in build.query("select distinct variant_type from fct_test_variants")}
    assert len(planned_types) > 10

    # -> a file, which a second build of the variants does not change
    path = collected / "queries.jsonl"
    printed = run("test-set", "--warehouse", warehouse, "--output", path)
    rows = {row["query_id"]: row for row in read_lines(path)}
    variants = {query_id: row for query_id, row in rows.items() if row["parent_query_id"]}
    assert len(variants) == statuses["made"]
    assert f"{statuses['made']:,}: " in printed
    assert Counter(row["variant_type"] for row in variants.values()).keys() <= planned_types
    count_varied = build.query("select count(*) from int_queries_varied")
    again = dbt(f"run --select {VARIANT_MODELS}", raw, warehouse, variables=EVERYTHING)
    assert again.exit_code == 0, again.output
    assert again.query("select count(*) from int_queries_varied") == count_varied
    before = path.read_bytes()
    assert "as it was" in run("test-set", "--warehouse", warehouse, "--output", path)
    assert path.read_bytes() == before

    # -> answers
    described = yaml.safe_load((REPOSITORY / "examples" / "rag_service" / "endpoint.yml").read_text(encoding="utf-8"))
    described["request"]["url"] = f"http://127.0.0.1:{service.server_address[1]}/ask"
    endpoint = tmp_path / "endpoint.yml"
    endpoint.write_text(yaml.safe_dump(described), encoding="utf-8")
    run("collect", endpoint, "--queries", path, "--output", collected)
    assert {row["query_id"] for row in read_lines(collected / "interactions.jsonl")} == set(rows)

    # -> evaluations, without a classifier
    models = "+fct_evaluations +fct_sentence_evidence +dim_queries"
    evaluated = dbt(f"{UNTESTED} --select {models}", collected, tmp_path / "evaluated", classifier="none")
    assert evaluated.exit_code == 0, evaluated.output
    unread = evaluated.query(
        "select distinct score_status, detail, raw_score from fct_evaluations where score_status <> 'not_applicable'"
        " and (metric_name = 'groundedness' or metric_name like 'groundedness_entailment%')"
    )
    assert unread == [("missing_input", "missing: entailment classifier", None)]
    assert evaluated.query("select count(*) > 0, count(support_probability) from fct_sentence_evidence") == [(True, 0)]
    assert evaluated.query("select distinct record_status from base_queries") == [("staged",)]
    dimension = {
        query_id: (root, parent, variant_type, weight)
        for query_id, root, parent, variant_type, weight in evaluated.query(
            "select query_id, root_query_id, parent_query_id, variant_type, sampling_weight from dim_queries"
        )
    }
    assert dimension == {
        query_id: (root_of(query_id, rows), row["parent_query_id"], row["variant_type"], row["sampling_weight"])
        for query_id, row in rows.items()
    }
    # questions about one document are one cluster, variants with the question that they were made from
    groups = {query_id: row["source_group"] for query_id, row in rows.items()}
    assert groups == {query_id: groups[root_of(query_id, rows)] for query_id in rows}
    document_of = {row["chunk_id"]: row["document_id"] for row in read_lines(collected / "chunks.jsonl")}
    assert set(groups.values()) <= {f"document_{document}" for document in document_of.values()}
    sources = {query_id: row["source_chunk_ids"][0] for query_id, row in rows.items() if row["source_chunk_ids"]}
    assert len(sources) > 50
    assert all(groups[query_id] == f"document_{document_of[chunk]}" for query_id, chunk in sources.items())
    assert dict(evaluated.query("select query_id, cluster_id from fct_interactions")) == groups
    assert any(row["sampling_weight"] for row in variants.values())
    pairs = evaluated.query(
        """
        with evaluations as (
            select dim_queries.query_id, dim_queries.parent_query_id, fct_evaluations.metric_name
            from fct_evaluations
            inner join fct_interactions on fct_evaluations.interaction_id = fct_interactions.interaction_id
            inner join dim_queries on fct_interactions.query_id = dim_queries.query_id
        )
        select count(*), count(parents.query_id), count(distinct variants.query_id)
        from evaluations as variants
        left join evaluations as parents
            on variants.parent_query_id = parents.query_id and variants.metric_name = parents.metric_name
        where variants.parent_query_id is not null
        """
    )
    count, count_with_parent, count_variants = pairs[0]
    assert count == count_with_parent > 0
    assert count_variants == len(variants)
    # siblings are one source: intervals and folds never take them apart
    groups = evaluated.query(
        """
        select count(*) from (
            select dim_queries.root_query_id
            from fct_interactions inner join dim_queries on fct_interactions.query_id = dim_queries.query_id
            group by dim_queries.root_query_id
            having count(distinct fct_interactions.cluster_id) > 1
        )
        """
    )
    assert groups == [(0,)]
