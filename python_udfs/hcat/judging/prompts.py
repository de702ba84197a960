"""Prompts and JSON schemas of the questions that a judge is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hcat.language_models.decisions import write_question
from hcat.language_models.prompts import TEXT, list_of, object_of, read_texts, write_messages

PROMPT_REVISION: Final = "judge prompts 1"
"""Raised when a word of the prompts changes; it is part of every content key."""

DECISION_REVISION: Final = "judge decisions 1"
"""The same for a judge that returns probabilities."""

MAXIMUM_TEXT_CHARACTERS: Final = 12_000
"""Of a query, an answer or a chunk; what is cut makes the score ``truncated``."""

MAXIMUM_CONTEXT_CHARACTERS: Final = 40_000
"""Of all chunks together: about 10,000 tokens."""

MAXIMUM_STATEMENTS: Final = 40
"""Statements of an answer, and sentences of it that SelfCheck reads."""

INSUFFICIENT: Final = "Insufficient Information"
"""The phrase of RAGAS for a context that answers nothing (section 3, context relevance)."""

MAXIMUM_SCORE: Final = 10
"""Upper end of the baseline's scale (RAGAS section 5: "in the range 0-10")."""

CORRECTNESS: Final = ("correct", "incorrect", "undecided")

_TEXTS: Final = read_texts(__file__)

_STATEMENTS_DEMONSTRATION: Mapping[str, Any] = {
    "data": {
        "question": "Who was Albert Einstein and what is he known for?",
        "answer": "He was a German-born physicist. He is known for the theory of relativity and for quantum mechanics.",
    },
    "reply": {
        "statements": [
            "Albert Einstein was a German-born physicist.",
            "Albert Einstein is known for the theory of relativity.",
            "Albert Einstein is known for quantum mechanics.",
        ]
    },
}
DEFINITIONS: Final[Mapping[str, str]] = _TEXTS["definitions"]
"""Of the baselines, by dimension. The first two are quoted from section 5, the third from section 3."""

_NAMES = {
    "faithfulness": "faithfulness",
    "answer_relevance": "Answer Relevancy",
    "context_relevance": "Context Relevance",
}


STATEMENTS_RESPONSE: Final = object_of({"statements": list_of(TEXT, 1, MAXIMUM_STATEMENTS)})


def verdicts_response(count: int) -> Mapping[str, Any]:
    """Return the JSON schema of ``count`` verdicts, each behind its explanation."""
    verdict = object_of({"explanation": TEXT, "verdict": {"enum": ["Yes", "No"]}})
    return object_of({"verdicts": list_of(verdict, count, count)})


def questions_response(count: int) -> Mapping[str, Any]:
    """Return the JSON schema of ``count`` questions."""
    return object_of({"questions": list_of(TEXT, count, count)})


def sentences_response(count: int) -> Mapping[str, Any]:
    """Return the JSON schema of at most ``count`` extracted sentences, or of the phrase as the only one."""
    return object_of({"sentences": list_of(TEXT, 1, max(count, 1))})


def rubric_response(points: Sequence[int]) -> Mapping[str, Any]:
    """Return the JSON schema of a reason and a scale point."""
    return object_of({"reason": TEXT, "score": {"enum": list(points)}})


SCORE_RESPONSE: Final = object_of({"score": {"type": "number", "minimum": 0, "maximum": MAXIMUM_SCORE}})
RANKING_RESPONSE: Final = object_of({"ranking": list_of({"enum": [1, 2]}, 2, 2)})
CORRECTNESS_RESPONSE: Final = object_of({"reason": TEXT, "verdict": {"enum": list(CORRECTNESS)}})


def statements_prompt(question: str, answer: str) -> list[dict[str, str]]:
    """Return the messages that ask for the statements of an answer (RAGAS section 3, faithfulness, first prompt)."""
    data = {"question": cut(question), "answer": cut(answer)}
    return _messages(_TEXTS["statements"], data, STATEMENTS_RESPONSE, _STATEMENTS_DEMONSTRATION)


def verdicts_prompt(contexts: Sequence[str], statements: Sequence[str]) -> list[dict[str, str]]:
    """Return the messages that ask which statements a context supports (faithfulness, second prompt)."""
    data = {"context": cut_contexts(contexts), "statements": list(statements)}
    return _messages(_TEXTS["verdicts"], data, verdicts_response(len(statements)))


def questions_prompt(answer: str, count: int) -> list[dict[str, str]]:
    """Return the messages that ask for ``count`` questions which an answer answers (answer relevance)."""
    more = "" if count == 1 else f" Do it {count} times, each time with another question."
    task = _TEXTS["question"] + more
    return _messages(task, {"answer": cut(answer)}, questions_response(count))


def sentences_prompt(question: str, contexts: Sequence[str], count: int) -> list[dict[str, str]]:
    """Return the messages that ask for the sentences of a context that matter (context relevance)."""
    data = {"question": cut(question), "context": cut_contexts(contexts)}
    return _messages(_TEXTS["sentences"].format(phrase=INSUFFICIENT), data, sentences_response(count))


def rubric_prompt(
    criterion: str,
    guideline: Sequence[Mapping[str, Any]],
    question: str,
    contexts: Sequence[str],
    answer: str,
    reference: str | None,
) -> list[dict[str, str]]:
    """Return the messages that ask for a scale point of one criterion, by the guideline that raters read."""
    task = (
        f"Rate the answer by the criterion {criterion}. Choose the scale point of the guideline whose text fits best: "
        f"first give the reason in one sentence, then the score."
    )
    points = [int(row["scale_point"]) for row in guideline]
    scale = [f"{row['scale_point']} ({row['scale_label']}): {row['guideline_text']}" for row in guideline]
    data = {"question": cut(question), "context": cut_contexts(contexts), "answer": cut(answer)}
    if reference is not None:
        data["reference_answer"] = cut(reference)
    return _messages(task, data, rubric_response(points), guideline=scale)


def score_prompt(dimension: str, question: str, contexts: Sequence[str], answer: str) -> list[dict[str, str]]:
    """Return the messages of the baseline that asks for a score from 0 to 10 (RAGAS section 5, GPT Score)."""
    given = {"faithfulness": "an answer and context", "answer_relevance": "a question and answer"}
    name = _name_of(dimension)
    task = (
        f"{DEFINITIONS[dimension]} Given {given.get(dimension, 'a question and context')}, assign a score for {name} "
        f"in the range 0-{MAXIMUM_SCORE}."
    )
    data: dict[str, Any] = {}
    if dimension != "faithfulness":
        data["question"] = cut(question)
    if dimension != "answer_relevance":
        data["context"] = cut_contexts(contexts)
    if dimension != "context_relevance":
        data["answer"] = cut(answer)
    return _messages(task, data, SCORE_RESPONSE)


def ranking_prompt(
    dimension: str, question: str, contexts: Sequence[str], first: str, second: str
) -> list[dict[str, str]]:
    """Return the messages of the baseline that ranks two answers to a question (RAGAS section 5, GPT Ranking)."""
    name = _name_of(dimension)
    context = "context, " if dimension == "faithfulness" else ""
    task = (
        f"{DEFINITIONS[dimension]} Given a question, {context}answer 1 and answer 2, rank each answer based on {name}: "
        "the number of the better one first."
    )
    data: dict[str, Any] = {"question": cut(question)}
    if dimension == "faithfulness":
        data["context"] = cut_contexts(contexts)
    return _messages(task, data | {"answer 1": cut(first), "answer 2": cut(second)}, RANKING_RESPONSE)


def selfcheck_prompt(question: str, sample: str, sentences: Sequence[str]) -> list[dict[str, str]]:
    """Return the messages that ask which sentences of an answer another answer to the same question supports."""
    data = {"question": cut(question), "context": [cut(sample)], "sentences": [cut(each) for each in sentences]}
    return _messages(_TEXTS["selfcheck"], data, verdicts_response(len(sentences)))


def correctness_prompt(question: str, reference: str, answer: str) -> list[dict[str, str]]:
    """Return the messages that ask whether an answer says what the reference answer says."""
    data = {"question": cut(question), "reference_answer": cut(reference), "answer": cut(answer)}
    return _messages(_TEXTS["correctness"], data, CORRECTNESS_RESPONSE)


def rubric_decision(
    criterion: str,
    points: Mapping[str, Mapping[str, Any]],
    question: str,
    contexts: Sequence[str],
    answer: str,
    reference: str | None,
) -> list[dict[str, str]]:
    """Return the question which scale point of one criterion fits, for a judge that returns probabilities."""
    options = {name: f"{row['scale_label']}: {row['guideline_text']}" for name, row in points.items()}
    instructions = f"Which text of the guideline for the criterion {criterion} fits the answer best?"
    return write_question(_state(question, contexts, answer, reference), instructions, options)


def correctness_decision(
    question: str, contexts: Sequence[str], answer: str, reference: str | None
) -> list[dict[str, str]]:
    """Return the question whether an answer says what the reference answer says, for a judge of the same kind."""
    options = {
        "correct": "It says the same in any words and contradicts it nowhere",
        "incorrect": "It says something else or declines",
        "undecided": "The reference answer does not tell",
    }
    instructions = "Does the answer say what the reference answer says, which is true?"
    return write_question(_state(question, contexts, answer, reference), instructions, options)


def _state(question: str, contexts: Sequence[str], answer: str, reference: str | None) -> dict[str, Any]:
    texts = {"question": cut(question), "context": cut_contexts(contexts), "answer": cut(answer)}
    return texts | ({} if reference is None else {"reference_answer": cut(reference)})


def cut(text: str) -> str:
    """Return the beginning of a text as far as prompts hold it."""
    return text[:MAXIMUM_TEXT_CHARACTERS]


def cut_contexts(contexts: Sequence[str]) -> list[str]:
    """Return the chunks in their order, as far as prompts hold them."""
    kept: list[str] = []
    left = MAXIMUM_CONTEXT_CHARACTERS
    for context in contexts:
        if left <= 0:
            break
        kept.append(cut(context)[:left])
        left -= len(kept[-1])
    return kept


def is_cut(texts: Sequence[str | None], contexts: Sequence[str]) -> bool:
    """Return whether prompts hold less than the texts and chunks."""
    return any(text is not None and cut(text) != text for text in texts) or cut_contexts(contexts) != list(contexts)


def _name_of(dimension: str) -> str:
    if dimension not in _NAMES:
        raise ValueError(f"dimension must be one of {', '.join(_NAMES)}, got {dimension!r}")
    return _NAMES[dimension]


def _messages(
    task: str,
    data: Mapping[str, Any],
    schema: Mapping[str, Any],
    demonstration: Mapping[str, Any] | None = None,
    guideline: Sequence[str] | None = None,
) -> list[dict[str, str]]:
    content: dict[str, Any] = {"task": task}
    if guideline is not None:
        content["guideline"] = list(guideline)
    if demonstration is not None:
        content["demonstration"] = demonstration
    content |= {"data": data, "schema": schema}
    return write_messages(_TEXTS["system"], content)
