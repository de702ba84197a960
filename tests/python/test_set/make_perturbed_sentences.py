"""Make the test cases of hcat.test_set.perturbation: sentences of the demo, each with one fault.

One command, from the repository root, writes them to ``data/perturbed_sentences.jsonl`` beside it, one a line:

    python tests/python/test_set/make_perturbed_sentences.py

Every sentence of a chunk is faithful to its chunk, and the chunk is the context of its case. Names from outside come
from the chunks of the other documents. The same demo gives the same file.
"""

import json
from pathlib import Path
from random import Random

from hcat.language.text import split_sentences
from hcat.test_set.perturbation.faults import KINDS, perturb

REPOSITORY = Path(__file__).resolve().parents[3]
CHUNKS = REPOSITORY / "demo" / "logs" / "chunks.jsonl"
CASES = Path(__file__).resolve().parent / "data" / "perturbed_sentences.jsonl"
CASES_PER_KIND = 50
SEED = 20260601


def make_cases() -> list[dict[str, object]]:
    """Return up to `CASES_PER_KIND` cases of each kind, from sentences drawn at random, in the order of the demo."""
    chunks = [json.loads(line) for line in CHUNKS.read_text(encoding="utf-8").splitlines()]
    sentences = [[chunk["text"][start:end] for start, end in split_sentences(chunk["text"])] for chunk in chunks]
    places = [(chunk, sentence) for chunk in range(len(chunks)) for sentence in range(len(sentences[chunk]))]
    pools = {
        document: [
            text
            for chunk, texts in zip(chunks, sentences, strict=True)
            if chunk["document_id"] != document
            for text in texts
        ]
        for document in sorted({chunk["document_id"] for chunk in chunks})
    }
    cases: list[dict[str, object]] = []
    for kind in KINDS:
        random = Random(f"{SEED} {kind}")
        made = {}
        for place in random.sample(places, len(places)):
            if len(made) == CASES_PER_KIND:
                break
            chunk, context = chunks[place[0]], sentences[place[0]]
            fault = perturb(context[place[1]], kind, context, random, pools[chunk["document_id"]])
            if fault is not None:
                made[place] = {
                    "kind": kind,
                    "chunk_id": chunk["chunk_id"],
                    "context": context,
                    "sentence": context[place[1]],
                    "perturbed": fault.text,
                    "start": fault.start,
                    "end": fault.end,
                    "before": fault.before,
                    "after": fault.after,
                }
        cases += [made[place] for place in sorted(made)]
    return cases


def to_text(cases: list[dict[str, object]]) -> str:
    """Return the cases as JSON Lines."""
    return "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)


if __name__ == "__main__":
    CASES.parent.mkdir(exist_ok=True)
    CASES.write_text(to_text(make_cases()), encoding="utf-8")
