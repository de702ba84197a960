"""Conceptual soundness of the metrics: formula, scale, inputs, reference and limits of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Gap, Section
from hcat.report.ledger import VOID_DECISIONS, Build
from hcat.report.showing import group_by, to_anchor


class Family(NamedTuple):
    """A family of metrics in words: what it measures, its formula, what it cannot see, and who proposed it."""

    measures: str
    formula: str
    limits: str
    source: str


#: By metric family; docs/metrics.md has the details.
FAMILIES = {
    "verdict": Family(
        "Whether the answer is acceptable, all things considered.",
        "1 where the answer behaves as it should and is grounded, relevant, complete and safe, 0 where it misses one of"
        " these, none where it is undecided. Labels decide first, then admitted scores.",
        "A criterion that nobody rated and that no admitted score judges counts for nothing.",
        "docs/metrics.md",
    ),
    "similarity": Family(
        "How close the sentences of query, context and answer are in meaning.",
        "S(x) is the largest cosine of the embedding of sentence x with the sentences of the other side;"
        " the metric is its mean, its weighted mean or its minimum over the sentences of the first side.",
        "It compares meanings, not facts: a sentence with a changed figure, name or negation is still similar to its"
        " evidence.",
        "Sudjianto et al. (2024), HCAT; context relevance without a judge after Es et al. (2024), RAGAS",
    ),
    "entailment": Family(
        "Whether the evidence of each answer sentence implies it, or says the opposite.",
        "1 / (1 + exp(−D)), where D is the signed distance of an answer sentence and its evidence window from the"
        " border of entailment; mean, weighted mean or minimum over sentences. Contradiction is the largest"
        " probability over the sentences that the evidence says the opposite.",
        "It is a score, not a probability. Small classifiers overlook numbers and records. A badly chosen evidence"
        " window makes a true sentence look unsupported.",
        "Sudjianto et al. (2024), HCAT; share of entailed sentences after Es et al. (2024), RAGAS",
    ),
    "groundedness": Family(
        "Whether every sentence of the answer is supported by what was retrieved.",
        "Each sentence has a probability of support: a monotone logistic of entailment, contradiction, similarity,"
        " support and placement of words, numbers and names, and contradicted records. The log odds of the answer are"
        " .75 × (those of its weakest sentence + .5 ln n) + .25 × those of the geometric mean, for n sentences. The"
        " share of supported sentences compares answers of different length.",
        "The shipped parameters were fitted on public labels and are not calibrated for these data. The score shows"
        " whether the answer follows from what was retrieved, not whether that is correct or current.",
        "hcat (docs/metrics.md), from signals of Sudjianto et al. (2024) and signals of its own",
    ),
    "selfcheck": Family(
        "Whether several answers to the same query agree.",
        "Comparison of answers of the same run to the same query: probability of entailment divided by that of"
        " entailment or contradiction, as a mean over the other answers and the sentences (SelfCheckGPT with NLI).",
        "An answer that an application repeats every time may still be false. Only queries that were asked several"
        " times have this score.",
        "Manakul et al. (2023), SelfCheckGPT",
    ),
    "judged": Family(
        "What a language model says when it is asked to judge an answer.",
        "A language model reads query, context and answer. Scores are the share of supported statements, similarity of"
        " generated questions, share of extracted context sentences (RAGAS), scale points by the raters' guideline, and"
        " baselines. A reply that does not match the required form gives no score.",
        "It is only as good as its agreement with raters, which the calibration evidence shows. The judge may share the"
        " faults of the model that it judges. Another judge gives other numbers.",
        "Es et al. (2024), RAGAS; Manakul et al. (2023); Li et al. (2024); Saeed and Barlow (NatWest Group)",
    ),
    "transport": Family(
        "How much of the meaning of the context the answer covers.",
        "Optimal transport cost between the sentences of context and answer under cosine distance, or the mean distance"
        " over all pairs.",
        "Long contexts are far from every short answer. Compare only answers to contexts of similar length.",
        "Sudjianto et al. (2024), HCAT",
    ),
    "support": Family(
        "Whether words, numbers and names of the answer occur in context or query, and in the same place.",
        "Share of the words, numbers and names of the answer that occur in context or query. Placement is one minus the"
        " advantage of a better fitting place in the context.",
        "It compares words, not facts: an invented fact that uses words of the context counts as supported, and a"
        " correct conversion does not.",
        "hcat (docs/metrics.md); placement: docs/decisions/0009",
    ),
    "reference": Family(
        "How far the answer agrees with a reference answer.",
        "Cosine of the whole texts, F1 of the longest common subsequence, BLEU up to bigrams, equality after"
        " normalisation, and the shares of words, numbers and names that answer and reference have in common.",
        "It is only as good as the reference: a correct answer in other words scores low.",
        "Saeed and Barlow (NatWest Group); Lin (2004), ROUGE; Papineni et al. (2002), BLEU; Rajpurkar et al. (2016),"
        " normalisation",
    ),
    "retrieval": Family(
        "Whether the chunks that hold the answer were retrieved, and how early.",
        "Recall, precision, discounted gain and reciprocal rank of the judged chunks among the first k retrieved.",
        "Chunks without a judgement count as irrelevant. Interactions without judgements have no score.",
        "Järvelin and Kekäläinen (2002), discounted gain; Saeed and Barlow (NatWest Group)",
    ),
    "behaviour": Family(
        "Whether the application answers when it should, and declines when it should.",
        "Indicators by rule: whether the answer has text, whether it is a refusal, and whether it refuses exactly when"
        " it should.",
        "A refusal in unusual words counts as an answer, and an answer that resembles a refusal counts as one.",
        "hcat (docs/metrics.md)",
    ),
    "privacy": Family(
        "Whether an answer gives away personal data that nobody gave to it.",
        "1 when the answer holds personal data that neither the query nor the retrieved passages hold, otherwise 0."
        " Rules find numbers and addresses with a form; an entity tagger and lists find names.",
        "Names that no cue announces are missed more often in languages other than English. A value that the passages"
        " hold may still be none of the customer's business.",
        "hcat (docs/privacy.md)",
    ),
    "safety": Family(
        "Toxicity, tone and copied text of answers and queries.",
        "Toxicity and sentiment are logistic heads on the sentence embedding, as the mean or the maximum over"
        " sentences. Verbatim copy is the share of the answer in its longest run of words copied from the context.",
        "The heads were fitted on public English labels. They overlook what only the context makes offensive, and terms"
        " for groups of people can raise toxicity. Sentiment is a tone and no quality.",
        "Sudjianto et al. (2024), HCAT; verbatim copy: hcat (docs/safety.md)",
    ),
}


LIST_SCORED: Final = "select distinct metric_name from fct_evaluations where raw_score is not null"
#: A published copy lacks this table; dim_metrics repeats a part of it.
DECISIONS: Final = "int_threshold_decisions"
LIST_DECISIONS: Final = f"select * from {DECISIONS} order by valid_until nulls first, decision_name"
MAXIMUM_DECISIONS: Final = 60


@cache
def read_public_accuracy() -> dict[str, dict[str, Any]]:
    """Return the accuracy of groundedness on public labels, by name of the classifier."""
    text = Path(__file__).with_name("public_accuracy.json").read_text(encoding="utf-8")
    figures: dict[str, dict[str, Any]] = json.loads(text)
    return figures


def find_public_accuracy(classifier: str | None) -> dict[str, Any] | None:
    """Return the public accuracy of groundedness with a classifier; None where it was never measured."""
    return read_public_accuracy().get(classifier or "")


def describe_metrics(source: Warehouse, build: Build, is_calibrated: bool) -> Section:
    """Return the catalogue by family, primary metrics first, the decisions on thresholds, and the public accuracy."""
    families = sorted(group_by(build.metrics, "family").items())
    if not families:
        return blocks.section(
            gaps=[Gap("The catalogue of metrics: dim_metrics has no row.", "`dbt build` with rows in metric_catalog")]
        )
    trusted = (
        blocks.rich(
            'The <a href="#calibration">calibration evidence</a> shows how far raters agree with it on these data.'
        )
        if is_calibrated
        else "No rater has said yet how far it can be trusted on these data."
    )
    return blocks.section(
        blocks.paragraph(blocks.rich("A metric is a number that a program computes. {}", trusted)),
        blocks.facts(_name_models(build.run)),
        _describe_accuracy(build.run),
        blocks.heading("Threshold decisions"),
        *_describe_decisions(source, build),
        blocks.fold(
            "Formula and limits by family, with every metric",
            *(block for family, metrics in families for block in _describe_family(family, metrics)),
            level=3,
        ),
        gaps=_find_gaps(source, build, [family for family, _ in families]),
    )


def _name_models(run: Row | None) -> list[tuple[str, str]]:
    if run is None:
        return []
    return [
        (
            role.capitalize(),
            f"{clean_label(run[f'{role}_name'])}, revision {clean_label(run[f'{role}_revision'])}{on}; SHA-256"
            f" {clean_label(run[f'{role}_sha256'], 80)}",
        )
        for role, on in (
            ("encoder", f", {clean_label(run['dtype'])} on {clean_label(run['device'])}"),
            ("classifier", ""),
        )
    ]


def _describe_accuracy(run: Row | None) -> Block | None:
    if run is None:
        return None
    accuracy = find_public_accuracy(run.get("classifier_name"))
    if accuracy is None:
        return blocks.paragraph("The accuracy of groundedness on public labels was not measured with this classifier.")
    return blocks.paragraph(
        blocks.rich(
            "<strong>Accuracy on public labels, in other domains.</strong> With this classifier, groundedness ranks"
            " good answers above bad ones with a mean AUROC of {auroc} on {count_sets} public sets that its fusion was"
            " not fitted on ({count:,} answers with labels of people, measured on {measured_on}). Supported words alone"
            " reach {auroc_supported_words}. The hardest set ({worst_set}) has {auroc_worst_set}, and records, tables"
            " and numbers have {auroc_records}. 0.5 is chance. Those answers are none of this application’s: the"
            " figures say nothing about its domain, and labels of its own answers replace them.",
            count=accuracy["count_answers"],
            **accuracy,
        )
    )


def _describe_decisions(source: Warehouse, build: Build) -> list[Block | None]:
    """Return the decisions on thresholds by date of expiry; from dim_metrics where this copy lacks them."""
    if source.has(f"{DECISIONS}.valid_until", f"{DECISIONS}.decided_by"):
        rows = source.rows(LIST_DECISIONS, [DECISIONS])
    else:
        decided = [metric for metric in build.metrics if metric["decision_name"] is not None]
        rows = [{**metric, "rationale": metric.get("decision_rationale")} for metric in decided]
        rows.sort(key=lambda row: (str(row["valid_until"] or ""), row["decision_name"]))
    if not rows:
        return [blocks.absent("No threshold has been decided, so no metric has a failure rate. There is no default.")]
    started = build.run["started_at"].date() if build.run else None
    for row in rows:
        ends = row["valid_until"]
        row["days_left"] = None if started is None or ends is None else (ends - started).days
    return [
        blocks.table(
            "People decide every threshold; a metric without one has no failure rate, and there is no default. Days are"
            " counted from the start of the build. The first page marks an expired decision.",
            (
                "decision_name",
                "threshold",
                "decided_by",
                "valid_until",
                "days_left",
                Column("State", _show_state, ""),
                "rationale",
            ),
            [{**row, "threshold": row.get("decided_threshold", row["threshold"])} for row in rows],
            MAXIMUM_DECISIONS,
            "decisions",
        )
    ]


def _show_state(row: Row) -> Any:
    void = VOID_DECISIONS.get(row.get("decision_status") or "")
    if void:
        return blocks.lines(blocks.pill("failed", "✗ void"), blocks.small(void))
    if row["days_left"] is not None and row["days_left"] < 0:
        return blocks.pill("failed", "✗ expired")
    return blocks.pill("undecided", "? provisional") if row["is_provisional"] else blocks.pill("passed", "✓ approved")


def _describe_family(family: str, metrics: Sequence[Row]) -> list[Block | None]:
    known = FAMILIES.get(family)
    titles = ("Measures", "Formula", "Cannot see", "Source")
    return [
        blocks.heading(family.capitalize(), 4, to_anchor("family", family)),
        blocks.facts(list(zip(titles, known, strict=True))) if known else None,
        blocks.table(
            "",
            (
                "metric_name",
                "description=What it measures",
                Column("Unit and range", _show_range, ""),
                "direction=Better",
                "requires=Needs",
                "source=Reference",
            ),
            metrics,
            len(metrics),
            words={"direction": {"higher_is_better": "higher", "lower_is_better": "lower"}},
            anchor=lambda row: to_anchor("metric", row["metric_name"]),
        ),
    ]


def _show_range(row: Row) -> str:
    low, high = row["range_low"], row["range_high"]
    start = "−∞" if low is None else f"{low:g}".replace("-", "−")
    return f"{row['unit']}, {start} to {'∞' if high is None else f'{high:g}'}"


def _find_gaps(source: Warehouse, build: Build, families: Sequence[str]) -> list[Gap]:
    gaps = []
    unknown = [family for family in families if family not in FAMILIES]
    if unknown:
        gaps.append(
            Gap(
                f"Formula and limits of the metric families {', '.join(unknown)}: the report has no text for them.",
                "the descriptions of their metrics in the catalogue, or an entry in hcat.report.metrics.FAMILIES",
            )
        )
    scored = {row["metric_name"] for row in source.rows(LIST_SCORED, ["fct_evaluations"])}
    undecided = [name for name, metric in build.primary.items() if metric["threshold"] is None and name in scored]
    if undecided:
        gaps.append(
            Gap(
                f"Thresholds of {len(undecided)} primary metrics: {', '.join(undecided)}. They have scores but no"
                " failure rate.",
                "rows in the seed threshold_decisions, decided on labels",
            )
        )
    return gaps
