"""The tables of judging: requests in, the ledger of calls and the verdicts out."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.judging import prompts, scores
from hcat.language_models.conversation import KEY_VARIABLE, LEDGER_FIELDS, converse, drop_replays
from hcat.language_models.decisions import open_model
from hcat.language_models.endpoint import LanguageModel, Service, SettingsError, in_waves
from hcat.language_models.replies import ReplyError
from hcat.metrics.answers import check_answer
from hcat.statistics.arrays import Vectors

JUDGE_CALLS_SCHEMA = schema("string: call_id judge_key judge_task subject", *LEDGER_FIELDS)

VERDICTS_SCHEMA = schema(
    "string: judge_key judge_task subject verdict_status detail rule_status",
    "float64: verdict_score",
    "int64: count_judged",
    "bool: is_cut",
)


def read_judges(settings: Mapping[str, Any], listed: Any = True) -> dict[str, Service]:
    """Return the judges of a build by what their metrics end in: the endpoint of the build, and those of a list.

    Parameters
    ----------
    settings : mapping
        Fields of :class:`hcat.language_models.endpoint.Service` without the key, which comes from HCAT_LLM_API_KEY.
    listed : list of mapping, or True
        Further judges: `name`, `url`, `model` and perhaps `key`, the variable of the environment that holds its key.

    Raises
    ------
    SettingsError
        If a judge has no endpoint or model of its own: judging was asked for.
    """
    judges = {"": Service(**settings, key=os.environ.get(KEY_VARIABLE, ""))}
    for each in listed if isinstance(listed, list) else []:
        taken = {service.model for service in judges.values()}
        if not {"name", "url", "model"} <= set(each) <= {"name", "url", "model", "key"} or each["model"] in taken:
            raise SettingsError(f"hcat_judge: a judge has a name, a url, a model of its own, perhaps a key; got {each}")
        if "key" in each and each["key"] not in os.environ:
            raise SettingsError(f"hcat_judge: the environment has no {each['key']}, the key of {each['name']}")
        # the key of one host is not sent to another
        own = {"base_url": each["url"], "model": each["model"], "key": os.environ.get(each.get("key", ""), "")}
        judges[f"@{each['name']}"] = Service(**{**settings, **own})
    return judges


def describe_judges(settings: Mapping[str, Any], listed: Any = True) -> pa.Table:
    """Return one row per judge: everything that a verdict depends on besides the texts."""
    judges = read_judges(settings, listed)
    columns = {
        "metric_suffix": list(judges),
        "language_model": [service.model for service in judges.values()],
        "prompt_revision": [_revision(service) for service in judges.values()],
        "is_deciding": [service.is_deciding for service in judges.values()],
    }
    return pa.table(columns)


def judge_pending(
    requests: pa.Table,
    judges: Mapping[str, Service],
    kept: Iterable[tuple[str, str]] = (),
    written: Iterable[tuple[str, str]] = (),
) -> Iterator[pa.RecordBatch]:
    """Ask each judge for what is requested of it and yield the ledger of calls (schema :data:`JUDGE_CALLS_SCHEMA`).

    Parameters
    ----------
    requests : Table
        Rows of int_judge_requests in the order in which the budget is spent; a judge_key that stands in several rows
        is asked for once.
    judges : mapping
        What :func:`read_judges` returns. Each judge has the whole budget of a build.
    kept : iterable of (str, str)
        Prompt hash and answer of earlier calls.
    written : iterable of (str, str)
        Call id and status of the ledger so far. A reply that is there already is not written again: the row that says
        what it cost stays.
    """
    answered, ledger = sorted(pair for pair in kept if pair[1] is not None), list(written)
    work = list({row["judge_key"]: row for row in reversed(requests.to_pylist())}.values())[::-1]
    for suffix, service in judges.items():
        model = open_model(service, answered)
        own = [row for row in work if row["metric_suffix"] == suffix]
        steps = max((len(prompts.steps_of(row, {"statements": [""]})) for row in own), default=0)
        for rows in in_waves(model, own, steps * (1 + model.service.repairs), partial(_judge, model)):
            yield pa.RecordBatch.from_pylist(drop_replays(rows, ledger), schema=JUDGE_CALLS_SCHEMA)


def read_verdicts(requests: pa.Table, calls: pa.Table, embed: Callable[[Sequence[str]], Vectors]) -> pa.Table:
    """Return one verdict per judge_key, read from the ledger (schema :data:`VERDICTS_SCHEMA`).

    Parameters
    ----------
    requests : Table
        Rows of int_judge_requests.
    calls : Table
        Rows of int_judge_calls; those of other requests are left out.
    embed : callable
        Texts -> unit vectors; called once, with the queries and generated questions, if there are any.
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
        # what the rules say where the judge was asked the same
        given = [row[name] for name in ("answer", "reference_answer", "query_text")]
        rule_status = check_answer(*given).status if row["judge_task"] == "correctness_llm" else None
        rows.append(
            {
                "judge_key": key,
                "judge_task": row["judge_task"],
                "subject": row["subject"],
                "verdict_status": status,
                "detail": detail[:400],
                "rule_status": rule_status,
                "verdict_score": score,
                "count_judged": count,
                "is_cut": prompts.is_cut(*_texts_of(row)),
            }
        )
    return pa.Table.from_pylist(rows, schema=VERDICTS_SCHEMA)


def _revision(service: Service) -> str:
    """Return the revision of what a judge is asked, which is part of every content key."""
    return prompts.DECISION_REVISION if service.is_deciding else prompts.PROMPT_REVISION


def _judge(model: LanguageModel, request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Ask all questions of a request; one that brings nothing ends it, because the score would lack it."""
    rows: list[dict[str, Any]] = []
    known: dict[str, Any] = {}
    shared = {name: request[name] for name in ("judge_key", "judge_task", "subject")}
    while step := next((step for step in prompts.steps_of(request, known) if step.name not in known), None):
        key = hash_text(request["judge_key"], step.name)
        named = shared | {"step": step.name}
        more, value = converse(model, named, key, *step[1:], revision=_revision(model.service))
        rows += more
        if value is None:
            break
        known[step.name] = value
    return rows


# Verdicts


def _read_steps(request: Mapping[str, Any], last: Mapping[tuple[str, str], Mapping[str, Any]]) -> dict[str, Any] | str:
    """Return the value of every step of a request, or why one is missing."""
    known: dict[str, Any] = {}
    while step := next((step for step in prompts.steps_of(request, known) if step.name not in known), None):
        call = last.get((request["judge_key"], step.name))
        if call is None:
            return f"{step.name}: not asked"
        if call["call_status"] != "answered":
            return f"{step.name}: {call['call_status']}: {call['status_detail']}"
        try:
            known[step.name] = step.read(call["answer"])
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
        return "judged", detail, sum(verdicts) / len(verdicts), len(verdicts)
    if task == "answer_relevance_llm":
        detail = f"{len(values['questions'])} questions generated"
        return "judged", detail, similarity, len(values["questions"])
    if task == "context_relevance_llm":
        found = scores.share_extracted(values["sentences"], request["context_sentences"])
        detail = f"{found.count_verbatim} of {found.count_sentences} sentences extracted word for word"
        detail += f", {found.count_changed} others not counted" if found.count_changed else ""
        return "judged", detail, found.score, found.count_sentences
    if task == "selfcheck_llm":
        # of all (sentence, other answer) pairs, those in which the other answer supports the sentence
        verdicts = list(chain.from_iterable(values.values()))
        return "judged", f"{len(values)} other answers", sum(verdicts) / len(verdicts), len(values)
    if task == "ranking_llm":
        if values["in order"] == values["exchanged"]:
            return "no_verdict", "inconsistent: the order in which the answers were shown decided", None, None
        is_first = values["in order"] == 1
        detail = f"the {'first' if is_first else 'second'} of both answers in both orders"
        return "judged", detail, float(is_first), 2
    if task == "correctness_llm":
        if values["correctness"] == "undecided":
            return "no_verdict", "undecided: the reference answer does not tell", None, None
        if isinstance(values["correctness"], float):
            return "judged", f"correct with probability {values['correctness']:.3g}", values["correctness"], 1
        return "judged", values["correctness"], float(values["correctness"] == "correct"), 1
    (value,) = values.values()
    return "judged", f"{request['subject']} {value:g}", float(value), 1


def _texts_of(request: Mapping[str, Any]) -> tuple[list[str | None], list[str]]:
    """Return the texts and the chunks that the prompts of a request hold."""
    task = request["judge_task"]
    texts: list[str | None] = [request["query_text"], request["answer"]]
    if task == "selfcheck_llm":
        texts += [*request["sample_answers"], *(request["answer_sentences"][prompts.MAXIMUM_STATEMENTS :] and [None])]
    texts += [request["other_answer"]] if task == "ranking_llm" else []
    texts += [request["reference_answer"]] if task in ("rubric_llm", "correctness_llm") else []
    if task == "ranking_llm" and request["subject"] == "faithfulness":
        return texts, prompts.contexts_of_both(request)
    is_shown = task in ("faithfulness_llm", "context_relevance_llm", "rubric_llm", "score_llm")
    return texts, (request["contexts"] or []) if is_shown else []
