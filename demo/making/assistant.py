"""The made-up assistant: real retrieval, answers by rule."""

import os
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from hcat.engine.devices import packaged_folder
from making.faults import negate, omit_part, swap_entity, swap_number
from making.records import Chunk, Draft, Query, Retrieved, draw, share_of_words, split_sentences
from making.topics import Topics

Matrix = npt.NDArray[np.float32]


@dataclass
class Corpus:
    """The knowledge base with one embedding per chunk (by version, apart for added chunks) and per sentence."""

    chunks: list[Chunk]
    chunk_embeddings: dict[str, list[Matrix]] = field(default_factory=dict)
    sentence_embeddings: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    # Documents that were forgotten when a version's index was made.
    missing_documents: dict[str, frozenset[str]] = field(default_factory=dict)
    # Documents that only testers' rounds from a day on could find.
    added_on: dict[str, date] = field(default_factory=dict)

    def hidden(self, version: str, asked_on: date | None) -> frozenset[str]:
        """Return the documents that the index lacks: what was forgotten, and what came later than a round."""
        later = {name for name, day in self.added_on.items() if asked_on is None or asked_on < day}
        return self.missing_documents[version] | later


class Encoder:
    """The packaged all-MiniLM-L6-v2, loaded from its installed folder without any network access."""

    def __init__(self) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        from sentence_transformers import SentenceTransformer

        # One thread fixes the order of additions, which the last digits of the scores depend on.
        torch.set_num_threads(1)
        self._model: Any = SentenceTransformer(str(packaged_folder()), device="cpu")

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return unit-length embeddings, shape (len(texts), 384), float32."""
        embeddings = self._model.encode(
            list(texts), batch_size=32, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(embeddings, dtype=np.float32)


def embed_corpus(encoder: Encoder, topics: Topics, rules: Mapping[str, Any]) -> Corpus:
    """Return the corpus with chunk embeddings for each version and one embedding per sentence."""
    corpus = Corpus(topics.chunks + topics.added_chunks, added_on=topics.added_on)
    # The last digits of embeddings and products depend on their batch: what was added must not move the rest.
    groups = (topics.chunks, topics.added_chunks)
    for version, settings in rules["versions"].items():
        texts = [
            [f"{chunk.title}. {chunk.text}" if settings["embeds_title"] else chunk.text for chunk in group]
            for group in groups
        ]
        corpus.chunk_embeddings[version] = [encoder.embed(group) for group in texts]
        corpus.missing_documents[version] = frozenset(settings.get("missing_documents", ()))
    for group in groups:
        sentences = sorted({sentence for chunk in group for sentence in split_sentences(chunk.text)})
        corpus.sentence_embeddings |= dict(zip(sentences, encoder.embed(sentences), strict=True))
    return corpus


def retrieve(
    corpus: Corpus, version: str, query_embedding: npt.NDArray[np.float32], top_k: int, asked_on: date | None
) -> list[Retrieved]:
    """Return the `top_k` most similar chunks of the version's index, best first; ties in order of the corpus."""
    products = [embeddings @ query_embedding for embeddings in corpus.chunk_embeddings[version]]
    scores = np.round(np.concatenate(products).astype(np.float64), 6)
    missing = corpus.hidden(version, asked_on)
    order = np.argsort(-scores, kind="stable").tolist()
    found = [index for index in order if corpus.chunks[index].document_id not in missing]
    return [Retrieved(corpus.chunks[index], rank, float(scores[index])) for rank, index in enumerate(found[:top_k], 1)]


class Assistant:
    """Answers queries by rule from retrieved chunks, and spoils answers on demand.

    The reference answer stands in for a language model's reading skill: where a source chunk was retrieved, the
    sentence closest to it is taken. Where none was retrieved, the sentence closest to the query is taken, so that
    poor retrieval leads to poor answers as it would in life.
    """

    def __init__(
        self, topics: Topics, corpus: Corpus, encoder: Encoder, queries: Sequence[Query], rules: Mapping[str, Any]
    ) -> None:
        self.topics = topics
        self.corpus = corpus
        self.rules = rules
        self.entities = sorted((name for group in topics.entity_groups for name in group), key=len, reverse=True)
        texts = {query.text for query in queries if not query.tests_risks and not query.round_name}
        of_rounds = {query.text for query in queries if query.round_name}
        for query in queries:
            (of_rounds if query.round_name else texts).update(self.reference_parts(query))
        texts.update(sentence for group in topics.invented_additions.values() for sentence in group)
        self.text_embeddings: dict[str, npt.NDArray[np.float32]] = {}
        # The last digits of an embedding depend on its batch: what is asked apart must not move those of the others.
        for group in (texts, {query.text for query in queries if query.tests_risks} - texts, of_rounds - texts):
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
        wanted = max(int(draw(generator, self.rules["sentence_count_shares"])), len(core))
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
            sentences = split_sentences(self.topics.unwarranted_answers[query.root_query_id])
            return Draft(sentences=tuple(sentences), core_count=len(sentences))
        if fault == "off_topic_answer":
            others = [chunk for chunk in self.topics.chunks if chunk.topic != query.topic]
            sentences = split_sentences(generator.choice(others).text)[: generator.choice([1, 2])]
            return Draft(sentences=tuple(sentences), opening=draft.opening)
        if fault == "swapped_number":
            return swap_number(draft, query, retrieved, generator)
        if fault == "swapped_entity":
            return swap_entity(draft, query, self.topics.entity_groups, generator)
        if query.language != "en":
            return None
        if fault == "negation":
            return negate(draft)
        if fault == "omitted_part":
            return omit_part(draft, query)
        if fault == "unsupported_sentence":
            invented = list(self.topics.invented_additions[query.topic])
            embedding = self.text_embeddings[query.text]
            invented.sort(key=lambda sentence: (-float(self.text_embeddings[sentence] @ embedding), sentence))
            return replace(draft, sentences=(*draft.sentences, generator.choice(invented[:4])))
        raise ValueError(f"fault must be one of the recorded faults, got {fault!r}")
