"""A sentence read as subject, verb and predicate by the dependency parser of spaCy; what is not plain is left out."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from hcat.language.given_names import is_ordinary_word, word_set
from hcat.privacy.tagger import load_tagger
from hcat.test_set.generation.english import (
    FINAL_ABBREVIATION,
    LEAD,
    ONE_PERIOD,
    OWN,
    PARENTHESES,
    PERIOD,
    POINTING,
    PREPOSITION_END,
    TAIL,
    WORD,
    YEAR,
)

MAXIMUM_SUBJECT_WORDS: Final = 12
MAXIMUM_PREDICATE_WORDS: Final = 28

#: Sentences per call of the parser. It is fixed, because a vector may depend on what it is computed with.
_BATCH: Final = 64
_UNUSED_PIPES: Final = ("ner",)
_FINITE: Final = frozenset(("VBZ", "VBP", "VBD", "MD"))
#: Whatever else stands before the verb (a clause, a phrase, "there") makes the sentence too much for one question.
_BEFORE_VERB: Final = frozenset(("nsubj", "nsubjpass", "aux", "auxpass", "advmod", "neg", "punct"))
_OPENING_SUBJECT = word_set("""
no neither either each any some many most several one two certain both more additional first second third further none
half every various numerous similar new amounts examples all
""")
_HEADINGS = frozenset(("The", "Our", "We", "In", "This", "These", "As", "For", "On", "A", "An"))
_HEADS = word_set("""
rate rates ratio average margin price yield balance expense revenue sales income loss profit dividend term life period
headcount number amount cost
""")
_SINGLED_OUT = re.compile(r"\b(?:largest|smallest|highest|lowest|oldest|newest|top)\b")
#: Plurals that say too little by themselves: whose, of what, in which case.
_UNSPECIFIC = word_set("""
gains losses lawsuits claims payments amounts costs changes benefits adjustments results actions charges fees awards
plaintiffs defendants parties complaint complaints motion motions order orders hearing trial notes loans transactions
contracts agreements options shares units products services risks proceedings matters cases settlements customers
suppliers vendors holders lenders borrowers directors officers members securities estimates differences factors items
purchases increases decreases proceeds appeals
""")
_POINTING_NOUNS = word_set("""
increase decrease decline change changes adjustment difference impact effect result majority remainder amount amounts
full fair carrying remaining related resulting transaction improvement reduction growth sale
""")


class Clause(NamedTuple):
    """A sentence as it is asked about: speakers resolved, its period in front, what is cut off behind."""

    lead: str
    subject: str
    verb: str
    base: str
    predicate: str
    tail: str
    is_singular: bool | None
    has_participle: bool
    is_list_cut: bool

    @property
    def when(self) -> str:
        """The period at its start with a blank before it, empty without one."""
        return f" {self.lead}" if self.lead else ""

    @property
    def whole(self) -> str:
        """The predicate with what was cut off."""
        return re.sub(r" (?=[,;:])", "", f"{self.predicate} {self.tail}").strip()

    @property
    def do(self) -> str:
        """The form of "do" that asks for the clause."""
        return "did" if self.is_singular is None else "does" if self.is_singular else "do"

    @property
    def be(self) -> str:
        """The verb as it asks for the clause."""
        return "am" if self.subject == "I" and self.verb == "are" else self.verb


def read_clauses(sentences: Sequence[str], speaker: str) -> Iterator[Clause | None]:
    """Yield each sentence as subject, verb and predicate; None where that is not plain."""
    texts, leads = [], []
    for sentence in sentences:
        text, lead = PARENTHESES.sub("", sentence).strip(), ""
        match = LEAD.fullmatch(text)
        if match is not None:
            lead, text = match["lead"][0].lower() + match["lead"][1:], match["rest"][0].upper() + match["rest"][1:]
        texts.append(text)
        leads.append(lead)
    documents = load_tagger(unused=_UNUSED_PIPES).pipe(texts, batch_size=_BATCH)
    for document, lead in zip(documents, leads, strict=True):
        yield _read(document, lead, speaker)


def _read(document: Any, lead: str, speaker: str) -> Clause | None:
    roots = [token for token in document if token.dep_ == "ROOT"]
    if len(roots) != 1 or '"' in document.text or "?" in document.text:
        return None
    root = roots[0]
    verb = next((token for token in root.lefts if token.dep_ in ("aux", "auxpass")), root)
    subjects = [token for token in root.lefts if token.dep_ in ("nsubj", "nsubjpass")]
    if verb.tag_ not in _FINITE or len(subjects) != 1 or any(each.dep_ not in _BEFORE_VERB for each in root.lefts):
        return None
    first, last = subjects[0].left_edge.i, subjects[0].right_edge.i
    if first != 0 or any(token.tag_ != "RB" for token in document[last + 1 : verb.i]):
        return None
    subject = _read_subject(document[: last + 1], speaker)
    if subject is None:
        return None
    is_speaker = subject == speaker
    start = verb.i + 1
    while start < len(document) and document[start].tag_ == "RB" and document[start].lower_ not in ("not", "only"):
        start += 1
    text = document[start:].text.strip().removesuffix(".")
    predicate, tail, is_list_cut = _cut(text + "." if FINAL_ABBREVIATION.search(text) else text, document, root, start)
    predicate = speak_for(predicate, speaker)
    words = [word.lower() for word in WORD.findall(predicate)]
    if not words or len(words) > MAXIMUM_PREDICATE_WORDS or PREPOSITION_END.search(predicate):
        return None
    if not (POINTING - OWN | {"we", "you", "i"}).isdisjoint(words):
        return None
    # a second verb that no conjunction announces: the sentence was read wrong
    if re.search(r"\b(?:is|are|was|were|has)\b", predicate):
        return None
    if tail and re.search(r"\b(?:\w+ing|\w+ly|of|separate|new|formal|certain|various|other)\Z", predicate):
        return None
    written, base, is_singular = verb.lower_, "", None
    if verb.tag_ != "MD" and verb.lemma_ not in ("be", "have"):
        base = verb.lemma_.lower()
        is_singular = None if verb.tag_ == "VBD" else verb.tag_ == "VBZ" or is_speaker
    elif written in ("is", "was", "has"):
        is_singular = True
    elif written in ("are", "were", "have"):
        is_singular = is_speaker
        written = {"are": "is", "were": "was", "have": "has"}[written] if is_speaker else written
    has_participle = root is not verb and root.tag_ == "VBN"
    return Clause(lead, subject, written, base, predicate, tail, is_singular, has_participle, is_list_cut)


def _cut(text: str, document: Any, root: Any, start: int) -> tuple[str, str, bool]:
    """Return a predicate up to a second statement, the rest, and whether the cut may run through a list."""
    ends = [match.start() for match in [TAIL.search(text)] if match is not None]
    offset = document[start].idx if start < len(document) else 0
    for conjunct in root.conjuncts:
        if conjunct.tag_ in _FINITE or any(child.dep_ in ("nsubj", "aux", "auxpass") for child in conjunct.lefts):
            before = document[conjunct.left_edge.i - 1]
            ends.append(max(before.idx - offset - 1, 0))
    if not ends:
        return text, "", False
    predicate, tail = text[: min(ends)].strip(" ,"), text[min(ends) :].strip()
    return predicate, tail, tail.startswith(", ") and re.search(r"\b(?:and|or)\b", tail[:80]) is not None


def _read_subject(span: Any, speaker: str) -> str | None:
    """Return a subject as it stands in a question; None where it says too little by itself or holds a clause."""
    text, words = span.text, span.text.split()
    if span[0].lower_ in ("we", "you") and len(words) == 1:
        return speaker if span[0].lower_ == "we" else "I"
    lower = [word.lower() for word in words]
    if (
        not words
        or len(words) > MAXIMUM_SUBJECT_WORDS
        or lower[0] in _OPENING_SUBJECT
        or re.search("[,;:/\u2013\u2014]", text)
    ):
        return None
    if not (POINTING | {"we", "you", "us", "i", "not"}).isdisjoint(lower) or not _HEADINGS.isdisjoint(words[1:]):
        return None
    if span.root.tag_ not in ("NN", "NNS", "NNP", "NNPS") or text[0].isdigit():
        return None
    if any(token.dep_ in ("relcl", "ccomp", "advcl", "csubj") for token in span):
        return None
    if re.search(r"\d", text) and not re.search(rf"\b{YEAR}\b|[A-Z]\w*-?\d", text):
        return None
    first = span[0]
    is_name = first.pos_ in ("PROPN", "NOUN") and len(words) > 1 and words[1][0].isupper()
    is_name = is_name or (first.pos_ == "PROPN" and (len(words) == 1 or not is_ordinary_word(lower[0])))
    if not is_name and first.text[1:] == first.text[1:].lower():
        text = first.text.lower() + text[len(first.text) :]
    return speak_for(text, speaker)


def is_specific(subject: str, speaker: str) -> bool:
    """Return whether a subject says by itself what it is; "the agreement", "the obligations" and "assets" do not."""
    words = subject.split()
    if re.search(r"\b(\w{3,}(?: \w+)?) \1\b", subject, re.IGNORECASE):  # a heading stands before the sentence
        return False
    if words[0] in ("the", "a", "an") and len(words) > 1 and words[1] in _POINTING_NOUNS:
        return False
    if speaker in subject or subject in ("I", "management"):
        return True
    if any(word[0].isupper() or word[0].isdigit() for word in words):
        return not re.fullmatch(rf"{PERIOD}|{ONE_PERIOD}", subject)
    if (words[-1] in _UNSPECIFIC and len(words) <= 3) or len(words) == 1 or "similar" in words:
        return False
    if re.search(r"\b(?:of|for|in|under|to|on|from) the [a-z-]+\Z", subject):
        return False
    if words[0] != "the" or _SINGLED_OUT.search(subject):
        return True
    has_link = not {"of", "for", "in", "on", "to", "from", "under", "with"}.isdisjoint(words[2:])
    return (has_link and len(words) > 4) or (words[-1] in _HEADS and len(words) > 3)


def speak_for(text: str, speaker: str) -> str:
    """Return a text with the first and second person replaced by what the asker would say."""
    text = re.sub(r"\b[Oo]ur\b", f"{speaker}'s", text)
    return re.sub(r"\b[Yy]our\b", "my", re.sub(r"\bus\b", speaker, text))
