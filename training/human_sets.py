"""Pairs from the sets that people labelled, their made faults, and true negations, with evidence as a build chooses it.

Sets of a folder shaped like `more` whose licence lets weights be shipped. Families that share documents or style stay
together: those of one fold are left out, and their answers judge what the rest has taught.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as parquet

from hcat.language.claims import claims_nothing
from hcat.language.text import split_sentences
from training import faults
from training.grounded import CONTRADICTION, ENTAILMENT, NOT_ENTAILMENT, EvidenceReader
from training.labelled_sets import LabelledAnswer, read_sets
from training.made_faults import BORROWED, make_faults
from training.pairs import TARGETS, Pair

NEUTRAL: Final = TARGETS.index("neutral")

#: Set -> licence under which its labels may teach weights that ship. The families of ANLI, XSum, SAMSum and Wizard of
#: Wikipedia stay tests, although parts of them might be used.
SETS: Final[Mapping[str, str]] = {
    "attr_gensearch": "MIT (both sources)",
    "attr_hagrid": "Apache-2.0",
    "ci_tod": "MIT",
    "clapnq_human": "Apache-2.0",
    "contractnli": "CC BY 4.0",
    "fever_symmetric": "CC BY-SA 3.0",
    "infotabs": "Apache-2.0",
    "mtrag": "Apache-2.0",
    "pubhealthtab": "MIT",
    "quintd": "MIT",
    "rotowire_accuracy": "CC0",
    "scitab": "MIT",
    "tabfact": "CC BY 4.0",
}

#: Families of each fold, so that records and prose stand in both.
FOLDS: Final[Sequence[frozenset[str]]] = (
    frozenset({"quintd", "tables", "contractnli"}),
    frozenset({"rotowire_accuracy", "ci_tod", "rag", "fever_symmetric"}),
)

#: Labelled pairs of a set, and made faults of one kind in a set: ten sets of tables must not outvote one of answers.
PAIRS_OF_A_SET: Final = 800
FAULTS_OF_A_KIND: Final = 60

#: What a sentence with a fault is to its evidence.
MADE: Final[Mapping[str, int]] = {
    faults.NEGATION: CONTRADICTION,
    faults.NUMBER_INSIDE: CONTRADICTION,
    faults.ANTONYM: NOT_ENTAILMENT,
    faults.ENTITY_INSIDE: NOT_ENTAILMENT,
    faults.NUMBER_OUTSIDE: NOT_ENTAILMENT,
    faults.ENTITY_OUTSIDE: NOT_ENTAILMENT,
    faults.DROPPED_QUALIFIER: NOT_ENTAILMENT,
    BORROWED: NEUTRAL,
}
#: The negation of a sentence with a wrong number is true: "it does not cost 9 euros" where it costs 5.
TRUE_NEGATION: Final = "true_negation"

_SHORTEST: Final = 8


class _Claim(NamedTuple):
    text: str
    contexts: tuple[str, ...]
    target: int
    source: str
    family: str


def read_human_pairs(data: Path, reader: EvidenceReader, seed: int, kept: Path) -> list[tuple[str, Pair]]:
    """Return the family and the pair of every claim of :data:`SETS`.

    To choose the evidence takes minutes, so the pairs are kept in a file for the trainings of all folds.
    """
    if not kept.exists():
        answers = [one for one in read_sets(data) if one.set_name in SETS and one.contexts]
        claims = [*_read_labelled(answers), *_make_faulty(answers, seed), *_negate_truly(answers, seed)]
        chosen = reader.choose([claim.text for claim in claims], [claim.contexts for claim in claims])
        rows = [
            {"premise": evidence.premise, "hypothesis": claim.text, "target": claim.target, "source": claim.source}
            | {"family": claim.family}
            for claim, evidence in zip(claims, chosen, strict=True)
            if evidence.premise
        ]
        kept.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.Table.from_pylist(rows), kept)
    return [(row.pop("family"), Pair(**row)) for row in parquet.read_table(kept).to_pylist()]


def leave_out(pairs: Iterable[tuple[str, Pair]], fold: int | None) -> list[Pair]:
    """Return the pairs whose family is not in the fold; all of them without a fold."""
    unseen = frozenset() if fold is None else FOLDS[fold]
    return [pair for family, pair in pairs if family not in unseen]


def _read_labelled(answers: Iterable[LabelledAnswer]) -> Iterator[_Claim]:
    """Yield sentences whose label is known: those of a good answer, and a bad answer that is a single sentence."""
    of_set: dict[str, list[_Claim]] = {}
    for answer in answers:
        sentences = [text for text in _split(answer.answer) if len(text) >= _SHORTEST and not claims_nothing(text)]
        if answer.is_bad and len(sentences) != 1:
            continue
        target = _target(answer)
        own = of_set.setdefault(answer.set_name, [])
        own += [_Claim(text, answer.contexts, target, answer.set_name, answer.family) for text in sentences]
    for name in sorted(of_set):
        yield from sorted(of_set[name], key=_by_hash)[:PAIRS_OF_A_SET]


def _target(answer: LabelledAnswer) -> int:
    if not answer.is_bad:
        return ENTAILMENT
    if answer.is_contradicted is None:
        return NOT_ENTAILMENT
    return CONTRADICTION if answer.is_contradicted else NEUTRAL


def _make_faulty(answers: Sequence[LabelledAnswer], seed: int) -> Iterator[_Claim]:
    """Yield faithful sentences, each beside the faults that were made of it."""
    for made in make_faults(answers, FAULTS_OF_A_KIND, seed):
        target = ENTAILMENT if made.kind is None else MADE[made.kind]
        source = "made faithful" if made.kind is None else f"made {made.kind}"
        yield _Claim(made.answer.answer, made.answer.contexts, target, source, made.answer.family)


def _negate_truly(answers: Sequence[LabelledAnswer], seed: int) -> Iterator[_Claim]:
    """Yield negations that their evidence entails, so that a word of negation is not learnt as a contradiction."""
    counts: dict[str, int] = {}
    for answer in answers:
        if answer.is_bad:
            continue
        context = [text for passage in answer.contexts for text in _split(passage)]
        for text in _split(answer.answer):
            if counts.get(answer.set_name, 0) >= FAULTS_OF_A_KIND:
                break
            stream = Random(f"{seed}|{TRUE_NEGATION}|{answer.answer_id}|{text}")
            wrong = faults.perturb(text, faults.NUMBER_OUTSIDE, context, stream)
            negated = wrong and faults.perturb(wrong.text, faults.NEGATION, context, stream)
            # a negation that was taken out says the wrong number outright
            if negated and len(negated.text) > len(text):
                counts[answer.set_name] = counts.get(answer.set_name, 0) + 1
                yield _Claim(negated.text, answer.contexts, ENTAILMENT, f"made {TRUE_NEGATION}", answer.family)


def _split(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def _by_hash(claim: _Claim) -> str:
    return hashlib.md5(f"{claim.source}|{claim.text}".encode(), usedforsecurity=False).hexdigest()
