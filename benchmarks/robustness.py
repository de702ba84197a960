"""Robustness by a real build: an application with planted faults answers queries made from tables.

GRAMMAR makes the queries and their true answers from the relational demo, `examples/relational_application` answers
them with faults of known modules, and one `dbt build` of its raw logs fills the marts that are read here.
"""

import importlib.util
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import numpy as np

from benchmarks.harness import (
    ROOT,
    BenchmarkError,
    Outcome,
    Table,
    build,
    data_folder,
    run_alone,
    verdict,
    working_folder,
)
from hcat.encoders.entailment import load_classifier
from hcat.encoders.identities import resolve_classifier
from hcat.encoders.tokens import start_model
from hcat.engine.sizes import pair_tokens
from hcat.grammar.export import write_queries
from hcat.language.text import clean_text
from hcat.metrics.answers import check_answer
from hcat.metrics.facts import READ_BY_FACTS, check_facts
from hcat.metrics.refusal import explain_refusal
from hcat.robustness.reliability import measure_share

#: Least share of non-robust groups whose faulty module is named right, and least number of queries of a full run.
NAMED_LIMIT = 0.90
QUERIES_LIMIT = 1_000
#: Least share of decided answers on which the judgement agrees with the simulation's own record.
JUDGED_LIMIT = 0.98
QUICK_GROUPS = 60
#: One in so many labelled answers is judged in a quick run.
QUICK_SHARE = 20
#: Hypotheses with the side that the simulation hits; the form of a query makes no difference to it.
HIT_CLUSTERS = {"query length": "long", "register": "colloquial", "form": None}
LEVEL = 0.05

#: No model: correctness and contexts are texts and ids.
_ENVIRONMENT = {"HCAT_ENCODER": "hashing:32", "HCAT_CLASSIFIER": "hashing", "HCAT_DEVICE": "cpu"}
_APPLICATION = ROOT / "examples" / "relational_application" / "simulate.py"


def load_application() -> ModuleType:
    """Return the example's module; it is no part of the package."""
    spec = importlib.util.spec_from_file_location("hcat_relational_application", _APPLICATION)
    if spec is None or spec.loader is None:
        raise BenchmarkError(f"{_APPLICATION} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def make_logs(folder: Path, count_groups: int | None) -> Path:
    """Return a folder of raw logs with ``planted_faults.jsonl``, made from the tables of the relational demo."""
    arguments = ["--select", "+tag:grammar", "--indirect-selection", "cautious", "--exclude-resource-type", "unit_test"]
    raw = folder / "empty"
    raw.mkdir()
    arguments += ["--vars", "{hcat_grammar: true}"]
    made = build(raw, folder / "grammar", arguments=arguments, environment=_ENVIRONMENT)
    if made.failed_tests:
        raise BenchmarkError(f"the queries' own tests must pass, got {', '.join(made.failed_tests)}")
    queries = write_queries(folder / "grammar", folder / "queries.jsonl").path
    application = load_application()
    application.write_logs(queries, folder / "logs", application.DOCUMENTS, count_groups, has_faults=True)
    return folder / "logs"


def name_groups(
    groups: Sequence[tuple[str, str]], faults: Sequence[Mapping[str, Any]]
) -> tuple[Counter[tuple[str, str]], int]:
    """Return (planted module, named module) -> non-robust groups, and how many are named right.

    A group is planted with the module of its faults; one that is not robust for other reasons is `not planted`, and no
    name is right for it.
    """
    planted: dict[str, set[str]] = defaultdict(set)
    for fault in faults:
        if fault["planted_fault"] != "none":
            planted[fault["query_group"]].add(fault["planted_fault"])
    counts: Counter[tuple[str, str]] = Counter()
    for group, named in groups:
        modules = planted.get(group, set())
        counts[next(iter(modules)) if len(modules) == 1 else "not planted", named] += 1
    return counts, sum(count for (truth, named), count in counts.items() if truth == named)


def _measure(logs: Path, warehouse: Path) -> tuple[list[Table], list[str], bool, int]:
    arguments = ["--select", "+path:models/analysis/robustness", "--exclude-resource-type", "unit_test"]
    built = build(logs, warehouse, arguments=arguments, environment=_ENVIRONMENT)
    broken = [name for name in built.failed_tests if name.startswith("robustness_")]
    if broken:
        raise BenchmarkError(f"the invariants of the marts must hold, got {', '.join(broken)}")
    faults = [json.loads(line) for line in (logs / "planted_faults.jsonl").read_text(encoding="utf-8").splitlines()]
    is_right = {fault["query_id"]: fault["is_right"] for fault in faults}
    with duckdb.connect(str(warehouse / "hcat.duckdb"), read_only=True) as connection:
        answers = connection.execute("select query_id, correctness_status from fct_answer_correctness").fetchall()
        groups = connection.execute(
            "select query_group, faulty_module from fct_robustness_groups"
            " where hypothesis = 'all' and group_type = 'non_robust' order by query_group"
        ).fetchall()
        rates = connection.execute(
            "select scope, count_robust_groups, count_non_robust_groups, count_gap_groups, smallest_group,"
            " largest_group, gap_share, robustness, robustness_lower, robustness_upper, chance_robustness, accuracy"
            " from fct_robustness_rates where hypothesis = 'all' and gap_rule = 'own_side' order by scope"
        ).fetchall()
        differences = connection.execute(
            "select hypothesis, first_side, second_side, scope, gap_rule, first_value, second_value, difference,"
            " difference_lower, difference_upper, chance_difference, p_value from fct_robustness_differences"
            " where measure = 'robustness' and status = 'compared' and scope <> 'language_model_errors_counted_right'"
            " qualify row_number() over (partition by hypothesis, scope order by gap_rule desc) = 1"
            " order by hypothesis, scope"
        ).fetchall()
    judged = Counter((status, is_right[query_id]) for query_id, status in answers)
    decided = sum(count for (status, _), count in judged.items() if status != "undecided")
    agreeing = judged["correct", True] + judged["incorrect", False]
    counts, named_right = name_groups(groups, faults)
    share = named_right / len(groups) if groups else 0.0
    agreement = agreeing / decided if decided else 0.0
    tables = [
        Table(
            "What is named",
            ("measure", "n", "value", "limit"),
            [
                (
                    "answers judged as the simulation records them, of the decided ones",
                    f"{decided:,} of {len(answers):,}",
                    f"{agreement:.3f}",
                    f">= {JUDGED_LIMIT:.0%}: {verdict(agreement >= JUDGED_LIMIT)}",
                ),
                (
                    "non-robust groups whose module is named right",
                    f"{len(groups):,}",
                    f"{share:.3f}",
                    f">= {NAMED_LIMIT:.0%}: {verdict(share >= NAMED_LIMIT)}",
                ),
            ],
        ),
        Table(
            "Planted and named module of the non-robust groups",
            ("planted", "named", "groups"),
            [(truth, named, f"{count:,}") for (truth, named), count in sorted(counts.items())],
        ),
        Table(
            "Robustness",
            ("answers", "robust / not / gap", "m", "lambda", "R", "chance R", "accuracy"),
            [
                (
                    row[0].replace("_", " "),
                    f"{row[1]} / {row[2]} / {row[3]}",
                    f"{row[4]} to {row[5]}",
                    f"{row[6]:.3f}",
                    _with_interval(*row[7:10]),
                    _number(row[10]),
                    f"{row[11]:.3f}",
                )
                for row in rates
            ],
        ),
        Table(
            "Difference of robustness between sides",
            ("hypothesis", "sides", "answers, gaps", "values", "difference", "by chance", "p", "hit by the simulation"),
            [
                (
                    row[0],
                    f"{row[1]} - {row[2]}",
                    f"{row[3]}, {row[4]}".replace("_", " "),
                    f"{row[5]:.3f}, {row[6]:.3f}",
                    _with_interval(*row[7:10]),
                    _number(row[10]),
                    _number(row[11]),
                    HIT_CLUSTERS.get(row[0]) or "neither",
                )
                for row in differences
            ],
        ),
    ]
    is_found = all(
        (row[11] < LEVEL) == (HIT_CLUSTERS.get(row[0]) is not None) for row in differences if row[3] == "all"
    )
    notes = [f"{len(faults):,} queries; planted sides of a hypothesis are told apart at p < {LEVEL}: {is_found}."]
    return tables, notes, share >= NAMED_LIMIT and agreement >= JUDGED_LIMIT, len(faults)


def _with_interval(value: float | None, lower: float | None, upper: float | None) -> str:
    return _number(value) + ("" if lower is None else f" ({lower:.3f} to {upper:.3f})")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if abs(value) >= 0.001 or not value else "< 0.001"


def judge_by_clusters(answers: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return (source, verdict) of each answer, as a build without labels and with every source would have them."""
    found: list[tuple[str, str]] = []
    open_answers: list[int] = []
    for answer in answers:
        texts = answer["model_answer"] or "", answer["gold_answer"], answer["question"]
        rule = check_answer(*texts)
        facts = check_facts(*texts) if rule.reason in READ_BY_FACTS else None
        if rule.status != "undecided":
            found.append(("rule", rule.status))
        elif explain_refusal(texts[0]):
            found.append(("none", "undecided") if rule.reason == "refusal_beside_match" else ("rule", "incorrect"))
        elif facts is not None and facts.status != "undecided":
            found.append(("facts", facts.status))
        else:
            if facts is not None:
                open_answers.append(len(found))
            found.append(("none", "undecided"))
    for position, verdict_found in zip(open_answers, _entail([answers[each] for each in open_answers]), strict=True):
        if verdict_found != "undecided":
            found[position] = ("entailment", verdict_found)
    return found


def _entail(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return correct, incorrect or undecided by the packaged classifier, as int_correctness_verdicts has it."""
    if not answers:
        return []
    said, true = (
        [clean_text(f"{each['question']} {each[name]}").strip() for each in answers]
        for name in ("model_answer", "gold_answer")
    )
    classifier = load_classifier(resolve_classifier("compact", "cpu", "float32"))
    directions = []
    for premises, hypotheses in ((said, true), (true, said)):
        logits = start_model(classifier, pair_tokens("cpu"), premises, hypotheses)()[0].astype(np.float64)
        entailed = logits.argmax(axis=1) == classifier.head.entailment
        directions.append((entailed, logits.argmax(axis=1) == classifier.head.contradiction))
    is_entailed = directions[0][0] & directions[1][0]
    is_contradicted = directions[0][1] | directions[1][1]
    return [
        "undecided" if entailed == contradicted else "correct" if entailed else "incorrect"
        for entailed, contradicted in zip(is_entailed, is_contradicted, strict=True)
    ]


def _measure_clusters(folder: Path, is_quick: bool) -> Table:
    """Compare every source of correctness that needs no people and no language model with FinanceBench's labels."""
    from pyarrow import parquet

    rows = parquet.read_table(folder / "model_answers_labelled.parquet").to_pylist()
    # a refusal is wrong where an answer was due, whoever says so: it tells nothing about a source
    answers = [row for row in rows if row["label"] != "Refusal"][:: QUICK_SHARE if is_quick else 1]
    questions = {question: code for code, question in enumerate(sorted({row["question"] for row in answers}))}
    judged = judge_by_clusters(answers)
    shown = []
    for source in ("rule", "facts", "entailment"):
        for status, label in (("correct", "Correct Answer"), ("incorrect", "Incorrect Answer")):
            chosen = [row for row, found in zip(answers, judged, strict=True) if found == (source, status)]
            hits = np.array([row["label"] == label for row in chosen], dtype=bool)
            groups = np.array([questions[row["question"]] for row in chosen], dtype=np.int64)
            share = measure_share(hits, groups)
            shown.append(
                (
                    source,
                    status,
                    f"{len(chosen):,} ({share.count_groups:,})",
                    _with_interval(share.value, share.low, share.high or 0.0),
                )
            )
    open_ones = [row["label"] for row, found in zip(answers, judged, strict=True) if found[0] == "none"]
    right = sum(label == "Correct Answer" for label in open_ones)
    shown.append(("none", "undecided", f"{len(open_ones):,}", f"{right:,} labelled correct"))
    return Table(
        f"Judged without a language model: {len(answers):,} answers of FinanceBench's models that are no refusals,"
        " against people's labels; the first source that decides, intervals by question",
        ("source", "says", "answers (questions)", "labelled so"),
        shown,
    )


def run(is_quick: bool = False, _folder: Path | None = None) -> Outcome:
    """Return the outcome."""
    data = data_folder("financebench")
    notes = [
        "A retrieval fault returns the second page of the search; a fault of the model gives another sentence, "
        "another value or a refusal. Faults are planted only where the answer was right. No document is on both "
        "pages, so that the comparison of contexts meets its premise; `robustness_groups` shows what happens "
        "otherwise."
    ]
    with working_folder(None) as work:
        logs = make_logs(work, QUICK_GROUPS if is_quick else None)
        tables, told, is_within, count_queries = _measure(logs, work / "warehouse")
    notes += told
    is_within &= is_quick or count_queries >= QUERIES_LIMIT
    if data is None:
        notes.append("FinanceBench was not there: HCAT_BENCHMARK_DATA must name a folder that holds financebench.")
    else:
        tables.append(_measure_clusters(data, is_quick))
        notes.append(
            "Sources of correctness: the shares of a fact's words that an answer must hold were set on the demo's "
            "recorded faults. Two rules were made after a look at FinanceBench: facts never call a long answer "
            "incorrect, and a coarse rounding decides nothing. Entailment (classes of the packaged classifier, both "
            "directions, behind the query) was not tuned: it judges only what rules and facts leave open, and only "
            "where the seed correctness_sources names it."
        )
    title = "Robustness of an application with planted faults, by a real build"
    return Outcome("robustness", title, tables, notes, is_quick, is_within)


if __name__ == "__main__":
    sys.exit(run_alone("robustness", __doc__, run))
