"""Faults by negation: "not" or "no" is put into a sentence or taken out of it, where spaCy's parser finds the verb."""

from collections.abc import Iterator
from typing import Any, Final

from hcat.language.given_names import is_ordinary_word, word_set
from hcat.privacy.tagger import load_tagger
from hcat.test_set.perturbation.forms import Edit, in_case_of, third_person

_FINITE: Final = ("MD", "VBZ", "VBP", "VBD")
#: The negation of "may", "might" and "could" often leaves the sentence compatible with what it was.
_MODALS: Final = ("can", "will", "would", "should", "must")
_DO: Final = {"VBZ": "does not", "VBP": "do not", "VBD": "did not"}
_CUT: Final = {"ca": "can", "wo": "will"}
#: Behind "not" these say something else, and these read wrong without it.
_NOT_ONLY: Final = frozenset({"only", "just", "merely", "least"})
_POLAR: Final = frozenset({"any", "anything", "anyone", "anybody", "either", "yet", "anymore"})
_NEGATIVE: Final = word_set("no not n't cannot never none neither nor nobody nothing without hardly rarely seldom")


def find_negations(sentence: str) -> Iterator[Edit]:
    """Yield every way to take a negation out; of a sentence without one, how its main verb is denied."""
    words = load_tagger(unused=("ner",))(sentence)
    for word in words[:-1]:
        following = words[word.i + 1]
        if word.lower_ == "no" and following.lower_ == "longer":
            yield _replace(word, following, in_case_of("still", word.text))
        elif word.lower_ == "no" and word.dep_ == "det" and following.text != "-":
            yield _replace(word, word, in_case_of("some", word.text))
        elif word.dep_ == "neg" and word.i and following.lower_ not in _NOT_ONLY:
            yield from _take_out(words[word.i - 1], word, words[word.i + 1 : word.i + 5])
    if len(words) and _NEGATIVE.isdisjoint(word.norm_ for word in words):
        yield from _deny(words, is_question=sentence.rstrip().endswith("?"))


def _replace(first: Any, last: Any, after: str) -> Edit:
    return Edit(first.idx, last.idx + len(last), after)


def _take_out(auxiliary: Any, negation: Any, behind: Any) -> Iterator[Edit]:
    """Yield "costs" for "does not cost", "can" for "cannot" and "can I" for "can I not"."""
    if not _POLAR.isdisjoint(word.lower_ for word in behind):
        return
    if auxiliary.lower_ in ("do", "does") and behind[0].tag_ == "VB":
        verb = third_person(behind[0].text) if auxiliary.lower_ == "does" else behind[0].text
        yield _replace(auxiliary, behind[0], in_case_of(verb, auxiliary.text))
    elif auxiliary.tag_ in _FINITE or auxiliary.dep_ == "nsubj":
        yield _replace(auxiliary, negation, in_case_of(_CUT.get(auxiliary.lower_, auxiliary.text), auxiliary.text))


def _deny(words: Any, *, is_question: bool) -> Iterator[Edit]:
    """Yield the denial of the main verb, behind the subject where a question has it behind the auxiliary."""
    root, *others = (word for word in words if word.dep_ == "ROOT")
    subject = next((word for word in root.lefts if word.dep_ in ("nsubj", "nsubjpass", "expl")), None)
    if others or subject is None:
        return
    before = [word.lower_ for word in words[: root.i + 1]]
    verb = next((word for word in root.lefts if word.dep_ in ("aux", "auxpass")), root)
    if verb.tag_ not in _FINITE or (verb.tag_ == "MD" and verb.lower_ not in _MODALS):
        return
    if verb.i < subject.i:
        end = subject.right_edge
        if is_question and words[end.i + 1] == root and root.tag_.startswith("VB"):
            yield _replace(end, end, f"{end.text} not")
    elif verb != root or root.lemma_ == "be":
        # "is the account" in a question: the subject stands behind, whatever was read
        if not (is_question and words[verb.i + 1].tag_ in ("DT", "PRP", "PRP$", "NNP", "NNPS")):
            yield _replace(verb, verb, "cannot" if verb.lower_ == "can" else f"{verb.text} not")
    # a question with "does" in front or as its verb was read wrong, and a verb that no list has is of another language
    elif is_ordinary_word(root.lower_) and not (is_question and {"do", "does", "did"} & set(before)):
        yield _replace(root, root, f"{_DO[root.tag_]} {root.lemma_}")
