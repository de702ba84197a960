"""The questions that a judge is asked, by task: prompt, JSON schema of the reply, and how it is read."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from hcat.judging.replies import INSUFFICIENT, read_ranking, read_sentences, read_verdicts
from hcat.language_models.decisions import read_probabilities, write_question
from hcat.language_models.prompts import TEXT, list_of, object_of, read_texts, write_messages
from hcat.language_models.replies import read_reply

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

MAXIMUM_SCORE: Final = 10
"""Upper end of the baseline's scale (RAGAS section 5: "in the range 0-10")."""

CORRECTNESS: Final = ("correct", "incorrect", "undecided")

_TEXTS: Final = read_texts(__file__)

DEFINITIONS: Final[Mapping[str, str]] = _TEXTS["definitions"]
"""Of the baselines, by dimension. The first two are quoted from section 5, the third from section 3."""

#: Dimension -> its name in the prompts, what a score is given to, and the text that this leaves out.
_BASELINES: Final[Mapping[str, tuple[str, str, str]]] = _TEXTS["baselines"]

STATEMENTS_RESPONSE: Final = object_of({"statements": list_of(TEXT, 1, MAXIMUM_STATEMENTS)})


def verdicts_response(count: int) -> Mapping[str, Any]:
    """Return the JSON schema of ``count`` verdicts, each behind its explanation."""
    verdict = object_of({"explanation": TEXT, "verdict": {"enum": ["Yes", "No"]}})
    return object_of({"verdicts": list_of(verdict, count, count)})


SCORE_RESPONSE: Final = object_of({"score": {"type": "number", "minimum": 0, "maximum": MAXIMUM_SCORE}})
RANKING_RESPONSE: Final = object_of({"ranking": list_of({"enum": [1, 2]}, 2, 2)})
CORRECTNESS_RESPONSE: Final = object_of({"reason": TEXT, "verdict": {"enum": list(CORRECTNESS)}})

#: A row of int_judge_requests.
Request = Mapping[str, Any]


class Step(NamedTuple):
    """One question of a task."""

    name: str
    messages: list[dict[str, str]]
    schema: Mapping[str, Any]
    read: Callable[[str], Any]


def steps_of(request: Request, known: Mapping[str, Any]) -> list[Step]:
    """Return the questions of a request that can be asked now; those that depend on a missing reply are left out."""
    steps = _DECISIONS if request.get("is_deciding") else _STEPS
    return list(steps[request["judge_task"]](request, known))


def _faithfulness(request: Request, known: Mapping[str, Any]) -> Iterator[Step]:
    """Ask for the statements of an answer, then which of them the context supports (RAGAS section 3, faithfulness)."""
    data: dict[str, Any] = {"question": cut(request["query_text"]), "answer": cut(request["answer"])}
    shown = {"demonstration": _TEXTS["demonstration"]}
    yield _step("statements", _TEXTS["statements"], data, STATEMENTS_RESPONSE, _member("statements"), shown)
    if "statements" in known:
        data = {"context": cut_contexts(request["contexts"]), "statements": known["statements"]}
        yield _step("verdicts", _TEXTS["verdicts"], data, verdicts_response(len(known["statements"])), read_verdicts)


def _answer_relevance(request: Request, _: Mapping[str, Any]) -> Iterator[Step]:
    """Ask for questions which the answer answers."""
    count = int(request["count_questions"])
    more = "" if count == 1 else f" Do it {count} times, each time with another question."
    schema = object_of({"questions": list_of(TEXT, count, count)})
    yield _step(
        "questions", _TEXTS["question"] + more, {"answer": cut(request["answer"])}, schema, _member("questions")
    )


def _context_relevance(request: Request, _: Mapping[str, Any]) -> Iterator[Step]:
    """Ask for the sentences of a context that matter, or for the phrase as the only one."""
    data = {"question": cut(request["query_text"]), "context": cut_contexts(request["contexts"])}
    schema = object_of({"sentences": list_of(TEXT, 1, max(len(request["context_sentences"]), 1))})
    yield _step("sentences", _TEXTS["sentences"].format(phrase=INSUFFICIENT), data, schema, read_sentences)


def _rubric(request: Request, _: Mapping[str, Any]) -> Iterator[Step]:
    """Ask for a scale point of one criterion, by the guideline that raters read."""
    task = _TEXTS["rubric"].format(criterion=request["subject"])
    guideline = json.loads(request["guideline"])
    scale = [f"{row['scale_point']} ({row['scale_label']}): {row['guideline_text']}" for row in guideline]
    schema = object_of({"reason": TEXT, "score": {"enum": [int(row["scale_point"]) for row in guideline]}})
    yield _step("rubric", task, _state(request), schema, _member("score"), {"guideline": scale})


def _score(request: Request, _: Mapping[str, Any]) -> Iterator[Step]:
    """Ask the baseline for a score from 0 to 10 (RAGAS section 5, GPT Score)."""
    name, given, omitted = _baseline_of(request)
    task = f"{DEFINITIONS[request['subject']]} Given {given}, assign a score for {name} in the range 0-{MAXIMUM_SCORE}."
    data = {name: text for name, text in _state(request).items() if name not in (omitted, "reference_answer")}
    yield _step("score", task, data, SCORE_RESPONSE, _member("score"))


def _ranking(request: Request, _: Mapping[str, Any]) -> Iterator[Step]:
    """Ask the baseline to rank two answers, in both orders (RAGAS section 5, GPT Ranking)."""
    name, _given, _omitted = _baseline_of(request)
    context = "context, " if request["subject"] == "faithfulness" else ""
    task = f"{DEFINITIONS[request['subject']]} {_TEXTS['ranking'].format(context=context, name=name)}"
    data: dict[str, Any] = {"question": cut(request["query_text"])}
    if context:
        data["context"] = cut_contexts(contexts_of_both(request))
    pair = (cut(request["answer"]), cut(request["other_answer"]))
    for order, (first, second) in (("in order", pair), ("exchanged", pair[::-1])):
        yield _step(order, task, data | {"answer 1": first, "answer 2": second}, RANKING_RESPONSE, read_ranking)


def _selfcheck(request: Request, _: Mapping[str, Any]) -> Iterator[Step]:
    """Ask which sentences of the answer another answer to the same question supports."""
    sentences = [cut(each) for each in request["answer_sentences"][:MAXIMUM_STATEMENTS]]
    schema = verdicts_response(len(sentences))
    for position, sample in enumerate(request["sample_answers"]):
        data = {"question": cut(request["query_text"]), "context": [cut(sample)], "sentences": sentences}
        yield _step(f"sample {position}", _TEXTS["selfcheck"], data, schema, read_verdicts)


def _correctness(request: Request, _: Mapping[str, Any]) -> Iterator[Step]:
    """Ask whether an answer says what the reference answer says."""
    names = {"question": "query_text", "reference_answer": "reference_answer", "answer": "answer"}
    data = {name: cut(request[column]) for name, column in names.items()}
    yield _step("correctness", _TEXTS["correctness"], data, CORRECTNESS_RESPONSE, _member("verdict"))


def _rubric_decision(request: Request, _: Mapping[str, Any]) -> Iterator[Step]:
    """Ask which scale point of one criterion fits, for a judge that returns probabilities."""
    points = {f"point_{row['scale_point']}": row for row in json.loads(request["guideline"])}
    options = {name: f"{row['scale_label']}: {row['guideline_text']}" for name, row in points.items()}
    instructions = f"Which text of the guideline for the criterion {request['subject']} fits the answer best?"

    def read(said: str) -> float:
        chances = read_probabilities(said, list(points))
        return sum(chance * int(points[option]["scale_point"]) for option, chance in chances.items())

    yield Step("decision", write_question(_state(request), instructions, options), {}, read)


def _correctness_decision(request: Request, _: Mapping[str, Any]) -> Iterator[Step]:
    """Ask whether an answer says what the reference answer says, for a judge of the same kind."""
    options = _TEXTS["verdicts_of_correctness"]
    instructions = "Does the answer say what the reference answer says, which is true?"

    def read(said: str) -> float | str:
        right, wrong, undecided = read_probabilities(said, CORRECTNESS).values()
        return "undecided" if undecided > max(right, wrong) else right / (right + wrong)

    yield Step("correctness", write_question(_state(request), instructions, options), {}, read)


_Ask = Callable[[Request, Mapping[str, Any]], Iterator[Step]]
_STEPS: Final[Mapping[str, _Ask]] = {
    "faithfulness_llm": _faithfulness,
    "answer_relevance_llm": _answer_relevance,
    "context_relevance_llm": _context_relevance,
    "rubric_llm": _rubric,
    "score_llm": _score,
    "ranking_llm": _ranking,
    "selfcheck_llm": _selfcheck,
    "correctness_llm": _correctness,
}
#: What a model that returns probabilities is asked; it has no texts for the other tasks.
_DECISIONS: Final[Mapping[str, _Ask]] = {"rubric_llm": _rubric_decision, "correctness_llm": _correctness_decision}


def _state(request: Request) -> dict[str, Any]:
    texts = {"question": cut(request["query_text"]), "context": cut_contexts(request["contexts"] or [])}
    texts["answer"], reference = cut(request["answer"]), request["reference_answer"]
    return texts if reference is None else texts | {"reference_answer": cut(reference)}


def contexts_of_both(request: Request) -> list[str]:
    """Return the chunks of both answers of a ranking, in an order that does not tell whose they are."""
    return sorted({*(request["contexts"] or []), *(request["other_contexts"] or [])})


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


def _baseline_of(request: Request) -> tuple[str, str, str]:
    if request["subject"] not in _BASELINES:
        raise ValueError(f"dimension must be one of {', '.join(_BASELINES)}, got {request['subject']!r}")
    return _BASELINES[request["subject"]]


def _member(name: str) -> Callable[..., Any]:
    """Return a reader of the member of that name."""
    return lambda said, schema: read_reply(said, schema)[name]


def _step(
    name: str,
    task: str,
    data: Mapping[str, Any],
    schema: Mapping[str, Any],
    read: Callable[..., Any],
    more: Mapping[str, Any] | None = None,
) -> Step:
    content = {"task": task, **(more or {}), "data": data, "schema": schema}
    return Step(name, write_messages(_TEXTS["system"], content), schema, partial(read, schema=schema))
