"""Faults by negation: "not" or "no" is put into a sentence or taken out of it."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hcat.language.text import STOP_WORDS, WORD_PATTERN
from hcat.language.words import stem_word
from hcat.test_set.perturbation.forms import OBJECT, Edit, article_for, in_case_of, third_person


class _Word(NamedTuple):
    """A word, case-folded, with its neighbours where nothing but space lies between, else empty."""

    start: int
    end: int
    surface: str
    folded: str
    before: str
    after: str


_BE = frozenset({"is", "are", "was", "were"})
_HAVE = {"has": "does", "have": "do", "had": "did"}
_DO = frozenset({"do", "does", "did"})
# The negation of "may", "might" and "could" often leaves the sentence compatible with what it was.
_MODALS = {"can": "cannot", **{modal: f"{modal} not" for modal in ("will", "would", "should", "must")}}
_AUXILIARIES = _BE | _HAVE.keys() | _MODALS.keys() | {"could", "may", "might"}
_CONTRACTIONS = {
    "isn't": "is", "aren't": "are", "wasn't": "was", "weren't": "were", "can't": "can", "cannot": "can",
    "couldn't": "could", "won't": "will", "wouldn't": "would", "shouldn't": "should", "mustn't": "must",
    "hasn't": "has", "haven't": "have", "hadn't": "had", "didn't": "did",
}  # fmt: skip
_CONTRACTED_DO = {"don't": "do", "doesn't": "does"}
_PRONOUNS = frozenset({"i", "you", "we", "they", "he", "she", "it"})
_SUBJECTS = frozenset({"i", "you", "we", "they"})  # a present verb behind them has its base form
_DETERMINERS = frozenset({"a", "an", "the", "this", "that", "my", "your", "our", "their", "his", "her", "its"})
_QUESTION_WORDS = frozenset({"what", "when", "where", "which", "who", "why", "how"})
# Before these "not" would say something else ("not only"), or be a second negation.
_NO_NEGATION_BEFORE_LIST = """
not no never neither nor nothing nobody none hardly rarely seldom only just merely also least
"""
_NO_NEGATION_BEFORE = frozenset(_NO_NEGATION_BEFORE_LIST.split())
_NO_NEGATION_BEHIND_LIST = """
never always rarely seldom often usually normally generally typically not also only still then already to neither nor
than as
"""
_NO_NEGATION_BEHIND = frozenset(_NO_NEGATION_BEHIND_LIST.split())
# "before you do not pay" says nothing, and behind "let" or "help" the verb is no main verb.
_NO_CLAUSE_BEHIND_LIST = "before until than as soon after let lets make makes help helps see watch"
_BEFORE_INFINITIVE = frozenset({*_AUXILIARIES, *_DO, *_CONTRACTIONS, *_CONTRACTED_DO, "not", "to"})
_NO_CLAUSE_BEHIND = _BEFORE_INFINITIVE | frozenset(_NO_CLAUSE_BEHIND_LIST.split())
_NEGATIVE_SUBJECTS = frozenset({"neither", "nor", "no", "none", "nobody", "nothing"})
_SUBJECT_WORDS = 4
_POLAR_WORDS = frozenset({"anything", "anyone", "anybody", "either", "yet", "anymore"})
_PREPOSITIONS = frozenset({"at", "in", "from", "for", "of", "on", "with", "by", "to", "under", "into", "without"})
_ADVERBS = frozenset({"also", "always", "already", "ever", "even", "just", "never", "often", "only", "still", "yet"})
_VERBS_IN_LY = frozenset({"apply", "comply", "imply", "multiply", "rely", "reply", "supply"})
_IRREGULAR_PARTICIPLE_LIST = """
been become begun bought broken brought built caught chosen come cut done drawn driven fallen felt forgotten found
given gone got gotten grown had heard held hit kept known laid led left lent let lost made met overtaken paid put
read risen run said seen sent set shown shut sold spent split spoken spread stolen stood struck swept taken thought
thrown told understood withdrawn won worn written
"""
_IRREGULAR_PARTICIPLES = frozenset(_IRREGULAR_PARTICIPLE_LIST.split())
_VERB_LIST = """
accept allow apply arrive ask become begin belong borrow bring come confirm consist contain continue decide depend
earn enable expire follow give grant include keep lend make open operate own pay protect provide receive remain
require send serve speak tell take want withhold
"""
_VERBS = _VERB_LIST.split()
# Their third person is also a plural noun; an object must follow.
_VERB_LIKE_NOUN_LIST = """
block change charge check close cost cover end help hold last let lift limit move need offer report return run save
show start support transfer use work
"""
_VERBS_LIKE_NOUNS = _VERB_LIKE_NOUN_LIST.split()
_HAVE_OBJECT = re.compile(OBJECT.pattern + r"|\s+to\b", re.IGNORECASE)
# Nouns behind "no": with these the positive sentence has an article, with those it has none.
_COUNT_NOUN_LIST = """
account advantage agreement answer benefit branch change charge claim commission condition contract cost deadline
deposit difference discount document effect exception fee fine guarantee impact increase license licence
limit link loan maximum minimum need obligation offer option overdraft payment penalty plan policy problem reason
refund relationship requirement restriction result right risk rule sign solution surcharge threshold transaction way
withdrawal
"""
_COUNT_NOUNS = frozenset(_COUNT_NOUN_LIST.split())
_MASS_NOUN_LIST = """
access advice compensation cover coverage data evidence help income information insurance interest liability money
notice proof protection revenue support tax
"""
_NOUN_STEMS = frozenset(stem_word(noun) for noun in (*_COUNT_NOUNS, *_MASS_NOUN_LIST.split()))
_WORDS_BEFORE_NOUN = 3


_THIRD_PERSONS = {third_person(verb): verb for verb in _VERBS}
_THIRD_PERSONS_LIKE_NOUNS = {third_person(verb): verb for verb in _VERBS_LIKE_NOUNS}
_BASE_FORMS = frozenset([*_VERBS, *_VERBS_LIKE_NOUNS])


def _words_of(sentence: str) -> list[_Word]:
    spans = [(*match.span(), match.group()) for match in WORD_PATTERN.finditer(sentence)]
    folded = [surface.lower().replace("\u2019", "'") for _, _, surface in spans]
    adjoins = [sentence[left[1] : right[0]].isspace() for left, right in itertools.pairwise(spans)]
    last = len(spans) - 1
    return [
        _Word(
            start,
            end,
            surface,
            folded[position],
            folded[position - 1] if position > 0 and adjoins[position - 1] else "",
            folded[position + 1] if position < last and adjoins[position] else "",
        )
        for position, (start, end, surface) in enumerate(spans)
    ]


def find_negations(sentence: str) -> Iterator[Edit]:
    """Yield every way to put a negation in or take one out."""
    words = _words_of(sentence)
    is_question = sentence.rstrip().endswith("?")
    for position, word in enumerate(words):
        if word.folded in ("not", "no") or word.folded in _CONTRACTIONS or word.folded in _CONTRACTED_DO:
            yield from _removals(sentence, words, position, is_question)
        else:
            insert = _insertions_in_question if is_question else _insertions_at_auxiliary
            yield from insert(sentence, words, position)
            yield from _insertions_at_verb(sentence, words, position)


def _removals(sentence: str, words: Sequence[_Word], position: int, is_question: bool) -> Iterator[Edit]:
    """Yield how the negation at the position can be taken out."""
    word = words[position]
    if word.folded == "no":
        yield from _removals_of_no(words, position)
        return
    if _needs_negation(words, position) or word.after in ("only", "just", "merely", "least"):
        return
    if word.folded in _CONTRACTIONS:
        yield Edit(word.start, word.end, in_case_of(_CONTRACTIONS[word.folded], word.surface))
        return
    if word.folded in _CONTRACTED_DO:
        first, auxiliary = word, _CONTRACTED_DO[word.folded]
        if word.after in _PRONOUNS or (is_question and (position == 0 or word.before in _QUESTION_WORDS)):
            yield Edit(word.start, word.end, in_case_of(auxiliary, word.surface))
            return
    elif not word.before:
        return
    else:
        first, auxiliary = words[position - 1], word.before
    if auxiliary in ("do", "does"):
        yield _without_do(words, position, first, auxiliary)
    elif auxiliary in _AUXILIARIES or auxiliary == "did":
        yield Edit(first.start, word.end, first.surface)
    elif auxiliary in ("but", "and"):  # "but not in the app"
        yield Edit(first.start, word.end, in_case_of("and also", first.surface))
    elif is_question and auxiliary in _PRONOUNS and first.before in _AUXILIARIES | _DO:  # "can I not open"
        yield Edit(first.start, word.end, first.surface)


def _without_do(words: Sequence[_Word], position: int, first: _Word, auxiliary: str) -> Edit:
    """Return "costs" for "does not cost", and "do" or "does" where no verb can be told."""
    word = words[position]
    is_adverb = word.after in _ADVERBS or (word.after.endswith("ly") and word.after not in _VERBS_IN_LY)
    if not (word.after.isascii() and word.after.isalpha()) or (is_adverb and auxiliary == "does"):
        return Edit(first.start, word.end, in_case_of(auxiliary, first.surface))
    verb = words[position + 1]
    after = verb.surface if auxiliary == "do" else third_person(verb.surface)
    return Edit(first.start, verb.end, in_case_of(after, first.surface))


def _needs_negation(words: Sequence[_Word], position: int) -> bool:
    """Return whether a word near by reads wrong without the negation ("not any", "not yet")."""
    return any(
        word.folded in _POLAR_WORDS or (word.folded == "any" and word.before not in _PREPOSITIONS)
        for word in words[position + 1 : position + 5]
    )


def _removals_of_no(words: Sequence[_Word], position: int) -> Iterator[Edit]:
    word = words[position]
    if word.after == "longer":
        yield Edit(word.start, words[position + 1].end, in_case_of("still", word.surface))
        return
    for following in words[position + 1 : position + 2 + _WORDS_BEFORE_NOUN]:
        if not following.before or following.folded in STOP_WORDS:
            return
        if stem_word(following.folded) not in _NOUN_STEMS or stem_word(following.after) in _NOUN_STEMS:
            continue  # an adjective, or a noun that describes the next one
        if following.folded in _COUNT_NOUNS:
            yield Edit(word.start, word.end, in_case_of(article_for(word.after), word.surface))
        else:
            described = words[position + 1]
            yield Edit(word.start, described.end, in_case_of(described.surface, word.surface))
        return


def _insertions_in_question(sentence: str, words: Sequence[_Word], position: int) -> Iterator[Edit]:
    """Yield "can I not" for "can I", where the subject is a pronoun."""
    word = words[position]
    if (word.folded in _AUXILIARIES or word.folded in _DO) and word.after in _PRONOUNS:
        subject = words[position + 1]
        if subject.after and subject.after not in _NO_NEGATION_BEFORE:
            yield Edit(word.start, subject.end, sentence[word.start : subject.end] + " not")


def _insertions_at_auxiliary(sentence: str, words: Sequence[_Word], position: int) -> Iterator[Edit]:
    """Yield "is not", "cannot", "has not" or "does not have"."""
    word = words[position]
    following = words[position + 1] if position + 1 < len(words) else None
    if (
        position == 0
        or following is None
        or not sentence[word.end : word.end + 1].isspace()  # nothing to negate before a comma or a full stop
        or not {word.after, following.after}.isdisjoint(_NO_NEGATION_BEFORE)
        or word.after in _PRONOUNS  # subject and verb have changed places
        or word.before in ("than", "as")
        or any(earlier.folded in _NEGATIVE_SUBJECTS for earlier in words[max(0, position - _SUBJECT_WORDS) : position])
        or word.surface[0].isupper()
    ):
        return
    if word.folded in _BE:
        yield Edit(word.start, word.end, f"{word.surface} not")
    elif word.folded in _MODALS:
        if word.before not in _DETERMINERS:  # "a will" is no modal verb
            yield Edit(word.start, word.end, _MODALS[word.folded])
    elif word.folded in _HAVE and word.before not in _BEFORE_INFINITIVE:
        is_adverb = word.after in _ADVERBS or word.after.endswith("ly")
        verb = following.after if is_adverb else word.after
        if verb in _IRREGULAR_PARTICIPLES or (verb.endswith("ed") and verb != "need"):
            yield Edit(word.start, word.end, f"{word.surface} not")
        elif _HAVE_OBJECT.match(sentence, word.end):
            yield Edit(word.start, word.end, f"{_HAVE[word.folded]} not have")


def _insertions_at_verb(sentence: str, words: Sequence[_Word], position: int) -> Iterator[Edit]:
    """Yield "does not cost" for "costs", and "do not pay" for "pay" behind a pronoun."""
    word = words[position]
    if position == 0 or word.before in _NO_NEGATION_BEHIND or word.after in _NO_NEGATION_BEFORE:
        return
    if word.folded in _THIRD_PERSONS and word.before not in _DETERMINERS and word.surface == word.folded:
        yield Edit(word.start, word.end, f"does not {_THIRD_PERSONS[word.folded]}")
    elif word.surface in _THIRD_PERSONS_LIKE_NOUNS and word.before not in _DETERMINERS:
        if OBJECT.match(sentence, word.end):
            yield Edit(word.start, word.end, f"does not {_THIRD_PERSONS_LIKE_NOUNS[word.folded]}")
    elif (
        word.surface in _BASE_FORMS and word.before in _SUBJECTS and words[position - 1].before not in _NO_CLAUSE_BEHIND
    ):
        yield Edit(word.start, word.end, f"do not {word.surface}")
