"""Write the demo logs of an invented bank's assistant: real retrieval, answers by rule, recorded faults.

The script reads the hand-written files beside it (topics/, rounds.yml, safety_variants.yml, answer_rules.yml). It
retrieves chunks with the packaged all-MiniLM-L6-v2, makes an answer for every planned call by fixed rules, spoils a
known share of the answers and writes JSON Lines files. Every random draw comes from a hash of the seed, a purpose and
the call, so the order of work changes nothing and two runs on one machine write the same bytes.

Usage: ``python demo/make_demo.py`` (writes demo/logs/), with ``--rating-sheet PATH`` also a blind rating sheet.
"""

import argparse
import hashlib
import json
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from making.assistant import Assistant, Encoder, embed_corpus, retrieve
from making.calls import (
    Call,
    choose_leaks,
    choose_production,
    draw_fault_order,
    plan_faults,
    plan_production,
    plan_set_pieces,
    plan_tests,
)
from making.records import SAFETY_VARIANT_TYPES, Chunk, Query, Row, draw, read_yaml, seeded_random
from making.sampling import further_sheet_rows, rating_sheet_rows, sheet_of
from making.topics import check_inputs, read_rounds, read_safety_variants, read_topics

DEMO_FOLDER = Path(__file__).resolve().parent
LOGS_FOLDER = DEMO_FOLDER / "logs"
#: Queries of at most so many words are short ones (seed robustness_hypotheses).
SHORT_QUERY_WORDS = 8
#: What the generator knows about faithfulness, because it planted it; other faults spoil another criterion.
UNFAITHFUL = frozenset(
    {
        "swapped_number",
        "swapped_entity",
        "negation",
        "unsupported_sentence",
        "answered_instead_of_refusing",
        "repeated_false_statement",
        "repeated_error",
    }
)
#: Answers whose statements all come from the contexts, and that still are not what was asked for.
FAITHFUL = frozenset({"none", "beside_the_point", "weak_retrieval_refusal"})


def read_beside_the_point(path: Path) -> frozenset[tuple[str, str]]:
    """Return query_id and first sentence of the answers that a reader found not to answer what was asked."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return frozenset((row["query_id"], row["says"]) for row in rows)


def make_answer(
    assistant: Assistant,
    call: Call,
    weights: Mapping[str, float] | None,
    leak: str | None,
    beside_the_point: frozenset[tuple[str, str]],
    random_seed: int,
) -> tuple[str, str, list[Row]]:
    """Return the answer, its recorded fault and the rows of its retrievals without their interaction."""
    query = call.query
    settings = assistant.rules["versions"][call.version]
    embedding = assistant.text_embeddings[query.text]
    retrieved = retrieve(assistant.corpus, call.version, embedding, int(settings["top_k"]), query.asked_on)
    draft = assistant.answer(query, retrieved, seeded_random(random_seed, "answer", call.drawn_as))
    fault = "none"
    generator = seeded_random(random_seed, "fault", call.key)
    # A refused answerable query has no claims to spoil; it stays as weak retrieval made it.
    if weights is not None and draft.is_refusal == (query.expected_behaviour == "refuse"):
        for candidate in draw_fault_order(weights, generator):
            spoilt = assistant.spoil(candidate, draft, query, retrieved, generator)
            if spoilt is not None and spoilt.text() != draft.text():
                draft, fault = spoilt, candidate
                break
    if fault == "none" and draft.is_refusal and query.expected_behaviour == "answer":
        fault = "weak_retrieval_refusal"
    elif fault == "none" and (query.query_id, draft.sentences[0]) in beside_the_point:
        fault = "beside_the_point"
    answer = draft.text()
    if query.added_sentence is not None and query.added_sentence[0] == call.version:
        answer, fault = f"{answer} {query.added_sentence[1]}", "unequal_treatment"
    for version, set_fault, set_answer in query.set_answers:
        if version == call.version:
            answer, fault = set_answer, set_fault
    if call.set_answer is not None:
        fault, answer = call.set_answer
    if leak is not None:
        answer, fault = f"{answer} {leak}", "leaked_personal_data"
    rows: list[Row] = [
        {"rank": each.rank, "chunk_id": each.chunk.chunk_id, "text": each.chunk.text, "retrieval_score": each.score}
        for each in retrieved
    ]
    return answer, fault, rows


def interaction_id_of(call: Call) -> str:
    """Return a hash as id, so that a blind rater learns neither version nor query type from it."""
    return "hl_" + hashlib.sha256(call.key.encode()).hexdigest()[:12]


def population_of(call: Call) -> str:
    """Return whether a customer asked, or a tester one of the test set or a further wording of one."""
    if call.is_production:
        return "production"
    return "test_set" if call.query.variant_type == "original" else "variant"


def make_up_costs(generator: random.Random, answer: str, count_chunks: int) -> Row:
    """Return seconds, tokens and price that a language model might have taken: nobody measured them."""
    tokens = 120 + 90 * count_chunks, len(answer) // 4
    return {
        "latency_seconds": round(0.4 + 0.015 * tokens[1] + generator.expovariate(2), 2),
        "count_input_tokens": tokens[0],
        "count_output_tokens": tokens[1],
        "cost": round((0.15 * tokens[0] + 0.6 * tokens[1]) / 1e6, 7),
    }


def make_interactions(
    assistant: Assistant, calls: Sequence[Call], rules: Mapping[str, Any]
) -> tuple[list[Row], list[Row]]:
    """Return the rows of interactions and retrievals, ordered by time and rank."""
    random_seed = int(rules["random_seed"])
    empty_answers = {(entry[0], entry[1]): entry[2] for entry in rules["empty_answers"]}
    drawn = [call for call in calls if call.set_answer is None]
    planned, leaks = plan_faults(drawn, rules), choose_leaks(drawn, rules)
    beside_the_point = read_beside_the_point(DEMO_FOLDER / "beside_the_point.jsonl")
    interactions: list[Row] = []
    retrievals_by_interaction: dict[str, list[Row]] = {}
    for call in calls:
        query = call.query
        answer: str | None
        answer, fault, rows = make_answer(
            assistant, call, planned.get(call.key), leaks.get(call.key), beside_the_point, random_seed
        )
        if (query.query_id, call.version) in empty_answers:
            answer, fault = empty_answers[query.query_id, call.version], "empty_answer"
        interaction_id = interaction_id_of(call)
        channel = draw(seeded_random(random_seed, "channel", call.key), rules["channel_shares"])
        asked: Row = {"query_text": query.text} if call.is_production else {"query_id": query.query_id}
        if call.conversation_id is not None:
            asked |= {"conversation_id": call.conversation_id, "turn_index": call.turn_index}
        interactions.append(
            {
                "interaction_id": interaction_id,
                "run_id": "production" if call.is_production else f"demo_{call.version}",
                "sample_index": call.sample_index,
                "asked_at": call.asked_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "application": rules["application"],
                "application_version": call.version,
                **asked,
                **({"population": population_of(call)} if rules["declares_population"] else {}),
                "language": query.language,
                "customer_group": query.customer_group,
                "answer": answer,
                "tags": {"topic": query.topic, "channel": channel},
                "recorded_fault": fault,
                **make_up_costs(seeded_random(random_seed, "costs", interaction_id), answer or "", len(rows)),
            }
        )
        retrievals_by_interaction[interaction_id] = [{"interaction_id": interaction_id, **row} for row in rows]
    interactions.sort(key=lambda row: (row["asked_at"], row["interaction_id"]))
    retrievals = [
        row for interaction in interactions for row in retrievals_by_interaction[interaction["interaction_id"]]
    ]
    return interactions, retrievals


def query_rows(queries: Sequence[Query], colloquial: Collection[str]) -> list[Row]:
    """Return the rows of queries.jsonl; a query that is asked in both registers says so in either wording."""
    plain = {query.parent_query_id for query in queries if query.query_id in colloquial}

    def register(query: Query) -> dict[str, str]:
        if query.query_id in colloquial:
            return {"register": "colloquial"}
        return {"register": "plain"} if query.query_id in plain else {}

    return [
        {
            "query_id": query.query_id,
            "text": query.text,
            "reference_answer": query.reference_answer,
            "source_chunk_ids": list(query.source_chunk_ids),
            "query_type": query.query_type,
            "difficulty": query.difficulty,
            "answer_type": query.answer_type,
            "expected_behaviour": query.expected_behaviour,
            "parent_query_id": query.parent_query_id,
            "variant_type": query.variant_type,
            "source_group": query.root_query_id,
            "tags": {
                "length": "short" if len(query.text.split()) <= SHORT_QUERY_WORDS else "long",
                "form": "question" if query.text.rstrip().endswith("?") else "order",
            }
            | register(query),
        }
        for query in queries
    ]


def document_rows(chunks: Sequence[Chunk]) -> list[Row]:
    """Return the rows of documents.jsonl, a document's text being its chunks in order."""
    rows: dict[str, Row] = {}
    for chunk in chunks:
        row = rows.setdefault(
            chunk.document_id,
            {"document_id": chunk.document_id, "title": chunk.title, "topic": chunk.topic, "text": ""},
        )
        row["text"] = f"{row['text']}\n\n{chunk.text}".strip()
    return list(rows.values())


def chunk_rows(chunks: Sequence[Chunk]) -> list[Row]:
    """Return the rows of chunks.jsonl."""
    return [
        {
            "chunk_id": chunk.chunk_id,
            "document_id": chunk.document_id,
            "chunk_index": chunk.chunk_index,
            "text": chunk.text,
            "topic": chunk.topic,
        }
        for chunk in chunks
    ]


def judgement_rows(queries: Iterable[Query], related: Mapping[str, Sequence[str]]) -> list[Row]:
    """Return the rows of relevance_judgements.jsonl: grade 2 for source chunks, 1 for related ones."""
    rows: list[Row] = []
    for query in queries:
        graded = [(chunk_id, 2) for chunk_id in query.source_chunk_ids]
        graded += [
            (chunk_id, 1) for chunk_id in related.get(query.root_query_id, ()) if chunk_id not in query.source_chunk_ids
        ]
        rows += [
            {"query_id": query.query_id, "chunk_id": chunk_id, "grade": grade, "judge": "author"}
            for chunk_id, grade in graded
        ]
    return rows


def rule_rows(interactions: Iterable[Row]) -> list[Row]:
    """Return ratings of faithfulness by the generator, which knows what it planted: rater kind `rule`, no label."""
    return [
        {
            "interaction_id": row["interaction_id"],
            "rater": "demo_generator",
            "rater_kind": "rule",
            "criterion": "faithfulness",
            "scale_point": 0 if row["recorded_fault"] in UNFAITHFUL else 2,
        }
        for row in interactions
        if row["recorded_fault"] in UNFAITHFUL | FAITHFUL
    ]


def write_json_lines(path: Path, rows: Sequence[Row]) -> None:
    """Write one object a line, UTF-8, with sorted keys and a newline at the end of every line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def count_table(interactions: Sequence[Row], calls: Sequence[Call], versions: Sequence[str]) -> str:
    """Return Markdown tables of the share of answers with a recorded fault, by topic, query type, cell and fault."""
    call_of = {interaction_id_of(call): call for call in calls}

    def shares(group: dict[str, dict[str, list[bool]]], head: str) -> list[str]:
        lines = [f"| {head} | " + " | ".join(versions) + " |", "|---" * (len(versions) + 1) + "|"]
        for name in sorted(group):
            cells = []
            for version in versions:
                flags = group[name].get(version, [])
                cells.append(f"{sum(flags)} of {len(flags)} ({sum(flags) / len(flags):.2f})" if flags else "none")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return [*lines, ""]

    groups: dict[str, dict[str, dict[str, list[bool]]]] = {
        head: {} for head in ("topic", "query type", "cell", "week of customers", "variant that tests a risk")
    }
    by_fault: dict[str, dict[str, int]] = {}
    for row in interactions:
        call = call_of[row["interaction_id"]]
        query, version, fault = call.query, call.version, row["recorded_fault"]
        if query.variant_type in SAFETY_VARIANT_TYPES:
            own = [("variant that tests a risk", query.variant_type)]
        elif call.is_production:
            own = [("week of customers", f"week {call.week:02d}")]
        else:
            own = [("topic", query.topic), ("query type", query.query_type)]
            own.append(("cell", f"{query.topic} x {query.query_type}"))
        for head, name in own:
            groups[head].setdefault(name, {}).setdefault(version, []).append(fault != "none")
        by_fault.setdefault(fault, dict.fromkeys(versions, 0))[version] += 1
    groups["cell"] = {
        name: cell for name, cell in groups["cell"].items() if min(len(flags) for flags in cell.values()) >= 10
    }
    lines = [line for head, group in groups.items() for line in shares(group, head)]
    lines += ["| recorded fault | " + " | ".join(versions) + " |", "|---" * (len(versions) + 1) + "|"]
    lines += [
        f"| {name} | " + " | ".join(str(by_fault[name][version]) for version in versions) + " |"
        for name in sorted(by_fault)
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the demo files and print their sizes and the table of recorded faults."""
    parser = argparse.ArgumentParser(description="Write the demo logs of the invented Harbourlight Bank.")
    parser.add_argument("--output", type=Path, default=LOGS_FOLDER, help="folder for the JSONL files")
    parser.add_argument("--seed", type=int, default=None, help="another seed than that of answer_rules.yml")
    parser.add_argument("--rating-sheet", type=Path, default=None, help="also write a blind rating sheet to this path")
    parser.add_argument(
        "--further-sheet", type=Path, default=None, help="also write the blind sheet of the second draw"
    )
    options = parser.parse_args(arguments)

    rules = read_yaml(DEMO_FOLDER / "answer_rules.yml")
    if options.seed is not None:
        rules["random_seed"] = options.seed
    topics = read_topics(DEMO_FOLDER / "topics", rules)
    queries = topics.queries + read_safety_variants(DEMO_FOLDER / "safety_variants.yml", topics.queries)
    queries += read_rounds(DEMO_FOLDER / "rounds.yml", topics, rules)
    check_inputs(topics, queries)

    production = choose_production(queries, rules)
    tested = [query for query in queries if query.query_id not in production]
    asked = [query for query in queries if query.query_id in production]
    calls = plan_tests(tested, rules) + plan_production(asked, rules) + plan_set_pieces(queries, rules)
    encoder = Encoder()
    corpus = embed_corpus(encoder, topics, rules)
    assistant = Assistant(topics, corpus, encoder, queries, rules)
    interactions, retrievals = make_interactions(assistant, calls, rules)
    tables = {
        "interactions": interactions,
        "retrievals": retrievals,
        "queries": query_rows(tested, rules["colloquial"]),
        "documents": document_rows(corpus.chunks),
        "chunks": chunk_rows(corpus.chunks),
        "relevance_judgements": judgement_rows(tested, topics.related),
        "ratings_by_rule": rule_rows(interactions),
    }
    for name, rows in tables.items():
        path = options.output / f"{name}.jsonl"
        write_json_lines(path, rows)
        print(f"{name}: {len(rows)} rows, {path.stat().st_size:,} bytes")
    text_of = {query.query_id: query.text for query in queries}
    texts = {row["interaction_id"]: row.get("query_text") or text_of[row["query_id"]] for row in interactions}
    unrated = {
        interaction_id_of(call)
        for call in calls
        if call.set_answer is not None or call.query.tests_risks or call.query.round_name
    }
    rateable = [row for row in interactions if row["interaction_id"] not in unrated]
    first = rating_sheet_rows(rateable, int(rules["random_seed"]))
    for path, sheet in (
        (options.rating_sheet, first),
        (options.further_sheet, further_sheet_rows(rateable, first, retrievals, tested, rules)),
    ):
        if path is not None:
            write_json_lines(path, sheet_of(sheet, retrievals, texts))
            print(f"{path.name}: {len(sheet)} rows")
    print()
    print(count_table(interactions, calls, list(rules["versions"])))


if __name__ == "__main__":
    main()
