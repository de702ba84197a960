"""Answer sentences with their evidence: labelled by people, or made unfaithful by a seeded rule.

The evidence is chosen by the product's own code, so that the model learns on what it will read.
"""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from hcat.encoders.embedding import encode_texts, load_encoder
from hcat.encoders.identities import resolve_encoder
from hcat.engine.sizes import embedding_tokens
from hcat.language.features import extract_features
from hcat.metrics.batches import split_passages
from hcat.metrics.evidence import EvidenceChoice, EvidenceSettings
from hcat.metrics.placement import Places, find_displaced, place_mentions
from hcat.metrics.records import Records, find_contradictions, read_fields
from hcat.metrics.support import Evidence, measure_support
from training.faults import perturb
from training.fusion import COUNT_BOUND, bounded_log_odds
from training.pairs import TARGETS, Pair
from training.ragtruth import read_rows, read_spans

EVIDENCE = EvidenceSettings(count_sentences=4, count_characters=700)

ENTAILMENT, CONTRADICTION, NOT_ENTAILMENT = (
    TARGETS.index(name) for name in ("entailment", "contradiction", "not_entailment")
)

#: Made faults: kind -> what the new sentence is to its evidence. An outside name or number is not contradicted.
MADE = {
    "number_outside": NOT_ENTAILMENT,
    "number_inside": NOT_ENTAILMENT,
    "entity_outside": NOT_ENTAILMENT,
    "entity_inside": NOT_ENTAILMENT,
    "negation": CONTRADICTION,
    "antonym": NOT_ENTAILMENT,
}


#: Faults for which a swap inside the context is tried before the other kinds.
SHARE_INSIDE = 0.6


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer with its context, and where people marked it."""

    #: Names in the data; ``source_id`` is what must not be split.
    answer_id: str
    source_id: str
    task: str
    model: str
    split: str
    #: Texts.
    query: str
    answer: str
    #: Chunks in order.
    contexts: tuple[str, ...]
    #: Character spans that people marked as hallucinated; empty for a faithful answer.
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of an answer with its evidence and its label."""

    #: Where it stands.
    answer: Answer
    #: Position in the answer and character span.
    sentence_index: int
    start: int
    end: int
    #: The sentence and its evidence.
    text: str
    premise: str
    #: All context sentences.
    context: tuple[str, ...]
    #: Cosine with the best context sentence, and share of the sentence's words that the premise holds.
    similarity: float
    overlap: float
    #: Character spans of ``text`` that people marked; empty for a supported sentence.
    wrong: tuple[tuple[int, int], ...]

    @property
    def is_supported(self) -> bool:
        """Return whether no marked span covers a letter or digit of the sentence."""
        return not self.wrong


def read_ragtruth(data: Path) -> list[Answer]:
    """Return the answers of every parquet file of a folder shaped like RAGTruth."""
    return [
        Answer(
            answer_id=row["interaction_id"],
            source_id=f"{row['task']}-{row['source_id']}",
            task=str(row["task"]),
            model=str(row["model"]),
            split=str(row.get("split") or ""),
            query=row["query"] or "",
            answer=row["answer"],
            contexts=tuple(row["contexts"]),
            spans=tuple((int(span["start"]), int(span["end"])) for span in read_spans(row)),
        )
        for row in read_rows(data)
    ]


def read_expertqa(data: Path) -> list[tuple[str, tuple[str, ...], str, str]]:
    """Return (claim, evidence texts, support, source) of expert-judged claims that come with evidence."""
    rows = parquet.read_table(data / "expertqa" / "claims.parquet").to_pylist()
    return [
        (row["claim"].strip(), tuple(row["evidence"]), row["support"], f"expertqa-{row['question']}")
        for row in rows
        if row["evidence"] and row["support"] in ("Complete", "Partial", "Incomplete") and row["claim"].strip()
    ]


def fold_of(source: str, count_folds: int) -> int:
    """Return the fold of a source by a salted hash: whole sources, the same in every run."""
    digest = hashlib.md5(f"hcat training fold|{source}".encode(), usedforsecurity=False).hexdigest()
    return int(digest, 16) % count_folds


class Chosen(NamedTuple):
    """The evidence of one claim: premise, all context sentences, cosine with the best one, overlap."""

    premise: str
    context: tuple[str, ...]
    similarity: float
    overlap: float


class EvidenceReader:
    """Splits, embeds and chooses as a build does; a distinct text is embedded once."""

    def __init__(self, settings: EvidenceSettings = EVIDENCE) -> None:
        identity = resolve_encoder("packaged", "auto", "auto")
        self._encoder = load_encoder(identity)
        self._batch_tokens = embedding_tokens(identity.device)
        self._settings = settings
        self._vectors: dict[str, np.ndarray[Any, Any]] = {}
        self._texts: dict[str, str] = {}

    def split(self, passages: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the sentences of each distinct passage, embedded."""
        distinct = sorted(set(passages))
        batch = pa.RecordBatch.from_pydict({"passage_id": distinct, "passage_text": distinct})
        found: dict[str, list[dict[str, Any]]] = {passage: [] for passage in distinct}
        for row in split_passages(batch).to_pylist():
            found[row["passage_id"]].append(row)
        fresh = {
            row["text_id"]: row["sentence_text"]
            for rows in found.values()
            for row in rows
            if row["text_id"] not in self._vectors
        }
        if fresh:
            vectors, _ = encode_texts(self._encoder, list(fresh.values()), self._batch_tokens)
            self._vectors.update(zip(fresh, vectors, strict=True))
            self._texts.update(fresh)
        return found

    def choose(self, claims: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[Chosen]:
        """Return the evidence of each claim in its contexts; both are whole texts.

        A claim is compared by its first unit's words and vector, its text stays whole.
        """
        if not claims:
            return []
        split = self.split([*claims, *[text for texts in contexts for text in texts]])
        rows = []
        for number, (claim, texts) in enumerate(zip(claims, contexts, strict=True)):
            units = [(rank, row) for rank, text in enumerate(texts) for row in split[text]]
            rows.append(
                {
                    "interaction_id": str(number),
                    "evidence_key": "",
                    "query_text_ids": None,
                    "answer_text_ids": [split[claim][0]["text_id"]],
                    "context_text_ids": [row["text_id"] for _, row in units],
                    "context_ranks": [rank for rank, _ in units],
                    "statement_text_ids": None,
                    "statement_ranks": None,
                }
            )
        windows = EvidenceChoice(self._settings)(pa.RecordBatch.from_pylist(rows), self._table()).to_pylist()
        chosen = {int(row["interaction_id"]): row for row in windows}
        result = []
        for number, row in enumerate(rows):
            sentences = tuple(self._texts[text_id] for text_id in row["context_text_ids"])
            if number not in chosen:
                result.append(Chosen("", sentences, 0.0, 0.0))
                continue
            vectors = np.stack([self._vectors[text_id] for text_id in row["context_text_ids"]])
            similarity = float((vectors @ self._vectors[row["answer_text_ids"][0]]).max())
            premise = " ".join(sentences[position] for position in sorted(chosen[number]["chosen_indices"]))
            result.append(Chosen(premise, sentences, similarity, chosen[number]["overlap"]))
        return result

    def _table(self) -> pa.Table:
        matrix = np.stack(list(self._vectors.values()))
        offsets = np.arange(0, matrix.size + 1, matrix.shape[1], dtype=np.int32)
        return pa.table(
            {
                "text_id": list(self._vectors),
                "encoded_text": [self._texts[text_id] for text_id in self._vectors],
                "embedding": pa.ListArray.from_arrays(pa.array(offsets), pa.array(matrix.ravel())),
            }
        )


def read_sentences(answers: Sequence[Answer], reader: EvidenceReader) -> list[AnswerSentence]:
    """Return every sentence of the answers with its evidence and its label."""
    split = reader.split([text for answer in answers for text in (answer.answer, *answer.contexts)])
    units = [(answer, row) for answer in answers for row in split[answer.answer]]
    chosen = reader.choose([row["sentence_text"] for _, row in units], [answer.contexts for answer, _ in units])
    sentences = []
    for (answer, row), evidence in zip(units, chosen, strict=True):
        start, end = row["start_character"], row["start_character"] + row["count_characters"]
        sentences.append(
            AnswerSentence(
                answer=answer,
                sentence_index=row["sentence_index"],
                start=start,
                end=end,
                text=row["sentence_text"],
                premise=evidence.premise,
                context=evidence.context,
                similarity=evidence.similarity,
                overlap=evidence.overlap,
                wrong=_find_marked(answer, start, end),
            )
        )
    return sentences


def _find_marked(answer: Answer, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return the marked spans that hold a letter or digit of the sentence, as positions in its folded text."""
    found = []
    for first, last in answer.spans:
        first, last = max(start, first), min(end, last)
        if any(character.isalnum() for character in answer.answer[first:last]):
            before, through = (" ".join(answer.answer[start:until].split()) for until in (first, last))
            found.append((len(before), len(through)))
    return tuple(found)


def to_pair(sentence: AnswerSentence) -> Pair:
    """Return the pair of a labelled sentence."""
    target = ENTAILMENT if sentence.is_supported else NOT_ENTAILMENT
    return Pair(sentence.premise, sentence.text, target, f"ragtruth {sentence.answer.task}", sentence.wrong)


def make_negatives(sentences: Sequence[AnswerSentence], reader: EvidenceReader, share: float, seed: int) -> list[Pair]:
    """Return made faults of a seeded share of the faithful sentences, each with evidence chosen for the fault itself.

    Kinds are tried in random order until one applies; a sentence borrowed from an answer to another source of the same
    task is the last kind.
    """
    faithful = [sentence for sentence in sentences if sentence.is_supported and len(sentence.text) > 20]
    pools: dict[str, list[str]] = {}
    for sentence in faithful:
        pools.setdefault(sentence.answer.task, []).append(sentence.text)
    made: list[tuple[str, Sequence[str], str, tuple[tuple[int, int], ...] | None]] = []
    for sentence in faithful:
        # one stream per sentence: the choice does not depend on what stands before it
        stream = random.Random(f"{seed}|{sentence.answer.answer_id}|{sentence.sentence_index}")
        if stream.random() >= share:
            continue
        kinds = [*MADE, "borrowed"]
        stream.shuffle(kinds)
        if stream.random() < SHARE_INSIDE:
            # the hardest kind and the rarest: no set of words or numbers of the context betrays it
            kinds.sort(key=lambda kind: not kind.endswith("_inside"))
        pool = stream.sample(pools[sentence.answer.task], min(20, len(pools[sentence.answer.task])))
        for kind in kinds:
            if kind == "borrowed":
                others = [text for text in pool if text not in sentence.answer.answer]
                text, wrong = (others[0], None) if others else (None, None)
            else:
                fault = perturb(sentence.text, kind, sentence.context, stream, pool)
                text, wrong = (fault.text, ((fault.start, fault.end),)) if fault else (None, None)
            if text is not None:
                made.append((text, sentence.answer.contexts, kind, wrong))
                break
    chosen = reader.choose([text for text, _, _, _ in made], [contexts for _, contexts, _, _ in made])
    return [
        Pair(evidence.premise, text, MADE.get(kind, NOT_ENTAILMENT), f"made {kind}", wrong)
        for (text, _, kind, wrong), evidence in zip(made, chosen, strict=True)
    ]


def read_expert_pairs(data: Path, reader: EvidenceReader) -> list[Pair]:
    """Return expert-judged claims with their evidence; partly supported is not supported."""
    rows = read_expertqa(data)
    chosen = reader.choose([claim for claim, _, _, _ in rows], [evidence for _, evidence, _, _ in rows])
    return [
        Pair(found.premise, claim, ENTAILMENT if support == "Complete" else NOT_ENTAILMENT, "expertqa")
        for (claim, _, support, _), found in zip(rows, chosen, strict=True)
        if found.premise
    ]


def read_features(sentences: Sequence[AnswerSentence], shares: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the features of the fusion, shape (n, n_features), as the model int_sentence_signals makes them.

    ``shares`` holds the probabilities of entailment, neutral and contradiction, shape (n, 3).
    """
    evidences: dict[str, Evidence] = {}
    records: dict[str, Records] = {}
    places: dict[str, Places] = {}
    kept: dict[str, Any] = {}

    def read(text: str) -> Any:
        if text not in kept:
            kept[text] = extract_features(text)
        return kept[text]

    rows = []
    for sentence, (entailment, _, contradiction) in zip(sentences, shares, strict=True):
        key = sentence.answer.answer_id
        if key not in evidences:
            asked = [sentence.answer.query] if sentence.answer.query else []
            texts = [*sentence.context, *asked]
            evidences[key] = Evidence.from_features(map(read, texts))
            records[key] = Records.from_fields((read_fields(text), read(text).words) for text in texts)
            placed, known = ([place_mentions(text, read(text)) for text in own] for own in (sentence.context, asked))
            places[key] = Places.from_sentences(placed, known)
        support = measure_support(read(sentence.text), evidences[key])
        displacement = find_displaced(place_mentions(sentence.text, read(sentence.text)), places[key])
        rows.append(
            (
                bounded_log_odds(entailment),
                bounded_log_odds(contradiction),
                sentence.similarity,
                support.count_words_supported / support.count_words if support.count_words else 1.0,
                sentence.overlap,
                min(support.count_numbers - support.count_numbers_supported, COUNT_BOUND),
                min(support.count_entities - support.count_entities_supported, COUNT_BOUND),
                min(len(find_contradictions(sentence.text, records[key])), COUNT_BOUND),
                displacement.number,
                displacement.entity,
            )
        )
    return np.array(rows, dtype=np.float64)


def describe(sentences: Iterable[AnswerSentence]) -> Mapping[str, tuple[int, int]]:
    """Return sentences and unsupported ones by task."""
    counts: dict[str, tuple[int, int]] = {}
    for sentence in sentences:
        n, bad = counts.get(sentence.answer.task, (0, 0))
        counts[sentence.answer.task] = (n + 1, bad + (not sentence.is_supported))
    return counts
