"""The tables of judging: requests in, the ledger of calls and the verdicts out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.judging import prompts, replies, scores
from hcat.language_models.conversation import KEY_VARIABLE, LEDGER_FIELDS, converse, drop_replays
from hcat.language_models.decisions import open_model, read_probabilities
from hcat.language_models.endpoint import LanguageModel, Service, in_waves
from hcat.language_models.replies import ReplyError, read_reply
from hcat.metrics.answers import check_answer
from hcat.statistics.arrays import Vectors

JUDGE_CALLS_SCHEMA = schema(
    "string: call_id judge_key judge_task subject",
    *LEDGER_FIELDS,
)

VERDICTS_SCHEMA = schema(
    "string: judge_key judge_task subject verdict_status detail rule_status",
    "float64: verdict_score",
    "int64: count_judged",
    "bool: is_cut",
)

_DETAIL_CHARACTERS = 400

#: Texts -> unit vectors, shape (n_texts, n_dimensions).
Embed = Callable[[Sequence[str]], Vectors]


#: Reply and the schema that was sent -> what the reply says.
Read = Callable[[str, Mapping[str, Any]], Any]


class Step(NamedTuple):
    """One question of a task."""

    name: str
    messages: list[dict[str, str]]
    schema: Mapping[str, Any]
    read: Read

    def read_answer(self, answer: str) -> Any:
        """Return what an answer to this question says, by its schema."""
        return self.read(answer, self.schema)


def describe_judge(settings: Mapping[str, Any]) -> pa.Table:
    """Return one row: everything that a verdict depends on besides the texts.

    Raises
    ------
    SettingsError
        If no endpoint or model is named: judging was asked for.
    """
    service = Service(**settings)
    row = {"language_model": service.model, "prompt_revision": _revision(service), "is_deciding": service.is_deciding}
    return pa.Table.from_pylist([row])


def judge_pending(
    requests: pa.Table,
    settings: Mapping[str, Any],
    kept: Iterable[tuple[str, str]] = (),
    written: Iterable[tuple[str, str]] = (),
) -> Iterator[pa.RecordBatch]:
    """Ask the judge for what is requested and yield the ledger of calls (schema :data:`JUDGE_CALLS_SCHEMA`).

    Parameters
    ----------
    requests : Table
        Rows of int_judge_requests in the order in which the budget is spent; a judge_key that stands in several rows
        is asked for once.
    settings : mapping
        Fields of :class:`hcat.language_models.endpoint.Service` without the key, which comes from HCAT_LLM_API_KEY.
    kept : iterable of (str, str)
        Prompt hash and answer of earlier calls.
    written : iterable of (str, str)
        Call id and status of the ledger so far. A reply that is there already is not written again: the row that says
        what it cost stays.

    Raises
    ------
    SettingsError
        If something is requested and the service is not described.
    """
    if requests.num_rows == 0:
        return
    service = Service(**settings, key=os.environ.get(KEY_VARIABLE, ""))
    model = open_model(service, sorted(pair for pair in kept if pair[1] is not None))
    ledger = list(written)
    work = list({row["judge_key"]: row for row in reversed(requests.to_pylist())}.values())[::-1]
    most = max(len(steps_of(row, {"statements": [""]})) for row in work) * (1 + model.service.repairs)
    for rows in in_waves(model, work, most, lambda row: _judge(model, row)):
        yield pa.RecordBatch.from_pylist(drop_replays(rows, ledger), schema=JUDGE_CALLS_SCHEMA)


def read_verdicts(requests: pa.Table, calls: pa.Table, embed: Embed) -> pa.Table:
    """Return one verdict per judge_key, read from the ledger (schema :data:`VERDICTS_SCHEMA`).

    Parameters
    ----------
    requests : Table
        Rows of int_judge_requests.
    calls : Table
        Rows of int_judge_calls; those of other requests are left out.
    embed : callable
        Called once, with the queries and generated questions, and not at all where there are none.
    """
    last: dict[tuple[str, str], dict[str, Any]] = {
        (call["judge_key"], call["step"]): call for call in calls.to_pylist() if call["is_last"]
    }
    work = {row["judge_key"]: row for row in requests.to_pylist()}
    values = {key: _read_steps(row, last) for key, row in sorted(work.items())}
    questions = {
        key: (work[key]["query_text"], value["questions"])
        for key, value in values.items()
        if isinstance(value, dict) and "questions" in value
    }
    texts = sorted({text for query, generated in questions.values() for text in (query, *generated)})
    vectors = dict(zip(texts, embed(texts), strict=True)) if texts else {}
    similarities = {
        key: scores.mean_similarity(vectors[query], np.stack([vectors[each] for each in generated]))
        for key, (query, generated) in questions.items()
    }
    rows = []
    for key, value in values.items():
        row = work[key]
        status, detail, score, count = (
            ("failed", value, None, None) if isinstance(value, str) else _conclude(row, value, similarities.get(key))
        )
        rows.append(
            {
                "judge_key": key,
                "judge_task": row["judge_task"],
                "subject": row["subject"],
                "verdict_status": status,
                "detail": detail[:_DETAIL_CHARACTERS],
                "rule_status": _judge_by_rule(row),
                "verdict_score": score,
                "count_judged": count,
                "is_cut": prompts.is_cut(*_texts_of(row)),
            }
        )
    return pa.Table.from_pylist(rows, schema=VERDICTS_SCHEMA)


# Questions


def steps_of(request: Mapping[str, Any], known: Mapping[str, Any]) -> list[Step]:
    """Return the questions of a request that can be asked now; those that depend on a missing reply are left out."""
    steps = _DECISIONS if request.get("is_deciding") else _STEPS
    return list(steps[request["judge_task"]](request, known))


def _revision(service: Service) -> str:
    """Return the revision of what a judge is asked, which is part of every content key."""
    return prompts.DECISION_REVISION if service.is_deciding else prompts.PROMPT_REVISION


def _member(name: str) -> Read:
    """Return a reader of the member of that name."""
    return lambda said, schema: read_reply(said, schema)[name]


def _faithfulness_steps(request: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[Step]:
    messages = prompts.statements_prompt(request["query_text"], request["answer"])
    yield Step("statements", messages, prompts.STATEMENTS_RESPONSE, _member("statements"))
    statements = known.get("statements")
    if statements is not None:
        messages = prompts.verdicts_prompt(request["contexts"], statements)
        yield Step("verdicts", messages, prompts.verdicts_response(len(statements)), replies.read_verdicts)


def _question_steps(request: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Step]:
    count = int(request["count_questions"])
    messages = prompts.questions_prompt(request["answer"], count)
    yield Step("questions", messages, prompts.questions_response(count), _member("questions"))


def _sentence_steps(request: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Step]:
    count = len(request["context_sentences"])
    messages = prompts.sentences_prompt(request["query_text"], request["contexts"], count)
    yield Step("sentences", messages, prompts.sentences_response(count), replies.read_sentences)


def _rubric_steps(request: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Step]:
    guideline = json.loads(request["guideline"])
    points = [int(row["scale_point"]) for row in guideline]
    texts = (request["query_text"], request["contexts"] or [], request["answer"], request["reference_answer"])
    messages = prompts.rubric_prompt(request["subject"], guideline, *texts)
    yield Step("rubric", messages, prompts.rubric_response(points), _member("score"))


def _score_steps(request: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Step]:
    texts = (request["query_text"], request["contexts"] or [], request["answer"])
    yield Step("score", prompts.score_prompt(request["subject"], *texts), prompts.SCORE_RESPONSE, _member("score"))


def _ranking_steps(request: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Step]:
    # the chunks of both, in an order that does not tell whose they are
    contexts = sorted({*(request["contexts"] or []), *(request["other_contexts"] or [])})
    pair = (request["answer"], request["other_answer"])
    for name, (first, second) in (("in order", pair), ("exchanged", pair[::-1])):
        messages = prompts.ranking_prompt(request["subject"], request["query_text"], contexts, first, second)
        yield Step(name, messages, prompts.RANKING_RESPONSE, replies.read_ranking)


def _selfcheck_steps(request: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Step]:
    sentences = request["answer_sentences"][: prompts.MAXIMUM_STATEMENTS]
    for position, sample in enumerate(request["sample_answers"]):
        messages = prompts.selfcheck_prompt(request["query_text"], sample, sentences)
        schema = prompts.verdicts_response(len(sentences))
        yield Step(f"sample {position}", messages, schema, replies.read_verdicts)


def _correctness_steps(request: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Step]:
    messages = prompts.correctness_prompt(request["query_text"], request["reference_answer"], request["answer"])
    yield Step("correctness", messages, prompts.CORRECTNESS_RESPONSE, _member("verdict"))


_STEPS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[Step]]]] = {
    "faithfulness_llm": _faithfulness_steps,
    "answer_relevance_llm": _question_steps,
    "context_relevance_llm": _sentence_steps,
    "rubric_llm": _rubric_steps,
    "score_llm": _score_steps,
    "ranking_llm": _ranking_steps,
    "selfcheck_llm": _selfcheck_steps,
    "correctness_llm": _correctness_steps,
}


def _rubric_decision(request: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Step]:
    points = {f"point_{row['scale_point']}": row for row in json.loads(request["guideline"])}
    messages = prompts.rubric_decision(request["subject"], points, *_state_of(request))

    def read(said: str, _: Mapping[str, Any]) -> float:
        chances = read_probabilities(said, list(points))
        return sum(chance * int(points[option]["scale_point"]) for option, chance in chances.items())

    yield Step("decision", messages, {}, read)


def _correctness_decision(request: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Step]:
    messages = prompts.correctness_decision(*_state_of(request))

    def read(said: str, _: Mapping[str, Any]) -> float | str:
        chances = read_probabilities(said, prompts.CORRECTNESS)
        right, wrong, undecided = (chances[name] for name in prompts.CORRECTNESS)
        return "undecided" if undecided > max(right, wrong) else right / (right + wrong)

    yield Step("correctness", messages, {}, read)


def _state_of(request: Mapping[str, Any]) -> tuple[str, Sequence[str], str, str | None]:
    return request["query_text"], request["contexts"] or [], request["answer"], request["reference_answer"]


#: What a model that returns probabilities is asked; it has no texts for the other tasks.
_DECISIONS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[Step]]]] = {
    "rubric_llm": _rubric_decision,
    "correctness_llm": _correctness_decision,
}


def _judge(model: LanguageModel, request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Ask all questions of a request; one that brings nothing ends it, because the score would lack it."""
    rows: list[dict[str, Any]] = []
    known: dict[str, Any] = {}
    shared = {name: request[name] for name in ("judge_key", "judge_task", "subject")}
    while pending := [step for step in steps_of(request, known) if step.name not in known]:
        step = pending[0]
        key = hash_text(request["judge_key"], step.name)
        more, value = converse(
            model,
            shared | {"step": step.name},
            key,
            step.messages,
            step.schema,
            step.read_answer,
            _revision(model.service),
        )
        rows += more
        if value is None:
            break
        known[step.name] = value
    return rows


# Verdicts


def _read_steps(request: Mapping[str, Any], last: Mapping[tuple[str, str], Mapping[str, Any]]) -> dict[str, Any] | str:
    """Return the value of every step of a request, or why one is missing."""
    known: dict[str, Any] = {}
    while pending := [step for step in steps_of(request, known) if step.name not in known]:
        step = pending[0]
        call = last.get((request["judge_key"], step.name))
        if call is None:
            return f"{step.name}: not asked"
        if call["call_status"] != "answered":
            return f"{step.name}: {call['call_status']}: {call['status_detail']}"
        try:
            known[step.name] = step.read(call["answer"], step.schema)
        except ReplyError as error:
            return f"{step.name}: invalid_reply: {error}"
    return known


def _conclude(
    request: Mapping[str, Any], values: Mapping[str, Any], similarity: float | None
) -> tuple[str, str, float | None, int | None]:
    """Return status, detail, score and number of judged parts."""
    task = request["judge_task"]
    if task == "faithfulness_llm":
        verdicts = values["verdicts"]
        detail = f"{sum(verdicts)} of {len(verdicts)} statements supported"
        return "judged", detail, scores.share_supported(verdicts), len(verdicts)
    if task == "answer_relevance_llm":
        detail = "generated: " + " | ".join(values["questions"])
        return "judged", detail, similarity, len(values["questions"])
    if task == "context_relevance_llm":
        found = scores.share_extracted(values["sentences"], request["context_sentences"])
        detail = f"{found.count_verbatim} of {found.count_sentences} sentences extracted word for word"
        detail += f", {found.count_changed} others not counted" if found.count_changed else ""
        return "judged", detail, found.score, found.count_sentences
    if task == "selfcheck_llm":
        verdicts_by_sample = list(values.values())
        detail = f"{len(verdicts_by_sample)} other answers"
        return "judged", detail, scores.consistency(verdicts_by_sample), len(verdicts_by_sample)
    if task == "ranking_llm":
        preference = scores.combine_orders(values["in order"], values["exchanged"])
        if preference == "inconsistent":
            return "no_verdict", "inconsistent: the order in which the answers were shown decided", None, None
        return "judged", f"the {preference} of both answers in both orders", float(preference == "first"), 2
    if task == "correctness_llm":
        if values["correctness"] == "undecided":
            return "no_verdict", "undecided: the reference answer does not tell", None, None
        if isinstance(values["correctness"], float):
            return "judged", f"correct with probability {values['correctness']:.3g}", values["correctness"], 1
        return "judged", values["correctness"], float(values["correctness"] == "correct"), 1
    (value,) = values.values()
    return "judged", f"{request['subject']} {value:g}", float(value), 1


def _judge_by_rule(request: Mapping[str, Any]) -> str | None:
    """Return what the rules of :mod:`hcat.metrics.answers` say where the judge was asked the same."""
    if request["judge_task"] != "correctness_llm":
        return None
    return check_answer(request["answer"], request["reference_answer"], request["query_text"]).status


def _texts_of(request: Mapping[str, Any]) -> tuple[list[str | None], list[str]]:
    """Return the texts and the chunks that the prompts of a request hold."""
    task = request["judge_task"]
    texts: list[str | None] = [request["query_text"], request["answer"]]
    contexts: list[str] = []
    if task in ("faithfulness_llm", "context_relevance_llm", "rubric_llm", "score_llm"):
        contexts = request["contexts"] or []
    if task == "ranking_llm":
        texts.append(request["other_answer"])
        if request["subject"] == "faithfulness":
            contexts = sorted({*(request["contexts"] or []), *(request["other_contexts"] or [])})
    if task in ("rubric_llm", "correctness_llm"):
        texts.append(request["reference_answer"])
    if task == "selfcheck_llm":
        texts += request["sample_answers"]
        texts += request["answer_sentences"][prompts.MAXIMUM_STATEMENTS :] and [None]
    return texts, contexts
