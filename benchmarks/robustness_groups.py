"""Which module failed: the GRAMMAR authors' own log of answers, and an application with planted faults."""

import ast
import datetime
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import Outcome, Table, data_folder, run_alone, verdict
from hcat.metrics.answers import check_answer
from hcat.robustness.comparison import compare_sides
from hcat.robustness.groups import ANSWER_SCHEMA, attribute_errors, group_answers
from hcat.robustness.rates import RobustnessSettings, measure_robustness

#: Groups by type (gap, robust, non-robust) that the log of the authors holds.
EXPECTED = {
    ("aurp", "short"): (112, 40, 5),
    ("aurp", "long"): (112, 40, 5),
    ("spider", "short"): (16, 37, 4),
    ("spider", "long"): (11, 32, 14),
}

#: Least share of non-robust groups whose faulty module is named right.
NAMED_LIMIT = 0.90

_SEED = 20260101
_GROUP_SIZE = 6


# --- the log ---


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the rows of the authors' log, ids and answers parsed."""
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    for row in rows:
        row["documents"] = [str(each) for each in _parse_list(row["retrieved_document_ids"])]
        said = _parse_list(row["gpt_response"])
        row["said"] = None if row["gpt_response"] == "None" else str(said[0])
    return rows


def _parse_list(text: str) -> list[Any]:
    if not text.startswith("["):
        return [text]
    for parse in (json.loads, ast.literal_eval):
        try:
            read = parse(text)
        except (ValueError, SyntaxError):
            continue
        if isinstance(read, list) and read:
            return read
    return [text]


def to_answers(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Return rows of the log as answers: one hypothesis, query length, with the log's style as side."""
    return pa.Table.from_pylist(
        [
            {
                "system_id": row["benchmark"],
                "hypothesis": "query length",
                "side": row["style"],
                "group_id": row["query_tag"],
                "interaction_id": f"{row['benchmark']} {row['style']} {position}",
                "query": row["query"],
                "is_correct": row["judgement"] == "Correct",
                "context_ids": row["documents"],
                "context_texts": None,
            }
            for position, row in enumerate(rows)
        ],
        schema=ANSWER_SCHEMA,
    )


def _measure_log(folder: Path, settings: RobustnessSettings) -> tuple[list[Table], list[str], bool]:
    rows = read_log(folder / "rag_log.parquet")
    answers = to_answers(rows)
    groups = group_answers(answers)
    measured = measure_robustness(groups, settings).to_pylist()
    own = [row for row in measured if row["gap_rule"] == "own_side"]
    plain = {(row["system_id"], row["side"]): row for row in own if row["scope"] == "all"}
    types = []
    is_within = True
    for (system, style), row in sorted(plain.items()):
        found = tuple(row[f"count_{name}_groups"] for name in ("gap", "robust", "non_robust"))
        due = EXPECTED.get((system, style))
        is_within &= due is None or found == due
        types.append(
            (
                f"{system} {style}",
                *map(str, found),
                "-" if due is None else " / ".join(map(str, due)),
                "-" if due is None else verdict(found == due),
            )
        )
    tables = [
        Table("Groups of the authors' log", ("data", "gap", "robust", "non-robust", "expected", "verdict"), types),
        Table(
            "Robustness and accuracy of the log, intervals by group",
            ("data", "scope", "m", "lambda", "R", "chance R", "accuracy", "errors: retrieval / model"),
            [
                (
                    f"{row['system_id']} {row['side']}",
                    row["scope"].replace("_", " "),
                    f"{row['smallest_group']}",
                    _share(row["gap_share"]),
                    _with_interval(row, "robustness"),
                    _share(row["chance_robustness"]),
                    _with_interval(row, "accuracy"),
                    f"{row['count_retrieval_errors']} / {row['count_language_model_errors']}",
                )
                for row in own
            ],
        ),
        Table(
            "Long against short queries: difference, paired by group",
            ("data", "measure", "gap", "long", "short", "difference", "p", "of it by chance value"),
            [
                (
                    f"{row['system_id']}, {row['scope'].replace('_', ' ')}",
                    row["measure"],
                    row["gap_rule"].replace("_", " "),
                    _share(row["first_value"]),
                    _share(row["second_value"]),
                    f"{row['difference']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})",
                    f"{row['p_value']:.4f}",
                    "-" if row["chance_difference"] is None else f"{row['chance_difference']:+.3f}",
                )
                for row in compare_sides(groups, settings).to_pylist()
                if row["scope"] != "language_model_errors_removed" and row["status"] == "compared"
            ],
        ),
        _compare_with_ids(answers, rows),
    ]
    judged, notes = _judge_log(rows)
    notes = [
        "Correctness is the log's own column `judgement`: a language model (GPT-4) saw query, true answer and "
        "answer and said Correct or Incorrect. In aurp no answer was generated where retrieval missed the true "
        "document (675 of 942 rows): these count as Incorrect without a judge, so that wrong answers in gap groups "
        "of aurp are always retrieval misses.",
        *notes,
        "Table 2 of the paper cannot be reproduced from the published log: its accuracy / R gives 1 - lambda = .37 to "
        ".51, whereas aurp has .29 in both styles, and R of .96, because only 5 groups a style are not robust.",
        "A gap in one side is not always one in the other: on spider R by the paper's rule is .84 (long) and .95 "
        "(short), but 16 groups are gaps in short and 11 in long. Without the gaps of any side the two are .82 "
        "and .83. Both rules are shown; the second has one lambda for all sides and cannot hide such a "
        "difference.",
        "spider names real companies, whose facts the language model knows. Answers are right without the true "
        "document, and the comparison of contexts then takes whatever was retrieved for sufficient. It assumes that "
        "right answers rest on documents: compare spider with aurp and with spider_closed (invented names).",
    ]
    return [*tables, judged], notes, is_within


def _compare_with_ids(answers: pa.Table, rows: list[dict[str, Any]]) -> Table:
    """Return how the named module agrees with the log's own word on whether the true document was retrieved."""
    log = {f"{row['benchmark']} {row['style']} {position}": row for position, row in enumerate(rows)}
    counts: dict[str, dict[str, int]] = {}
    for row in attribute_errors(answers).to_pylist():
        if row["group_type"] != "non_robust":
            continue
        counted = counts.setdefault(f"{row['system_id']} {row['side']}", dict.fromkeys(_CELLS, 0))
        is_retrieved = log[row["interaction_id"]]["retrieval_judgement"] == "1"
        if row["is_correct"]:
            counted["right without"] += not is_retrieved
        else:
            counted[f"{row['faulty_module']} {is_retrieved}"] += 1
    return Table(
        "Wrong answers of non-robust groups: named module against the log's retrieval judgement",
        (
            "data",
            "retrieval, true document missing",
            "retrieval, it was there",
            "model, it was there",
            "model, missing",
            "right answers without it",
        ),
        [(name, *(str(counted[cell]) for cell in _CELLS)) for name, counted in sorted(counts.items())],
    )


_CELLS = ("retrieval False", "retrieval True", "language_model True", "language_model False", "right without")


def _judge_log(rows: list[dict[str, Any]]) -> tuple[Table, list[str]]:
    """Compare the judgement by rules with the log's, on the answers that were generated."""
    counts: dict[tuple[str, str, bool], int] = {}
    answered = [row for row in rows if row["said"] is not None]
    for row in answered:
        status = check_answer(row["said"], row["answer"], row["query"]).status
        key = (row["benchmark"], status, row["judgement"] == "Correct")
        counts[key] = counts.get(key, 0) + 1
    shown = []
    for system in sorted({row["benchmark"] for row in answered}):
        cells = [
            counts.get((system, status, is_correct), 0)
            for status in ("correct", "incorrect", "undecided")
            for is_correct in (True, False)
        ]
        decided = sum(cells[:4])
        agreement = (cells[0] + cells[3]) / decided if decided else float("nan")
        shown.append((system, *map(str, cells), _share(decided / sum(cells)), _share(agreement)))
    columns = [f"{status}, log {label}" for status in ("right", "wrong", "undecided") for label in ("right", "wrong")]
    return (
        Table("Judged by rules against the log's judge", ("data", *columns, "decided", "agreement"), shown),
        [
            f"Judgement by rules was compared on the {len(answered):,} answers that were generated. The rules were "
            "refined while this log was read, so that the agreement is no estimate for other data. Where the two "
            "differ, the rules miss paraphrases (American for United States), and the log's judge calls refusals "
            "Correct."
        ],
    )


def _share(value: float | None) -> str:
    return "-" if value is None or np.isnan(value) else f"{value:.3f}"


def _with_interval(row: dict[str, Any], measure: str) -> str:
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    return _share(row[measure]) + ("" if low is None else f" ({low:.3f} to {high:.3f})")


# --- planted faults ---


@dataclass(frozen=True, slots=True)
class Plan:
    """A simulated application."""

    #: Documents per query.
    count_retrieved: int
    #: Share of queries without the right document that the model answers right all the same.
    guess_share: float
    is_required: bool


PLANS = (Plan(1, 0.0, True), Plan(1, 0.05, False), Plan(3, 0.0, False))

_CITIES = (
    "Lisbon", "Vienna", "Oslo", "Dublin", "Prague", "Madrid", "Warsaw", "Athens", "Helsinki", "Zagreb",
)  # fmt: skip
_TEMPLATES = {
    "short": ("{column} of {name}", "{name}: {column}?", "{column} {name}", "Give {column}, {name}", "{name} {column}",
              "State {column} of {name}"),
    "long": (
        "For our records, please tell us which {column} is documented for the bank that is named {name}.",
        "We are preparing an overview of all banks and would like to know the {column} of {name} for it.",
        "In the documents at hand a bank called {name} is described; what is its {column} according to them?",
        "A customer has asked about {name}, and in particular about the {column}, which we need to confirm.",
        "Could you look into the documents and find out the {column} that is stated for {name} there?",
        "Among the many facts on {name}, the {column} is the one that we would like to learn from you now.",
    ),
}  # fmt: skip
_REFUSAL = "I'm sorry, but I could not find that information in the provided documents."


def _make_facts(count_banks: int, random: np.random.Generator) -> dict[str, dict[str, str]]:
    """Return the true answers: bank -> column -> value."""
    facts = {}
    for number in range(count_banks):
        day = np.datetime64("1950-01-01") + np.timedelta64(int(random.integers(0, 20_000)), "D")
        facts[f"Northbank {number:03d}"] = {
            "headquarters": str(random.choice(_CITIES)),
            "founding date": str(day),
            "loan volume": f"{int(random.integers(10, 990)) / 10:.1f} billion USD",
        }
    return facts


def _say(value: str) -> str:
    """Return a value as an application says it: dates in words."""
    if len(value) == len("1950-01-01") and value[4] == "-":
        date = datetime.date.fromisoformat(value)
        return f"It is {date:%B} {date.day}, {date.year}."
    return f"According to the documents it is {value}."


def simulate(plan: Plan, count_banks: int, random: np.random.Generator) -> tuple[pa.Table, dict[str, str]]:
    """Return answers of an application with planted faults, and the module at fault by interaction.

    One document holds the facts of a bank. A group is all queries for one fact in one style: a sixth of the groups has
    a fact that no document holds; of the others a third is sound, a third has retrieval faults and a third faults of
    the language model, each in 1 to 5 of its 6 queries. A retrieval fault brings other banks' documents only; a fault
    of the model says another bank's value or declines although the document is there. Correctness is judged by
    :func:`hcat.metrics.answers.check_answer` from the texts.
    """
    facts = _make_facts(count_banks, random)
    names = list(facts)
    rows: list[dict[str, Any]] = []
    planted: dict[str, str] = {}
    for position, (name, columns) in enumerate(facts.items()):
        # what dense retrieval brings beside the right one: some of its nearest neighbours
        near = [names[(position + step) % count_banks] for step in (1, 2, 3, 4)]
        for column, value in columns.items():
            for style, templates in _TEMPLATES.items():
                group = f"{name} {column}"
                is_gap = random.random() < 1 / 6
                fault = ("none", "retrieval", "language_model")[int(random.integers(0, 3))]
                count_faults = 0 if is_gap or fault == "none" else int(random.integers(1, _GROUP_SIZE))
                faulty = set(random.permutation(_GROUP_SIZE)[:count_faults].tolist())
                for number, template in enumerate(templates):
                    interaction = f"{group} {style} {number}"
                    query = template.format(column=column, name=name)
                    is_faulty = number in faulty
                    misses = is_gap or (is_faulty and fault == "retrieval")
                    others = random.permutation(near).tolist()
                    documents = ([] if misses else [name]) + others
                    documents = documents[: plan.count_retrieved]
                    knows = not misses and not is_faulty
                    if misses and random.random() < plan.guess_share:
                        knows = True
                    # another bank's value that differs: a hit by luck is a guess, and the plan says how many there are
                    wrong = [facts[each][column] for each in names if facts[each][column] != value]
                    says = value if knows else wrong[int(random.integers(0, len(wrong)))]
                    answer = _say(says) if knows or random.random() < 0.5 else _REFUSAL
                    judged = check_answer(answer, value, query)
                    if is_faulty:
                        planted[interaction] = fault
                    rows.append(
                        {
                            "system_id": "simulated",
                            "hypothesis": "query length",
                            "side": style,
                            "group_id": group,
                            "interaction_id": interaction,
                            "query": query,
                            "is_correct": None if judged.status == "undecided" else judged.status == "correct",
                            "context_ids": documents,
                            "context_texts": None,
                        }
                    )
    return pa.Table.from_pylist(rows, schema=ANSWER_SCHEMA), planted


def name_groups(attributed: pa.Table, planted: dict[str, str]) -> tuple[int, int, int, int]:
    """Return (non-robust groups, named right, their wrong answers, named right); a tie between modules is not right.

    A group is named by the module that most of its wrong answers are laid to.
    """
    by_group: dict[tuple[str, str], list[tuple[str | None, str]]] = {}
    for row in attributed.to_pylist():
        if row["group_type"] == "non_robust" and row["is_correct"] is False:
            found = (row["faulty_module"], planted.get(row["interaction_id"], "not planted"))
            by_group.setdefault((row["side"], row["group_id"]), []).append(found)
    right = sum(2 * sum(module == truth for module, truth in found) > len(found) for found in by_group.values())
    answers = [each for found in by_group.values() for each in found]
    return len(by_group), right, len(answers), sum(module == truth for module, truth in answers)


def _measure_simulation(is_quick: bool) -> tuple[Table, bool]:
    shown = []
    is_within = True
    for plan in PLANS:
        answers, planted = simulate(plan, 20 if is_quick else 120, np.random.default_rng(_SEED))
        groups, right, wrong, named = name_groups(attribute_errors(answers), planted)
        share = right / groups if groups else float("nan")
        is_met = share >= NAMED_LIMIT
        is_within &= is_met or not plan.is_required
        shown.append(
            (
                f"{plan.count_retrieved} document{'s' if plan.count_retrieved > 1 else ''}, "
                f"{plan.guess_share:.0%} guessed",
                f"{groups:,}",
                _share(share),
                f"{wrong:,}",
                _share(named / wrong if wrong else None),
                f">= {NAMED_LIMIT:.0%}: {verdict(is_met)}" if plan.is_required else "none",
            )
        )
    columns = ("application", "non-robust groups", "module named right", "wrong answers", "named right", "limit")
    return Table("Planted faults: is the faulty module named?", columns, shown), is_within


def run(is_quick: bool = False, _folder: Path | None = None) -> Outcome:
    """Return the outcome; without the authors' log that of the simulated application only."""
    data = data_folder("grammar")
    settings = RobustnessSettings(count_draws=200 if is_quick else 2_000)
    simulated, is_within = _measure_simulation(is_quick)
    tables, notes = [simulated], [
        "Planted faults: answers are texts, judged by rules; a group is assigned the module that is blamed for most "
        "of its wrong answers, and a tie counts as wrong. With several documents a query, a distractor that two "
        "answers share is mistaken for the sufficient document, and the paper's rule then blames the language model "
        "for retrieval faults. A guess breaks the assumption of the "
        "rule: gap groups, where no module is at fault, become non-robust ones, and wrong documents look "
        "sufficient.",
    ]  # fmt: skip
    if data is not None and (data / "rag_log.parquet").exists():
        of_log, log_notes, is_log_within = _measure_log(data, settings)
        tables, notes, is_within = [*of_log, *tables], [*log_notes, *notes], is_within and is_log_within
    else:
        notes.append("The authors' log was not there: HCAT_BENCHMARK_DATA must name a folder that holds grammar.")
    title = "Robustness by query group: which module failed"
    return Outcome("robustness_groups", title, tables, notes, is_quick, is_within)


if __name__ == "__main__":
    sys.exit(run_alone("robustness_groups", __doc__, run))
