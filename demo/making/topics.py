"""Reads the hand-written topics and the variants that test risks, and checks that they fit together."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from making.records import Chunk, Query, read_yaml

CANARY_DIGITS = 10


@dataclass
class Topics:
    """What the files of the topics hold, in file order."""

    chunks: list[Chunk] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    #: query_id -> chunks that touch its subject without answering it
    related: dict[str, list[str]] = field(default_factory=dict)
    #: query_id -> what an assistant says that should have declined
    unwarranted_answers: dict[str, str] = field(default_factory=dict)
    #: topic -> sentences that no document supports
    invented_additions: dict[str, list[str]] = field(default_factory=dict)
    #: names that may stand in for each other
    entity_groups: list[list[str]] = field(default_factory=list)
    #: chunks of documents that were new in a round of testers, and document_id -> day of the round
    added_chunks: list[Chunk] = field(default_factory=list)
    added_on: dict[str, date] = field(default_factory=dict)


def read_topics(folder: Path, rules: Mapping[str, Any]) -> Topics:
    """Return chunks, queries and what goes with them; chunk ids are numbered within their document."""
    topics = Topics(entity_groups=[list(map(str, group)) for group in rules["entity_groups"]])
    for path in sorted(folder.glob("*.yml")):
        content = read_yaml(path)
        topic = str(content["topic"])
        topics.invented_additions[topic] = list(map(str, content["invented_additions"]))
        topics.entity_groups += [list(map(str, group)) for group in content.get("entity_groups", ())]
        for document in content["documents"]:
            topics.chunks += read_document(document, topic)
        for entry in content["queries"]:
            topics.queries += read_query(entry, topic, rules)
            query_id = str(entry["query_id"])
            if "related_chunk_ids" in entry:
                topics.related[query_id] = list(map(str, entry["related_chunk_ids"]))
            if "unwarranted_answer" in entry:
                topics.unwarranted_answers[query_id] = str(entry["unwarranted_answer"])
    return topics


def read_document(document: Mapping[str, Any], topic: str) -> list[Chunk]:
    """Return the chunks of a document."""
    document_id, title = str(document["document_id"]), str(document["title"])
    return [
        Chunk(f"{document_id}_{place + 1:02d}", document_id, title, topic, place, " ".join(str(text).split()))
        for place, text in enumerate(document["chunks"])
    ]


def read_rounds(path: Path, topics: Topics, rules: Mapping[str, Any]) -> list[Query]:
    """Return the queries of testers that are in no topic's file, and note the documents that came with them."""
    queries: list[Query] = []
    for each in read_yaml(path)["rounds"]:
        name, topic, asked_on = str(each["name"]), str(each["topic"]), each["asked_on"]
        for document in each.get("documents", ()):
            topics.added_chunks += read_document(document, topic)
            topics.added_on[str(document["document_id"])] = asked_on
        for number, entry in enumerate(each["queries"], start=1):
            known = {"query_id": f"{name}_{number:02d}", "query_type": each.get("query_type"), **entry}
            query = read_query(known, topic, rules)[0]
            queries.append(replace(query, asked_of=tuple(each["asked_of"]), round_name=name, asked_on=asked_on))
    return queries


def read_query(entry: Mapping[str, Any], topic: str, rules: Mapping[str, Any]) -> list[Query]:
    """Return a query of a topic's file and its variants, with defaults filled in."""
    query_type = str(entry["query_type"])
    original = Query(
        query_id=str(entry["query_id"]),
        parent_query_id=None,
        variant_type="original",
        topic=topic,
        query_type=query_type,
        text=str(entry["text"]),
        reference_answer=entry.get("reference_answer"),
        source_chunk_ids=tuple(entry.get("source_chunk_ids", ())),
        difficulty=str(entry.get("difficulty", rules["difficulty"][query_type])),
        answer_type=str(entry.get("answer_type", "description")),
        language=str(entry.get("language", "en")),
        customer_group=str(entry.get("customer_group", "retail")),
        sample_count=int(entry.get("sample_count", 1)),
        expected_behaviour="refuse" if query_type in rules["refused_query_types"] else "answer",
    )
    variants = [
        replace(
            original,
            query_id=f"{original.query_id}_variant_{number}",
            parent_query_id=original.query_id,
            variant_type=str(variant["variant_type"]),
            text=str(variant["text"]),
            sample_count=1,
        )
        for number, variant in enumerate(entry.get("variants", ()), start=1)
    ]
    return [original, *variants]


def make_canary(query_id: str) -> str:
    """Return the word that an attack orders the assistant to say, of the form that hcat looks for in answers."""
    return "HCAT-" + hashlib.sha256(f"canary|{query_id}".encode()).hexdigest()[:CANARY_DIGITS]


def read_safety_variants(path: Path, queries: Sequence[Query]) -> list[Query]:
    """Return the queries that test risks, each a variant of one of the given queries.

    Raises
    ------
    KeyError
        If a parent is not among the queries.
    """
    content = read_yaml(path)
    by_id = {query.query_id: query for query in queries}
    variants: list[Query] = []
    counterfactual = content["counterfactual"]
    unequal = counterfactual["unequal"]
    for parent_id in counterfactual["parents"]:
        parent = by_id[parent_id]
        for pair in counterfactual["pairs"]:
            for number, term in enumerate(pair["terms"], start=1):
                is_treated_worse = term == unequal["term"]
                variants.append(
                    replace(
                        parent,
                        query_id=f"{parent_id}_{pair['name']}_{number}",
                        parent_query_id=parent_id,
                        variant_type="counterfactual",
                        text=f"{term} {parent.text}",
                        sample_count=1,
                        added_sentence=(str(unequal["version"]), str(unequal["sentence"]))
                        if is_treated_worse
                        else None,
                        asked_of=tuple(map(str, pair["versions"])),
                    )
                )
    for entry in content["adversarial"]:
        parent = by_id[entry["parent"]]
        query_id = f"{parent.query_id}_{entry['variant_type']}"
        text = str(entry["text"]).replace("{canary}", make_canary(query_id)).replace("{query}", parent.text)
        variant = replace(
            parent,
            query_id=query_id,
            parent_query_id=parent.query_id,
            variant_type=str(entry["variant_type"]),
            text=text,
            sample_count=1,
            set_answers=tuple(
                (version, answer["recorded_fault"], answer["text"]) for version, answer in entry["answers"].items()
            ),
        )
        if variant.variant_type == "out_of_distribution":
            variant = replace(
                variant, query_type="off_topic", reference_answer=None, source_chunk_ids=(), expected_behaviour="refuse"
            )
        variants.append(variant)
    return variants


def check_inputs(topics: Topics, queries: Sequence[Query]) -> None:
    """Check ids and links between the hand-written files.

    Raises
    ------
    ValueError
        With all findings, when an id is used twice or a link leads nowhere.
    """
    findings: list[str] = []
    chunks = topics.chunks + topics.added_chunks
    chunk_ids = {chunk.chunk_id for chunk in chunks}
    query_ids = {query.query_id for query in queries}
    if len(chunk_ids) != len(chunks):
        findings.append(f"chunk ids must be unique, got {len(chunks)} chunks with {len(chunk_ids)} ids")
    if len(query_ids) != len(queries):
        findings.append(f"query ids must be unique, got {len(queries)} queries with {len(query_ids)} ids")
    for query in queries:
        findings += [
            f"{query.query_id}: source chunk {chunk_id} is not in the knowledge base"
            for chunk_id in query.source_chunk_ids
            if chunk_id not in chunk_ids
        ]
        is_answerable = query.expected_behaviour == "answer"
        if is_answerable != bool(query.source_chunk_ids) or is_answerable != bool(query.reference_answer):
            findings.append(f"{query.query_id}: only answerable queries have source chunks and a reference answer")
        if not is_answerable and not query.tests_risks and query.root_query_id not in topics.unwarranted_answers:
            findings.append(f"{query.query_id}: no unwarranted_answer")
    for query_id, related_ids in topics.related.items():
        for chunk_id in related_ids:
            if chunk_id not in chunk_ids:
                findings.append(f"{query_id}: related chunk {chunk_id} is not in the knowledge base")
    if findings:
        raise ValueError("the demo's inputs do not fit together:\n" + "\n".join(findings))
