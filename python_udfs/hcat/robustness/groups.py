"""Which module failed: groups of queries with one meaning, robustness R, and the comparison of retrieved contexts.

Queries that ask the same thing in other words are a group. One correct answer in a group shows that the knowledge is
there; a wrong one beside it shows a lack of robustness (GRAMMAR, section 3.3). Three types of group:

- ``gap``: every answer is wrong; the documents may lack the knowledge;
- ``robust``: every answer is right;
- ``non_robust``: right and wrong ones.

    R   = correct / (total - total in gap groups)                    (equation 1)
    Acc = R (total - total in gap groups) / total                    (equation 2)

so that Acc = R (1 - lambda), lambda the share of answers that lie in gap groups. Accuracy alone confuses both.

Context comparison: a wrong answer of a non-robust group whose context holds a document that also a right answer of its
group had is an error of the language model, because the document was enough there; otherwise retrieval failed. This
holds where one document suffices and the right answers rest on documents, not on what the model knew beforehand.

R rises when groups are small: with answers that are right by chance, independently with probability p, groups of m give
R = p / (1 - (1 - p)^m). R is therefore compared at equal group size only, and its chance value stands beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from hcat.engine.keys import hash_text
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import draw_clusters
from hcat.statistics.intervals import wilson_interval

GroupType = Literal["gap", "robust", "non_robust"]
Module = Literal["retrieval", "language_model"]
Rule = Literal["any_document", "common_documents"]

GROUP_TYPES: Final = {
    "gap": "every answer is wrong",
    "robust": "every answer is right",
    "non_robust": "right and wrong answers",
}
GROUP_STATUSES: Final = {
    "complete": "every answer is judged right or wrong",
    "partial": "some answers are undecided; type and counts are those of the others",
    "undecided": "no answer is decided: no type",
}
MODULES: Final = {
    "retrieval": "the context holds no document that a right answer of the group had",
    "language_model": "the context holds a document that was enough for a right answer of the group",
}
MODULE_STATUSES: Final = {
    "compared": "the module is named",
    "no_context_logged": "the wrong answer's context was not logged",
    "no_context_of_right_answers": "no right answer of the group has a document to compare with",
    "not_non_robust": "a wrong answer in a gap group: nothing to compare with",
    "not_wrong": "the answer is right, or undecided",
}
RULES: Final = {
    "any_document": "a document that any right answer of the group retrieved is enough (as the paper)",
    "common_documents": (
        "every document that all right answers of the group retrieved is needed; any of one, where they share none. "
        "For several documents a query: the one that suffices is in every right answer's context, and a distractor "
        "that a wrong answer happens to share no longer stands for it"
    ),
}
SCOPES: Final = {
    "all": "every decided answer",
    "language_model_errors_removed": "wrong answers of non-robust groups that the language model made are left out",
    "language_model_errors_counted_right": "the same answers count as right: what retrieval alone would reach",
}
GAP_RULES: Final = {
    "own_cluster": "a group is a gap when all its answers in the cluster are wrong",
    "every_cluster": "a group is a gap when all its answers in every cluster of the hypothesis are wrong",
}
MEASURES: Final = ("robustness", "accuracy")
CLUSTER_STATUSES: Final = {
    "estimated": "figures with intervals",
    "too_few_groups": "fewer answerable groups than the least: figures without intervals",
    "no_answerable_group": "all groups are gaps: no robustness",
}
COMPARISON_STATUSES: Final = {
    "compared": "difference, interval and test",
    "unequal_group_sizes": "robustness depends on the group size: no difference",
    "too_few_groups": "fewer answerable groups than the least in one cluster: a difference without interval and test",
    "no_answerable_group": "one cluster has no robustness",
}
INTERVAL_METHODS: Final = ("bootstrap", "wilson_groups")
DESIGNS: Final = {
    "paired": "every group is in both clusters",
    "unpaired": "no group is in both clusters",
    "mixed": "some groups are in both",
}

_KEY = [("system_id", pa.string()), ("hypothesis", pa.string()), ("cluster", pa.string())]

#: What is read. ``hypothesis`` names a split ("query length") and ``cluster`` a side of it ("long"); an evaluation
#: without one says "all", "all". Documents are ids, or texts where there are none; null = not logged, [] = nothing
#: retrieved.
ANSWER_SCHEMA = pa.schema(
    [
        *_KEY,
        ("group_id", pa.string()),
        ("interaction_id", pa.string()),
        ("query", pa.string()),
        ("is_correct", pa.bool_()),
        ("context_ids", pa.list_(pa.string())),
        ("context_texts", pa.list_(pa.string())),
    ]
)

#: One row per answer.
ATTRIBUTION_SCHEMA = pa.schema(
    [
        *_KEY,
        ("group_id", pa.string()),
        ("interaction_id", pa.string()),
        ("group_type", pa.string()),
        ("is_correct", pa.bool_()),
        ("module_status", pa.string()),
        ("faulty_module", pa.string()),
    ]
)

#: One row per group and cluster.
GROUP_SCHEMA = pa.schema(
    [
        *_KEY,
        ("group_id", pa.string()),
        ("group_status", pa.string()),
        ("group_type", pa.string()),
        ("is_gap_in_every_cluster", pa.bool_()),
        ("count_answers", pa.int64()),
        ("count_correct", pa.int64()),
        ("count_undecided", pa.int64()),
        ("count_queries", pa.int64()),
        ("count_retrieval_errors", pa.int64()),
        ("count_language_model_errors", pa.int64()),
        ("count_unattributed_errors", pa.int64()),
        ("share_correct", pa.float64()),
    ]
)

#: One row per cluster, scope and gap rule.
ROBUSTNESS_SCHEMA = pa.schema(
    [
        *_KEY,
        ("scope", pa.string()),
        ("gap_rule", pa.string()),
        ("status", pa.string()),
        ("interval_method", pa.string()),
        ("count_groups", pa.int64()),
        ("count_gap_groups", pa.int64()),
        ("count_robust_groups", pa.int64()),
        ("count_non_robust_groups", pa.int64()),
        ("count_undecided_groups", pa.int64()),
        ("count_answers", pa.int64()),
        ("count_gap_answers", pa.int64()),
        ("count_correct", pa.int64()),
        ("count_retrieval_errors", pa.int64()),
        ("count_language_model_errors", pa.int64()),
        ("count_unattributed_errors", pa.int64()),
        ("smallest_group", pa.int64()),
        ("largest_group", pa.int64()),
        ("gap_share", pa.float64()),
        ("robustness", pa.float64()),
        ("robustness_low", pa.float64()),
        ("robustness_high", pa.float64()),
        ("chance_robustness", pa.float64()),
        ("accuracy", pa.float64()),
        ("accuracy_low", pa.float64()),
        ("accuracy_high", pa.float64()),
    ]
)

#: One row per pair of clusters, scope, gap rule and measure.
COMPARISON_SCHEMA = pa.schema(
    [
        ("system_id", pa.string()),
        ("hypothesis", pa.string()),
        ("first_cluster", pa.string()),
        ("second_cluster", pa.string()),
        ("scope", pa.string()),
        ("gap_rule", pa.string()),
        ("measure", pa.string()),
        ("status", pa.string()),
        ("design", pa.string()),
        ("count_groups_in_both", pa.int64()),
        ("count_groups_in_one", pa.int64()),
        ("first_value", pa.float64()),
        ("second_value", pa.float64()),
        ("difference", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("p_value", pa.float64()),
        ("chance_difference", pa.float64()),
    ]
)

#: Numbers that a chunk of draws may hold.
_CELLS = 4_000_000
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True)
class RobustnessSettings:
    """How robustness is measured.

    Parameters
    ----------
    rule : str
        Context comparison, one of :data:`RULES`.
    count_draws : int
        Draws of the bootstrap over whole groups, and of the permutation test; at least 1.
    confidence : float
        Two-sided, in (0, 1).
    random_seed : int
    minimum_groups : int
        Answerable groups below which there is no interval and no test; at least 2.
    """

    rule: Rule = "any_document"
    count_draws: int = 2_000
    confidence: float = 0.95
    random_seed: int = 20260101
    minimum_groups: int = 10

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, got {self.rule!r}")
        if self.count_draws < 1:
            raise ValueError(f"count_draws must be at least 1, got {self.count_draws}")
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must lie in (0, 1), got {self.confidence}")
        if self.minimum_groups < 2:
            raise ValueError(f"minimum_groups must be at least 2, got {self.minimum_groups}")


# --- figures ---


def classify_group(count_correct: int, count_answers: int) -> GroupType:
    """Return the type of a group with ``count_correct`` right ones among ``count_answers`` >= 1 answers.

    Raises
    ------
    ValueError
        If there is no answer, or more are right than there are.
    """
    if not 0 <= count_correct <= count_answers or count_answers < 1:
        raise ValueError(f"0 <= correct <= answers and answers >= 1 must hold, got {count_correct} of {count_answers}")
    if count_correct == 0:
        return "gap"
    return "robust" if count_correct == count_answers else "non_robust"


def robustness(count_correct: int, count_answers: int, count_gap_answers: int) -> float | None:
    """Return R, the share of right answers outside gap groups (GRAMMAR, equation 1), in [0, 1].

    None where every answer lies in a gap group: robustness is then unknown, not 0.
    """
    _check_counts(count_correct, count_answers, count_gap_answers)
    outside = count_answers - count_gap_answers
    return count_correct / outside if outside else None


def accuracy_from_robustness(robustness: float | None, count_answers: int, count_gap_answers: int) -> float:
    """Return the accuracy R (total - total in gap groups) / total (GRAMMAR, equation 2), in [0, 1].

    Parameters
    ----------
    robustness : float or None
        In [0, 1]; None when every answer lies in a gap group, and the accuracy is 0.
    count_answers, count_gap_answers : int
        All answers, at least 1, and those in gap groups.
    """
    _check_counts(0, count_answers, count_gap_answers)
    if not count_answers:
        raise ValueError("answers must be at least 1, got 0")
    outside = count_answers - count_gap_answers
    if (robustness is None) != (outside == 0) or (robustness is not None and not 0 <= robustness <= 1):
        raise ValueError(f"robustness must lie in [0, 1], and be None only where all are gaps, got {robustness}")
    return 0.0 if robustness is None else robustness * outside / count_answers


def _check_counts(count_correct: int, count_answers: int, count_gap_answers: int) -> None:
    if min(count_correct, count_gap_answers) < 0 or count_correct + count_gap_answers > count_answers:
        raise ValueError(
            "correct and gap answers must be 0 or more and together at most all answers, got "
            f"{count_correct} + {count_gap_answers} of {count_answers}"
        )


def chance_robustness(share_correct: float, group_sizes: Sequence[int]) -> float | None:
    """Return the robustness of answers that are right by chance, independently with one probability.

    For groups of one size m it is p / (1 - (1 - p)^m): m p right answers are expected in a group, and m answers count
    with the probability that the group is no gap. For several sizes it is p sum m / sum m (1 - (1 - p)^m). Groups of
    one answer give 1: they are right or a gap.

    Parameters
    ----------
    share_correct : float
        p, in [0, 1]; None is returned for 0, where every group is a gap.
    group_sizes : sequence of int
        Each at least 1.
    """
    sizes = np.asarray(group_sizes, dtype=np.float64)
    if not 0 <= share_correct <= 1 or not len(sizes) or sizes.min() < 1:
        raise ValueError(f"share_correct must lie in [0, 1] and sizes be 1 or more, got {share_correct}, {len(sizes)}")
    if share_correct == 0:
        return None
    # 1 - (1 - p)^m without loss of digits for a small p
    answerable = -np.expm1(sizes * np.log1p(-share_correct)) if share_correct < 1 else np.ones_like(sizes)
    return min(1.0, float(share_correct * sizes.sum() / (sizes * answerable).sum()))


# --- context comparison ---


class _Answer(NamedTuple):
    """One row of :data:`ANSWER_SCHEMA`; documents are None where they were not logged."""

    key: tuple[str, str, str, str]
    interaction_id: str
    query: str | None
    is_correct: bool | None
    documents: frozenset[str] | None


def name_faulty_modules(
    is_correct: Sequence[bool | None],
    documents: Sequence[frozenset[str] | None],
    rule: Rule = "any_document",
) -> list[tuple[str, Module | None]]:
    """Return (status, faulty module) of every answer of one group, by comparing contexts (GRAMMAR, section 3.3).

    Parameters
    ----------
    is_correct : sequence of bool or None
        None = undecided; such an answer is neither blamed nor taken for a right one.
    documents : sequence of frozenset of str or None
        What was retrieved for each answer; None = not logged.
    rule : str
        One of :data:`RULES`.
    """
    if len(is_correct) != len(documents):
        raise ValueError(
            f"answers and their documents must have one length, got {len(is_correct)} and {len(documents)}"
        )
    of_right = [
        found for right, found in zip(is_correct, documents, strict=True) if right is True and found is not None
    ]
    sufficient = frozenset().union(*of_right)
    common: frozenset[str] = frozenset()
    if rule == "common_documents" and sufficient:
        common = frozenset.intersection(*[found for found in of_right if found])
    has_right = any(right is True for right in is_correct)
    named: list[tuple[str, Module | None]] = []
    for right, found in zip(is_correct, documents, strict=True):
        if right is not False:
            named.append(("not_wrong", None))
        elif not has_right:
            named.append(("not_non_robust", None))
        elif found is None:
            named.append(("no_context_logged", None))
        elif not sufficient:
            named.append(("no_context_of_right_answers", None))
        else:
            has_enough = common <= found if common else not found.isdisjoint(sufficient)
            named.append(("compared", "language_model" if has_enough else "retrieval"))
    return named


def attribute_errors(answers: pa.Table, rule: Rule = "any_document") -> pa.Table:
    """Return for every answer the type of its group and, if it is wrong in a non-robust one, the faulty module.

    Parameters
    ----------
    answers : Table
        Schema :data:`ANSWER_SCHEMA`, rows in any order; a pair of key and interaction_id stands once.
    rule : str
        One of :data:`RULES`.

    Returns
    -------
    Table
        Schema :data:`ATTRIBUTION_SCHEMA`, ordered by key, group and interaction.
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}, got {rule!r}")
    rows: list[dict[str, Any]] = []
    for group in _read_groups(answers):
        system, hypothesis, cluster, group_id = group[0].key
        decided = [answer.is_correct for answer in group if answer.is_correct is not None]
        group_type = classify_group(sum(decided), len(decided)) if decided else None
        named = name_faulty_modules(
            [answer.is_correct for answer in group], [answer.documents for answer in group], rule
        )
        for answer, (status, module) in zip(group, named, strict=True):
            rows.append(
                {
                    "system_id": system,
                    "hypothesis": hypothesis,
                    "cluster": cluster,
                    "group_id": group_id,
                    "interaction_id": answer.interaction_id,
                    "group_type": group_type,
                    "is_correct": answer.is_correct,
                    "module_status": status,
                    "faulty_module": module,
                }
            )
    return pa.Table.from_pylist(rows, schema=ATTRIBUTION_SCHEMA)


def group_answers(answers: pa.Table, rule: Rule = "any_document") -> pa.Table:
    """Return one row per group and cluster (schema :data:`GROUP_SCHEMA`, ordered by its key).

    Parameters
    ----------
    answers : Table
        Schema :data:`ANSWER_SCHEMA`, rows in any order.
    rule : str
        One of :data:`RULES`.
    """
    attributed = attribute_errors(answers, rule).to_pylist()
    queries: dict[tuple[str, ...], set[str]] = {}
    for row in answers.select([*[name for name, _ in _KEY], "group_id", "query"]).to_pylist():
        if row["query"] is not None:
            queries.setdefault(_key_of(row), set()).add(" ".join(row["query"].split()))
    by_group: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in attributed:
        by_group.setdefault(_key_of(row), []).append(row)
    answered = {(key[0], key[1], key[3]) for key, rows in by_group.items() if any(row["is_correct"] for row in rows)}
    grouped = []
    for key, rows in by_group.items():
        system, hypothesis, cluster, group_id = key
        decided = [row for row in rows if row["is_correct"] is not None]
        count_correct = sum(row["is_correct"] for row in decided)
        modules = [row["faulty_module"] for row in rows]
        unattributed = ("no_context_logged", "no_context_of_right_answers")
        grouped.append(
            {
                "system_id": system,
                "hypothesis": hypothesis,
                "cluster": cluster,
                "group_id": group_id,
                "group_status": "undecided" if not decided else "complete" if len(decided) == len(rows) else "partial",
                "group_type": rows[0]["group_type"],
                "is_gap_in_every_cluster": (system, hypothesis, group_id) not in answered if decided else None,
                "count_answers": len(decided),
                "count_correct": count_correct,
                "count_undecided": len(rows) - len(decided),
                "count_queries": len(queries.get(key, ())),
                "count_retrieval_errors": modules.count("retrieval"),
                "count_language_model_errors": modules.count("language_model"),
                "count_unattributed_errors": sum(row["module_status"] in unattributed for row in rows),
                "share_correct": count_correct / len(decided) if decided else None,
            }
        )
    return pa.Table.from_pylist(grouped, schema=GROUP_SCHEMA)


def equalise_groups(answers: pa.Table, group_size: int, random_seed: int = 20260101) -> pa.Table:
    """Return ``group_size`` decided answers of every group that has them, in seeded hash order; smaller groups leave.

    Robustness depends on the group size, so that clusters with groups of several sizes can be compared only after this.
    Which answers stay depends on the seed and their ids alone.

    Parameters
    ----------
    answers : Table
        Schema :data:`ANSWER_SCHEMA`.
    group_size : int
        At least 2: one answer cannot show a lack of robustness.
    random_seed : int
    """
    if group_size < 2:
        raise ValueError(f"group_size must be at least 2, got {group_size}")
    rows_of: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    columns = answers.select([*[name for name, _ in _KEY], "group_id", "interaction_id", "is_correct"])
    for position, row in enumerate(columns.to_pylist()):
        if row["is_correct"] is not None:
            order = hashlib.sha256(f"{random_seed}:{row['interaction_id']}".encode()).hexdigest()
            rows_of.setdefault(_key_of(row), []).append((order, position))
    kept = [
        position for rows in rows_of.values() if len(rows) >= group_size for _, position in sorted(rows)[:group_size]
    ]
    return answers.take(pa.array(sorted(kept), pa.int64()))


def _key_of(row: dict[str, Any]) -> tuple[str, str, str, str]:
    return row["system_id"], row["hypothesis"], row["cluster"], row["group_id"]


def _read_groups(answers: pa.Table) -> Iterable[list[_Answer]]:
    """Yield the answers of each group, groups in order of their key and answers in order of their id."""
    missing = [name for name in ANSWER_SCHEMA.names if name not in answers.column_names]
    if missing:
        raise ValueError(f"answers must have the columns of ANSWER_SCHEMA, without {', '.join(missing)}")
    by_group: dict[tuple[str, str, str, str], list[_Answer]] = {}
    for row in answers.select(ANSWER_SCHEMA.names).to_pylist():
        key = _key_of(row)
        if None in key or row["interaction_id"] is None:
            raise ValueError(f"system, hypothesis, cluster, group and interaction must not be null, got {key}")
        answer = _Answer(key, row["interaction_id"], row["query"], row["is_correct"], _documents_of(row))
        by_group.setdefault(key, []).append(answer)
    for key in sorted(by_group):
        group = sorted(by_group[key], key=lambda answer: answer.interaction_id)
        if len({answer.interaction_id for answer in group}) < len(group):
            raise ValueError(f"an interaction must stand once in a group, got one twice in {key}")
        yield group


def _documents_of(row: dict[str, Any]) -> frozenset[str] | None:
    """Return what tells the retrieved documents apart: their ids, or hashes of their texts where there are none."""
    if row["context_ids"] is not None:
        return frozenset(f"id:{each}" for each in row["context_ids"] if each is not None)
    if row["context_texts"] is not None:
        # layout makes no other document
        return frozenset(f"text:{hash_text(' '.join(each.split()))}" for each in row["context_texts"] if each)
    return None


# --- clusters ---


class _Counts(NamedTuple):
    """Answers, right answers and group type of one cluster in one scope, by group; 0 where the group is not in it."""

    answers: Floats
    correct: Floats
    is_gap: Flags
    sizes: Integers
    is_present: Flags


def measure_robustness(groups: pa.Table, settings: RobustnessSettings | None = None) -> pa.Table:
    """Return robustness and accuracy of every cluster in every scope, with intervals that resample whole groups.

    Parameters
    ----------
    groups : Table
        Schema :data:`GROUP_SCHEMA`, of :func:`group_answers`.
    settings : RobustnessSettings, optional

    Returns
    -------
    Table
        Schema :data:`ROBUSTNESS_SCHEMA`, ordered. ``chance_robustness`` is null where language-model errors are left
        out, because which answers remain then depends on how they turned out, and for gaps of every cluster.

    Notes
    -----
    Percentile bootstrap over groups (Efron 1979). Where all draws agree, as when every answer is right, the interval is
    Wilson's with the number of groups for n.
    """
    chosen = settings or RobustnessSettings()
    rows: list[dict[str, Any]] = []
    for (system, hypothesis), clusters in _read_clusters(groups).items():
        names = sorted({group_id for cluster in clusters.values() for group_id in cluster})
        for cluster, by_group in clusters.items():
            for scope in SCOPES:
                for gap_rule in GAP_RULES:
                    counts = _count(names, by_group, scope, gap_rule)
                    rows.append(
                        {"system_id": system, "hypothesis": hypothesis, "cluster": cluster}
                        | {"scope": scope, "gap_rule": gap_rule}
                        | _count_types(by_group, gap_rule)
                        | _measure_cluster(counts, scope, gap_rule, chosen)
                    )
    return pa.Table.from_pylist(rows, schema=ROBUSTNESS_SCHEMA)


def compare_clusters(groups: pa.Table, settings: RobustnessSettings | None = None) -> pa.Table:
    """Return the difference of every pair of clusters of a hypothesis in robustness and accuracy, with a test.

    Parameters
    ----------
    groups : Table
        Schema :data:`GROUP_SCHEMA`, of :func:`group_answers`.
    settings : RobustnessSettings, optional

    Returns
    -------
    Table
        Schema :data:`COMPARISON_SCHEMA`, ordered; difference = first - second, clusters in order of their names.
        ``chance_difference`` is the difference of the chance values: what unequal accuracy alone would make of R.

    Notes
    -----
    Robustness is compared where all groups of both clusters have one size, or where each group is in both with the same
    size. The interval resamples groups, both clusters together. The test is a two-sided permutation of whole groups: a
    group that is in both exchanges its two outcomes with probability 1/2, the others exchange clusters among themselves
    (Fisher's randomisation; p = (1 + draws at least as far apart) / (1 + draws)). No p-value is adjusted here.
    """
    chosen = settings or RobustnessSettings()
    rows: list[dict[str, Any]] = []
    for (system, hypothesis), clusters in _read_clusters(groups).items():
        for first, second in combinations(clusters, 2):
            names = sorted({*clusters[first], *clusters[second]})
            for scope in SCOPES:
                for gap_rule in GAP_RULES:
                    left = _count(names, clusters[first], scope, gap_rule)
                    right = _count(names, clusters[second], scope, gap_rule)
                    for measure in MEASURES:
                        rows.append(
                            {"system_id": system, "hypothesis": hypothesis}
                            | {"first_cluster": first, "second_cluster": second}
                            | {"scope": scope, "gap_rule": gap_rule, "measure": measure}
                            | _compare(left, right, measure, scope, gap_rule, chosen)
                        )
    return pa.Table.from_pylist(rows, schema=COMPARISON_SCHEMA)


_Cluster = dict[str, dict[str, Any]]


def _read_clusters(groups: pa.Table) -> dict[tuple[str, str], dict[str, _Cluster]]:
    """Return the groups of each cluster of each hypothesis, in order."""
    read: dict[tuple[str, str], dict[str, _Cluster]] = {}
    ordered = sorted(groups.select(GROUP_SCHEMA.names).to_pylist(), key=_key_of)
    for row in ordered:
        clusters = read.setdefault((row["system_id"], row["hypothesis"]), {})
        cluster = clusters.setdefault(row["cluster"], {})
        if row["group_id"] in cluster:
            raise ValueError(f"a group must stand once in a cluster, got {_key_of(row)} twice")
        cluster[row["group_id"]] = row
    return read


def _count(names: list[str], by_group: _Cluster, scope: str, gap_rule: str) -> _Counts:
    def column(name: str) -> Floats:
        return np.array([by_group[each][name] if each in by_group else 0 for each in names], dtype=np.float64)

    answers, correct = column("count_answers"), column("count_correct")
    sizes = answers.astype(np.int64)
    is_present = answers > 0
    if gap_rule == "own_cluster":
        is_gap = is_present & (correct == 0)
    else:
        is_gap = is_present & np.array(
            [bool(by_group[each]["is_gap_in_every_cluster"]) if each in by_group else False for each in names]
        )
    language_model = column("count_language_model_errors")
    if scope == "language_model_errors_removed":
        answers = answers - language_model
    if scope == "language_model_errors_counted_right":
        correct = correct + language_model
    return _Counts(answers, correct, is_gap, sizes, is_present)


def _count_types(by_group: _Cluster, gap_rule: str) -> dict[str, Any]:
    rows = list(by_group.values())
    types = [row["group_type"] for row in rows]
    decided = [row for row in rows if row["group_type"] is not None]
    if gap_rule == "own_cluster":
        gaps = types.count("gap")
    else:
        gaps = sum(bool(row["is_gap_in_every_cluster"]) for row in decided)
    return {
        "count_groups": len(decided),
        "count_gap_groups": gaps,
        "count_robust_groups": types.count("robust"),
        # a group that is wrong throughout here and right elsewhere is not robust
        "count_non_robust_groups": len(decided) - gaps - types.count("robust"),
        "count_undecided_groups": len(rows) - len(decided),
        "count_retrieval_errors": sum(row["count_retrieval_errors"] for row in rows),
        "count_language_model_errors": sum(row["count_language_model_errors"] for row in rows),
        "count_unattributed_errors": sum(row["count_unattributed_errors"] for row in rows),
        "smallest_group": min((row["count_answers"] for row in decided), default=None),
        "largest_group": max((row["count_answers"] for row in decided), default=None),
    }


def _measure_cluster(counts: _Counts, scope: str, gap_rule: str, settings: RobustnessSettings) -> dict[str, Any]:
    total, correct = int(counts.answers.sum()), int(counts.correct.sum())
    total_in_gap = int(counts.answers[counts.is_gap].sum())
    measured = robustness(correct, total, total_in_gap)
    answerable = int((counts.is_present & ~counts.is_gap).sum())
    row: dict[str, Any] = {
        "count_answers": total,
        "count_gap_answers": total_in_gap,
        "count_correct": correct,
        "gap_share": total_in_gap / total if total else None,
        "robustness": measured,
        "accuracy": accuracy_from_robustness(measured, total, total_in_gap) if total else None,
        "chance_robustness": _chance(counts, scope, gap_rule),
    }
    if measured is None:
        return row | {"status": "no_answerable_group"}
    if answerable < settings.minimum_groups:
        return row | {"status": "too_few_groups"}
    row["status"] = "estimated"
    is_in = {"robustness": counts.is_present & ~counts.is_gap, "accuracy": counts.is_present}
    for measure in MEASURES:
        values = _divide(*_resample([counts.correct, _below(counts, measure)], settings))
        low, high, method = _interval(values, row[measure], int(is_in[measure].sum()), settings)
        row |= {f"{measure}_low": low, f"{measure}_high": high}
        if measure == "robustness":
            row["interval_method"] = method
    return row


def _chance(counts: _Counts, scope: str, gap_rule: str) -> float | None:
    if scope == "language_model_errors_removed" or gap_rule != "own_cluster" or not counts.is_present.any():
        return None
    share = float(counts.correct.sum() / counts.answers.sum())
    return chance_robustness(share, counts.sizes[counts.is_present].tolist())


def _below(counts: _Counts, measure: str) -> Floats:
    """Return the denominator of a measure by group."""
    return np.where(counts.is_gap, 0.0, counts.answers) if measure == "robustness" else counts.answers


def _divide(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return above / below


def _interval(
    values: Floats, point: float, count_groups: int, settings: RobustnessSettings
) -> tuple[float, float, str]:
    usable = values[np.isfinite(values)]
    if len(usable) and np.ptp(usable) > _NEGLIGIBLE:
        low, high = np.quantile(usable, [(1 - settings.confidence) / 2, (1 + settings.confidence) / 2])
        return float(low), float(high), "bootstrap"
    low, high = wilson_interval(point, count_groups, NormalDist().inv_cdf((1 + settings.confidence) / 2))
    return low, high, "wilson_groups"


def _resample(columns: Sequence[Floats], settings: RobustnessSettings) -> list[Floats]:
    """Return the sum of each column, shape (n_groups,), in each draw of whole groups with replacement."""
    stacked = np.stack(columns, axis=1)
    count_groups = len(stacked)
    random = np.random.default_rng(settings.random_seed)
    sums = []
    chunk = max(1, _CELLS // count_groups)
    for start in range(0, settings.count_draws, chunk):
        sums.append(draw_clusters(random, count_groups, min(chunk, settings.count_draws - start)) @ stacked)
    return list(np.concatenate(sums).T)


def _compare(
    left: _Counts,
    right: _Counts,
    measure: str,
    scope: str,
    gap_rule: str,
    settings: RobustnessSettings,
) -> dict[str, Any]:
    in_both = left.is_present & right.is_present
    in_one = left.is_present ^ right.is_present
    columns = [left.correct, _below(left, measure), right.correct, _below(right, measure)]
    totals = [float(column.sum()) for column in columns]
    chances = _chance(left, scope, gap_rule), _chance(right, scope, gap_rule)
    row: dict[str, Any] = {
        "design": "paired" if not in_one.any() else "mixed" if in_both.any() else "unpaired",
        "count_groups_in_both": int(in_both.sum()),
        "count_groups_in_one": int(in_one.sum()),
        "first_value": totals[0] / totals[1] if totals[1] else None,
        "second_value": totals[2] / totals[3] if totals[3] else None,
    }
    if row["first_value"] is None or row["second_value"] is None:
        return row | {"status": "no_answerable_group"}
    if measure == "robustness":
        sizes = np.concatenate([left.sizes[left.is_present], right.sizes[right.is_present]])
        is_same = len(np.unique(sizes)) == 1 or (not in_one.any() and bool((left.sizes == right.sizes).all()))
        if not is_same:
            return row | {"status": "unequal_group_sizes"}
        if None not in chances:
            row["chance_difference"] = float(chances[0] or 0.0) - float(chances[1] or 0.0)
    row["difference"] = row["first_value"] - row["second_value"]
    answerable = [int((side.is_present & ~side.is_gap).sum()) for side in (left, right)]
    if min(answerable) < settings.minimum_groups:
        return row | {"status": "too_few_groups"}
    left_above, left_below, right_above, right_below = _resample(columns, settings)
    differences = _divide(left_above, left_below) - _divide(right_above, right_below)
    usable = differences[np.isfinite(differences)]
    low, high = np.quantile(usable, [(1 - settings.confidence) / 2, (1 + settings.confidence) / 2])
    p_value = _permute(left, right, measure, row["difference"], settings)
    return row | {"status": "compared", "low": float(low), "high": float(high), "p_value": p_value}


def _permute(left: _Counts, right: _Counts, measure: str, observed: float, settings: RobustnessSettings) -> float:
    """Return the two-sided p-value of exchanging whole groups between two clusters."""
    above = left.correct, right.correct
    below = _below(left, measure), _below(right, measure)
    in_both = np.flatnonzero(left.is_present & right.is_present)
    in_one = np.flatnonzero(left.is_present ^ right.is_present)
    count_left = int(left.is_present[in_one].sum())
    random = np.random.default_rng([settings.random_seed, 1])
    count_extreme = 0
    chunk = max(1, _CELLS // max(len(left.answers), 1))
    for start in range(0, settings.count_draws, chunk):
        rows = min(chunk, settings.count_draws - start)
        swaps = random.integers(0, 2, (rows, len(in_both))).astype(np.float64)
        chosen = np.zeros((rows, len(in_one)))
        if len(in_one):
            ranks = np.argsort(random.random((rows, len(in_one))), axis=1)
            np.put_along_axis(chosen, ranks[:, :count_left], 1.0, axis=1)

        def mix(first: Floats, second: Floats, swaps: Floats = swaps, chosen: Floats = chosen) -> tuple[Floats, Floats]:
            single = first[in_one] + second[in_one]
            moved = swaps @ (second[in_both] - first[in_both])
            mixed_left = first[in_both].sum() + moved + chosen @ single
            mixed_right = second[in_both].sum() - moved + single.sum() - chosen @ single
            return mixed_left, mixed_right

        (left_above, right_above), (left_below, right_below) = mix(*above), mix(*below)
        drawn = _divide(left_above, left_below) - _divide(right_above, right_below)
        # a draw in which one side has no figure counts as extreme: the p-value is never too small for it
        count_extreme += int((~(np.abs(drawn) < abs(observed) - _NEGLIGIBLE)).sum())
    return (1 + count_extreme) / (1 + settings.count_draws)
