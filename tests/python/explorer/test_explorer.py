"""What the explorer's page holds: the numbers of the marts, masked texts, no secret of raters, the same bytes again."""

import base64
import io
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from made_build import COUNT, HOSTILE_ID, SCRIPT, make_build, query
from marts import insert

from benchmarks.explorer import COUNT_CHUNKS, MAIN_METRIC
from hcat.engine.warehouse import WarehouseError, open_warehouse
from hcat.explorer import page as pages
from hcat.explorer import tables
from hcat.explorer.document import render_explorer, write_explorer
from hcat.report import write_report

WEB = Path(__file__).resolve().parents[3] / "web"


def read_block(page: str, name: str) -> Any:
    """Return a block of a page: JSON as it is, Parquet as a table of PyArrow."""
    kind, content = re.search(rf'<script type="([^"]+)" id="{name}">(.*?)</script>', page, re.DOTALL).groups()
    if kind == "application/json":
        return json.loads(content)
    return pq.read_table(io.BytesIO(base64.b64decode(content)))


@pytest.fixture(scope="module")
def text(explorer: Path) -> str:
    return explorer.read_text("utf-8")


def test_every_score_and_verdict_is_that_of_the_mart(build: Path, text: str) -> None:
    rows, page = read_block(text, "rows").to_pydict(), read_block(text, "page")
    assert len(rows["id"]) == COUNT
    known: dict[str, dict[str, tuple[Any, ...]]] = {}
    for key, metric, *values in query(
        build,
        "select interaction_id, metric_name, raw_score, score_status, is_failing from fct_evaluations union all select"
        " interaction_id, 'verdict', (verdict = 'acceptable')::int, 'scored', verdict = 'failing' from fct_verdicts"
        " where verdict <> 'not_judged'",
    ):
        known.setdefault(metric, {})[key] = tuple(values)
    for position, metric in enumerate(page["metrics"]):
        for key, score, word in zip(rows["id"], rows[f"score_{position}"], rows[f"status_{position}"], strict=True):
            if word < 0:
                assert key not in known[metric["name"]]
                continue
            expected, status, failing = known[metric["name"]][key]
            assert page["statuses"][word // 3] == status
            assert word % 3 == (0 if failing is None else 2 if failing else 1)
            assert np.isnan(score) if expected is None else abs(score - expected) <= 5e-4 * abs(expected) + 1e-9


def test_a_cell_of_the_map_is_the_rate_of_the_mart(tmp_path: Path) -> None:
    cell = {"criterion": "verdict", "system": "assistant 1.0", "dimension": "topic", "segment": "fees"}
    rate = {"count_judged": 7, "failure_rate": 0.25, "failure_rate_lower": 0.125, "failure_rate_upper": 0.5}
    released = "is_in_release_population = true, version_role = 'candidate', population = 'test_set'"
    with duckdb.connect(str(make_build(tmp_path, count=40) / "hcat.duckdb")) as connection:
        connection.execute("update fct_interactions set version_role = 'baseline'")
        connection.execute(f"update fct_interactions set {released} where system = 'assistant 1.0'")
        for population in ({"population": "test_set"}, {"population": "production", "failure_rate": 0.375}):
            insert(connection, "fct_failure_rates", [cell | rate | population])
    text = write_explorer(tmp_path, tmp_path / "explorer.html").read_text("utf-8")
    page, cells = read_block(text, "page"), read_block(text, "cells").to_pylist()
    assert (page["live"], page["releasedOn"]) == (["assistant 1.0"], ["test_set"])
    found = [each["metric"] for each in cells if set(rate.values()) <= set(each.values())]
    assert found == [page["mainMetric"]] * 2  # the topic alone, and by the version
    assert page["versions"][page["versionOrder"][-1][1]] == "1.0"  # the candidate is the older one here


def test_the_worst_interaction_comes_first(build: Path, text: str) -> None:
    known = query(
        build,
        "select interaction_id from fct_verdicts inner join fct_evaluations using (interaction_id)"
        f" where fct_evaluations.metric_name = '{MAIN_METRIC}' order by list_position(['failing', 'not_judged',"
        " 'acceptable'], verdict), fct_evaluations.raw_score nulls last, interaction_id",
    )
    assert read_block(text, "rows").to_pydict()["id"] == [key for (key,) in known]


def test_chunks_are_written_once_and_named_by_interactions(build: Path, text: str) -> None:
    chunks, texts = read_block(text, "chunks").to_pydict(), read_block(text, "texts").to_pydict()
    assert len(set(zip(chunks["id"], chunks["text"], strict=True))) == len(chunks["id"])
    ids = read_block(text, "rows").to_pydict()["id"]
    retrieved_by_id = defaultdict(list)
    for key, *chunk in query(build, "select interaction_id, rank, chunk_id from base_retrievals order by all"):
        retrieved_by_id[key].append(tuple(chunk))
    assert retrieved_by_id
    for key, detail in zip(ids, map(json.loads, texts["detail"]), strict=True):
        retrieved = retrieved_by_id[key]
        shown = [(one["rank"], chunks["id"][one["chunk"]]) for one in detail["contexts"] if one["rank"] is not None]
        assert shown == retrieved
        missed = [chunks["id"][one["chunk"]] for one in detail["contexts"] if one["rank"] is None]
        assert not set(missed) & {chunk for _, chunk in retrieved}
        assert all(one["grade"] > 0 for one in detail["contexts"] if one["rank"] is None)


def test_sentences_and_evidence_stand_where_the_page_says(build: Path, text: str) -> None:
    chunks, texts = read_block(text, "chunks").to_pydict(), read_block(text, "texts").to_pydict()
    sentences = {
        (key, index): (sentence, evidence)
        for key, index, sentence, evidence in query(
            build, "select interaction_id, sentence_index, sentence_text, evidence_text from fct_sentence_evidence"
        )
    }
    ids = read_block(text, "rows").to_pydict()["id"]
    count_found = 0
    for key, answer, detail in zip(ids, texts["answer"], map(json.loads, texts["detail"]), strict=True):
        passages = {one["rank"]: chunks["text"][one["chunk"]] for one in detail["contexts"]}
        for index, sentence in enumerate(detail["sentences"]):
            expected, evidence = sentences[key, index]
            start, end = sentence["place"]
            assert answer[start:end] == expected
            for rank, start, end in sentence["evidence"].get("places", []):
                assert passages[rank][start:end] == evidence
                count_found += 1
    # evidence of a masked chunk is no part of it word for word
    assert count_found > 0.9 * len(sentences)


def test_masked_texts_leave_no_trace_and_unmasked_ones_are_said(build: Path, tmp_path: Path) -> None:
    folder = make_build(tmp_path / "private", count=40)
    with duckdb.connect(str(folder / "hcat.duckdb")) as connection:
        connection.execute(
            """
            create table base_interactions as
            select interaction_id, query_id, query_text, replace(answer, 'The ', 'Jane Doe of The ') as answer,
                'staged' as record_status
            from fct_interactions;
            create table base_queries as
            select query_id, null::varchar as query_text, reference_answer, 'staged' as record_status from dim_queries;
            """
        )
    masked = write_explorer(folder, tmp_path / "masked.html").read_text("utf-8")
    assert not read_block(masked, "page")["isUnmasked"]
    assert not [one for one in read_block(masked, "texts").to_pydict()["answer"] if "Jane Doe" in one]
    assert [one for one in read_block(masked, "chunks").to_pydict()["text"] if "[masked]" in one]
    open_page = write_explorer(folder, tmp_path / "open.html", is_unmasked=True).read_text("utf-8")
    assert read_block(open_page, "page")["isUnmasked"]
    assert all("Jane Doe" in one for one in read_block(open_page, "texts").to_pydict()["answer"])
    assert not [one for one in read_block(open_page, "chunks").to_pydict()["text"] if "[masked]" in one]
    with pytest.raises(WarehouseError, match=r"^this copy holds no unmasked texts \(it lacks base_interactions\)"):
        write_explorer(build, tmp_path / "none.html", is_unmasked=True)


def test_raters_are_numbers(build: Path, text: str) -> None:
    assert query(build, "select distinct rater from fct_ratings") == [("reader",)]
    details = read_block(text, "texts").to_pydict()["detail"]
    assert not [detail for detail in details if "reader" in detail]
    assert [detail for detail in details if '"rater_kind":"person","rater":1' in detail]


def test_hostile_texts_end_no_element_and_hold_no_control_character(hostile_explorer: Path) -> None:
    page = hostile_explorer.read_text("utf-8")
    # the blocks, the interface, and nothing of the logs
    assert page.count("<script") == len(("page", "cells", "weeks", "rows", "texts", "chunks")) + 1
    assert SCRIPT not in page
    assert not re.search("[\x00-\x08\x0b\x0e-\x1f\u202a-\u202e\u2066-\u2069]", page)
    texts, ids = read_block(page, "texts").to_pydict(), read_block(page, "rows").to_pydict()["id"]
    answer = texts["answer"][ids.index(HOSTILE_ID)]
    assert SCRIPT in answer
    assert "⟨U+202E⟩" in answer
    assert max(map(len, texts["answer"])) == tables.MAXIMUM_CHARACTERS + 1


def test_a_text_with_a_lone_surrogate_can_be_written() -> None:
    shown = tables.show("a\ud800b")
    assert shown == "a⟨U+D800⟩b"
    assert pq.read_table(io.BytesIO(tables.write_parquet({"text": [shown]}))).to_pydict() == {"text": [shown]}


def test_evidence_is_found_whatever_blanks_stand_between_words() -> None:
    assert tables.find_text("A  b", "x\nA\n b.") == (2, 6)
    assert tables.find_text("A b", "x A c") is None
    found = tables.find_evidence("One. Two.", 2, {1: "Two. Three.", 2: "Zero. One."})
    assert found == {"places": [[1, 0, 4], [2, 6, 10]]}
    assert tables.find_evidence("", 1, {1: "text"}) is None


def test_a_build_without_scores_is_said(build: Path, tmp_path: Path) -> None:
    (tmp_path / "hcat.duckdb").write_bytes((build / "hcat.duckdb").read_bytes())
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        connection.execute("delete from fct_evaluations; delete from fct_marginal_weaknesses")
    with pytest.raises(WarehouseError, match=r"^the warehouse holds no scored interaction"):
        write_explorer(tmp_path, tmp_path / "explorer.html")
    assert not (tmp_path / "explorer.html").exists()


def test_a_page_that_cannot_be_small_enough_is_refused(build: Path) -> None:
    refused = pytest.raises(WarehouseError, match=r"^the explorer would be larger than 0.1 MB")
    with open_warehouse(build) as source, refused:
        render_explorer(source, maximum_bytes=100_000)


def test_only_marts_are_enough(build: Path, tmp_path: Path) -> None:
    # a published copy
    (tmp_path / "hcat.duckdb").write_bytes((build / "hcat.duckdb").read_bytes())
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        others = "select table_name from duckdb_tables() where not regexp_matches(table_name, '^(dim|fct)_')"
        for (name,) in connection.execute(others).fetchall():
            connection.execute(f"drop table {name}")
    page = write_explorer(tmp_path, tmp_path / "explorer.html").read_text("utf-8")
    details = [json.loads(detail) for detail in read_block(page, "texts").to_pydict()["detail"]]
    ranked = [[one for one in detail["contexts"] if one["rank"] is not None] for detail in details]
    assert all(len(contexts) == COUNT_CHUNKS for contexts in ranked)
    assert all(len(detail["sentences"]) == 3 for detail in details)
    assert any(detail["ratings"] for detail in details)


def test_the_report_leads_to_the_explorer_of_the_same_build_alone(build: Path, explorer: Path, tmp_path: Path) -> None:
    alone = write_report(build, tmp_path / "report.html").read_text("utf-8")
    assert "explorer.html" not in alone
    (tmp_path / "explorer.html").write_bytes(explorer.read_bytes())
    beside = write_report(build, tmp_path / "report.html").read_text("utf-8")
    findings = re.findall(r'href="explorer.html#/findings/([^"]+)"', beside)
    answers = re.findall(r'href="explorer.html#/interaction/([^"]+)"', beside)
    page = explorer.read_text("utf-8")
    assert findings == [finding["finding_id"] for finding in read_block(page, "page")["findings"]]
    assert set(answers) <= set(read_block(page, "rows").to_pydict()["id"])
    # the page of an earlier build stays where a later one could not be written
    (tmp_path / "explorer.html").write_text(page.replace('"id":"run_1"', '"id":"run_0"'), encoding="utf-8")
    assert "explorer.html" not in write_report(build, tmp_path / "report.html").read_text("utf-8")


def test_a_bundle_that_was_changed_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("explorer.js", "explorer.css", "SHA256SUMS"):
        (tmp_path / name).write_bytes((pages._BUNDLES / name).read_bytes())
    (tmp_path / "explorer.js").write_text("alert(1)", encoding="utf-8")
    monkeypatch.setattr(pages, "_BUNDLES", tmp_path)
    with pytest.raises(ValueError, match=r"^explorer.js is not the bundle whose digest was committed"):
        pages.assemble_page("explorer", "title", {})


def test_the_licences_of_what_the_bundle_holds_stand_beside_it() -> None:
    named = json.loads((WEB / "package.json").read_text("utf-8"))["dependencies"]
    licences = (pages._BUNDLES / "LICENSES.txt").read_text("utf-8")
    for name, version in named.items():
        assert f"{name} {version}\n\n" in licences
    assert licences.count("Permission is hereby granted, free of charge") == len(named)
