"""A made-up application over the documents of the relational demo, with faults that are planted and recorded.

It retrieves by BM25 and answers with the sentence that fits the question best. Then faults are planted in answers that
were right, in some groups of queries with one meaning, of one module per group:

- ``retrieval``: the search returns its second page; no document of the first one is in the context. Long queries get
  most of them.
- ``language_model``: the context stays, and the answer is another sentence, another value, or a refusal. Colloquial
  queries get most of them.

The form of a query (a question or an order) has no influence: a test that finds one there is wrong. Facts that no
document states are asked all the same; such groups are gaps in the knowledge. All draws are hashes: a second run writes
the same bytes.

Usage: ``python examples/relational_application/simulate.py --queries QUERIES.jsonl --output FOLDER``
"""

import argparse
import hashlib
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = REPOSITORY / "demo" / "relational"
sys.path.insert(0, str(REPOSITORY / "examples" / "rag_service"))
from service import REFUSAL, Chunk, read_chunks, split_words  # noqa: E402

SEED = "relational application 1"
APPLICATION = "relational-demo-assistant"
VERSION = "1.0"
FIRST_ASKED = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
SECONDS_BETWEEN = 20
#: Chunks of a context.
TOP = 3
#: Share of the question's weight that a sentence must hold; below, the application declines.
CUT_OFF = 0.8
#: Words that say nothing about what is asked.
_EMPTY_WORDS = """
    a about also am and any are as at be been but can could do for had has have hey how i if in is it its know like
    me more my no of on one or please s should so tell than that the there they this to up was we were what when which
    who with would you your
"""
EMPTY_WORDS = frozenset(_EMPTY_WORDS.split())

#: Share of the groups in which a module has faults; the rest has none.
SHARES = {"retrieval": 0.3, "language_model": 0.3}
#: Style that is hit with the first share, and all others with the second.
HIT_STYLES = {"retrieval": "long", "language_model": "colloquial"}
SHARE_OF_STYLE, SHARE_OF_OTHERS = 0.6, 0.05
ANSWER_FAULTS = ("other_sentence", "other_value", "refusal")

Record = dict[str, Any]
_SENTENCE_BORDER = re.compile(r"(?<=[.!?])\s+")


def draw(*key: str) -> float:
    """Return a number in [0, 1) that depends on the key alone."""
    return int(hashlib.sha256("\x1f".join([SEED, *key]).encode()).hexdigest()[:13], 16) / 16**13


class Search:
    """Okapi BM25 (k1 = 1.2, b = 0.75) over texts, by an inverted index."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(split_words(text)) for text in texts]
        lengths = [sum(each.values()) for each in counts]
        mean = sum(lengths) / len(lengths)
        self._norms = [1.2 * (0.25 + 0.75 * length / mean) for length in lengths]
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, each in enumerate(counts):
            for word, count in each.items():
                self._places[word].append((place, count))
        self._count = len(texts)

    def weigh(self, word: str) -> float:
        """Return the rarity of a word; 0 where no text has it."""
        having = len(self._places.get(word, ()))
        return math.log(1 + (self._count - having + 0.5) / (having + 0.5)) if having else 0.0

    def rank(self, question: str) -> list[tuple[int, float]]:
        """Return (place, score) of every text that shares a word, best first; ties keep their order."""
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(set(split_words(question))):
            weight = self.weigh(word)
            for place, count in self._places.get(word, ()):
                scores[place] += weight * count * 2.2 / (count + self._norms[place])
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


@dataclass(frozen=True)
class Reply:
    """An answer and the chunks that it was made from, with their scores."""

    answer: str
    contexts: tuple[tuple[Chunk, float], ...]


class Application:
    """Retrieves and answers by rule."""

    def __init__(self, chunks: Sequence[Chunk], document_of: Mapping[str, str]) -> None:
        self._chunks, self._document_of = chunks, document_of
        self._search = Search([chunk.text for chunk in chunks])
        self._sentences = Search([part for chunk in chunks for part in _SENTENCE_BORDER.split(chunk.text)])

    def ask(self, question: str, *, is_second_page: bool = False) -> Reply:
        """Return the reply; the second page holds no document of the first."""
        ranked = self._search.rank(question)
        if is_second_page:
            seen = {self._document_of[self._chunks[place].chunk_id] for place, _ in ranked[:TOP]}
            ranked = [pair for pair in ranked if self._document_of[self._chunks[pair[0]].chunk_id] not in seen]
        contexts = tuple((self._chunks[place], round(score, 6)) for place, score in ranked[:TOP])
        return Reply(self._answer(question, [chunk for chunk, _ in contexts]), contexts)

    def _answer(self, question: str, chunks: Sequence[Chunk]) -> str:
        asked = set(split_words(question)) - EMPTY_WORDS
        whole = sum(self._sentences.weigh(word) for word in sorted(asked)) or 1.0
        best, most = REFUSAL, CUT_OFF
        for chunk in chunks:
            for sentence in _SENTENCE_BORDER.split(chunk.text):
                shared = sorted(asked & set(split_words(sentence)))
                share = sum(map(self._sentences.weigh, shared)) / whole
                if share > most:
                    best, most = sentence, share
        return best


def is_right(answer: str, reference: str) -> bool:
    """Return whether the reference stands in the answer as whole words."""
    return re.search(rf"(?<![\w.]){re.escape(reference.casefold())}(?![\w]|\.\d)", answer.casefold()) is not None


def plant_answer(query: Mapping[str, Any], right: Reply, references: Sequence[str]) -> tuple[str, str]:
    """Return a wrong answer from the same context, and its kind."""
    reference, key = query["reference_answer"], query["query_id"]
    kind = ANSWER_FAULTS[int(draw("kind", key) * len(ANSWER_FAULTS))]
    if kind == "other_value":
        shape = re.sub(r"\d+", "0", reference)
        alike = [other for other in references if other != reference and re.sub(r"\d+", "0", other) == shape]
        for other in sorted(alike, key=lambda value: draw("value", key, value)):
            changed = re.sub(re.escape(reference), lambda _, value=other: value, right.answer, flags=re.IGNORECASE)
            if not is_right(changed, reference):
                return changed, kind
        kind = "other_sentence"
    if kind == "other_sentence":
        sentences = [part for chunk, _ in right.contexts for part in _SENTENCE_BORDER.split(chunk.text)]
        wrong = [sentence for sentence in sentences if not is_right(sentence, reference)]
        if wrong:
            return min(wrong, key=lambda sentence: draw("sentence", key, sentence)), kind
    return REFUSAL, "refusal"


def choose_module(query_group: str) -> str:
    """Return the module that has faults in a group, or none."""
    drawn = draw("module", query_group)
    for module, share in SHARES.items():
        drawn -= share
        if drawn < 0:
            return module
    return "none"


def simulate(
    queries: Sequence[Mapping[str, Any]], application: Application, *, has_faults: bool = True
) -> tuple[list[Record], list[Record], list[Record]]:
    """Return interactions, retrievals and the record of planted faults, one of the first and last per query."""
    references = sorted({query["reference_answer"] for query in queries})
    interactions, retrievals, faults = [], [], []
    for number, query in enumerate(queries):
        reply, planted, kind = application.ask(query["text"]), "none", None
        module = choose_module(query["query_group"]) if has_faults else "none"
        is_hit_style = HIT_STYLES.get(module) in query["tags"].values()
        share = SHARE_OF_STYLE if is_hit_style else SHARE_OF_OTHERS
        was_right = is_right(reply.answer, query["reference_answer"])
        if module != "none" and was_right and draw("fault", query["query_id"]) < share:
            if module == "retrieval":
                faulty, kind = application.ask(query["text"], is_second_page=True), "second_page"
            else:
                answer, kind = plant_answer(query, reply, references)
                faulty = Reply(answer, reply.contexts)
            # a fault that leaves the answer right is none
            if not is_right(faulty.answer, query["reference_answer"]):
                reply, planted = faulty, module
        interaction_id = f"relational_{query['query_id']}"
        asked_at = FIRST_ASKED + timedelta(seconds=SECONDS_BETWEEN * number)
        interactions.append(
            {
                "interaction_id": interaction_id,
                "run_id": f"relational_{VERSION}",
                "query_id": query["query_id"],
                "application": APPLICATION,
                "application_version": VERSION,
                "language": "en",
                "query_text": query["text"],
                "answer": reply.answer,
                "sample_index": 0,
                "asked_at": asked_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
        )
        retrievals += [
            {
                "interaction_id": interaction_id,
                "chunk_id": chunk.chunk_id,
                "rank": rank,
                "retrieval_score": score,
                "text": chunk.text,
            }
            for rank, (chunk, score) in enumerate(reply.contexts, start=1)
        ]
        faults.append(
            {
                "query_id": query["query_id"],
                "query_group": query["query_group"],
                "module_of_group": module,
                "planted_fault": planted,
                "fault_kind": kind if planted != "none" else None,
                "was_right_without_fault": was_right,
                "is_right": is_right(reply.answer, query["reference_answer"]),
            }
        )
    return interactions, retrievals, faults


def read_lines(path: Path) -> list[Record]:
    """Return the records of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write records as JSON Lines."""
    path.write_bytes(b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records))


def write_logs(queries: Path, output: Path, documents: Path, count_groups: int | None, *, has_faults: bool) -> Record:
    """Write a folder of raw logs and ``planted_faults.jsonl``; return what is in it.

    Parameters
    ----------
    queries : Path
        As ``hcat grammar`` writes them.
    output : Path
        Folder of raw logs.
    documents : Path
        Folder with documents.jsonl and chunks.jsonl.
    count_groups : int, optional
        Groups that are asked, drawn by hash; None asks all.
    has_faults : bool
        Whether faults are planted.
    """
    asked = read_lines(queries)
    groups = sorted({query["query_group"] for query in asked}, key=lambda group: draw("group", group))
    kept = set(groups[:count_groups])
    asked = [query for query in asked if query["query_group"] in kept]
    chunks = read_lines(documents / "chunks.jsonl")
    document_of = {chunk["chunk_id"]: chunk["document_id"] for chunk in chunks}
    application = Application(read_chunks(documents / "chunks.jsonl"), document_of)
    interactions, retrievals, faults = simulate(asked, application, has_faults=has_faults)
    output.mkdir(parents=True, exist_ok=True)
    write_lines(output / "queries.jsonl", asked)
    write_lines(output / "interactions.jsonl", interactions)
    write_lines(output / "retrievals.jsonl", retrievals)
    write_lines(output / "planted_faults.jsonl", faults)
    for name in ("documents.jsonl", "chunks.jsonl"):
        (output / name).write_bytes((documents / name).read_bytes())
    return {
        "queries": len(asked),
        "groups": len(kept),
        "right without faults": sum(fault["was_right_without_fault"] for fault in faults),
        "right": sum(fault["is_right"] for fault in faults),
        "planted": dict(sorted(Counter(fault["planted_fault"] for fault in faults).items())),
    }


def main() -> None:
    """Ask every query and write the logs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=Path, required=True, help="as `hcat grammar` writes them")
    parser.add_argument("--output", type=Path, required=True, help="folder of raw logs")
    parser.add_argument(
        "--documents", type=Path, default=DOCUMENTS, help="folder with documents.jsonl and chunks.jsonl"
    )
    parser.add_argument("--groups", type=int, default=None, help="groups that are asked, drawn by hash; default: all")
    parser.add_argument("--no-faults", action="store_true", help="plant nothing")
    options = parser.parse_args()
    written = write_logs(
        options.queries, options.output, options.documents, options.groups, has_faults=not options.no_faults
    )
    for name, value in written.items():
        print(f"{name:22}{value}")


if __name__ == "__main__":
    main()
