"""Find the longest run of words that an answer copies from its context, in time linear in both."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.metrics.texts import to_batch

COPIED_SCHEMA: Final = schema(
    "string: interaction_id input_key", "int32: first_copied_word count_copied_words count_answer_words"
)

COPIED_LISTS: Final = ("answer_text_ids", "context_text_ids")
"""List columns of an interaction whose texts are compared."""

_WORD = re.compile(r"\w+", re.UNICODE)


class Run(NamedTuple):
    """A run of words: the position of its first word in the answer, and its length in words."""

    start: int
    length: int


class WordAutomaton:
    """Suffix automaton over the words of a text: accepts each run of consecutive words (Blumer et al. 1985)."""

    def __init__(self, words: Sequence[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._link, self._length, self._end = [-1], [0], [-1]
        last = 0
        for position, word in enumerate(words):
            last = self._extend(last, word, position)

    def _extend(self, last: int, word: str, position: int) -> int:
        current = self._add({}, self._length[last] + 1, position)
        state = last
        while state >= 0 and word not in self._next[state]:
            self._next[state][word] = current
            state = self._link[state]
        if state < 0:
            self._link[current] = 0
            return current
        target = self._next[state][word]
        if self._length[target] == self._length[state] + 1:
            self._link[current] = target
            return current
        clone = self._add(dict(self._next[target]), self._length[state] + 1, self._end[target])
        self._link[clone] = self._link[target]
        while state >= 0 and self._next[state].get(word) == target:
            self._next[state][word] = clone
            state = self._link[state]
        self._link[target] = self._link[current] = clone
        return current

    def _add(self, following: dict[str, int], length: int, end: int) -> int:
        self._next.append(following)
        self._link.append(0)
        self._length.append(length)
        self._end.append(end)
        return len(self._next) - 1

    def longest_run(self, words: Iterable[str]) -> Run:
        """Return the longest run of the automaton's text that ``words`` also hold, the first among equals."""
        state = length = best_start = best_length = 0
        for word in words:
            following = self._next[state].get(word)
            while following is None and state:
                state = self._link[state]
                length = self._length[state]
                following = self._next[state].get(word)
            if following is None:
                continue
            state = following
            length += 1
            start = self._end[state] - length + 1
            if length > best_length or (length == best_length and start < best_start):
                best_start, best_length = start, length
        return Run(best_start, best_length)


def longest_copy(answer: str, contexts: Sequence[str]) -> tuple[Run, int]:
    """Return the longest copied run, and the number of words of the answer."""
    words = _WORD.findall(answer.lower())
    automaton = WordAutomaton(words)
    runs = [automaton.longest_run(word.lower() for word in _WORD.findall(context)) for context in contexts]
    return max(runs, key=lambda run: (run.length, -run.start)), len(words)


def measure_copies(batch: pa.RecordBatch, texts: pa.Table) -> pa.RecordBatch:
    """Return one row per interaction that has an answer and a context (schema :data:`COPIED_SCHEMA`).

    Parameters
    ----------
    batch : RecordBatch
        Columns interaction_id, input_key and the lists :data:`COPIED_LISTS`. The sentences of all contexts are joined,
        so that a copied paragraph is one run.
    texts : Table
        Columns text_id, encoded_text; at least the texts that the batch names.
    """
    known = dict(zip(texts["text_id"].to_pylist(), texts["encoded_text"].to_pylist(), strict=True))
    rows: list[tuple[Any, ...]] = []
    names = ("interaction_id", "input_key", *COPIED_LISTS)
    for interaction_id, input_key, answer_ids, context_ids in zip(
        *[batch.column(name).to_pylist() for name in names], strict=True
    ):
        if not answer_ids or not context_ids:
            continue
        answer = " ".join(known[text_id] for text_id in answer_ids)
        run, total = longest_copy(answer, [" ".join(known[text_id] for text_id in context_ids)])
        rows.append((interaction_id, input_key, run.start + 1, run.length, total))
    return to_batch(rows, COPIED_SCHEMA)
