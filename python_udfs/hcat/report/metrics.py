"""Conceptual soundness of the metrics: formula, scale, inputs, reference and limits of each."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report.ledger import Build
from hcat.report.showing import EXCERPT_CHARACTERS, Gap, format_number, group_by, to_anchor


class Family(NamedTuple):
    """A family of metrics in words: what it measures, its formula, what it cannot see, and who proposed it."""

    measures: str
    formula: str
    limits: str
    source: str


#: By metric family; docs/metrics.md has the details.
FAMILIES = {
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


LIST_SCORED = "select distinct metric_name from fct_evaluations where raw_score is not null"


@cache
def read_public_accuracy() -> dict[str, dict[str, Any]]:
    """Return the accuracy of groundedness on public labels, by name of the classifier."""
    text = Path(__file__).with_name("public_accuracy.json").read_text(encoding="utf-8")
    figures: dict[str, dict[str, Any]] = json.loads(text)
    return figures


def find_public_accuracy(classifier: str | None) -> dict[str, Any] | None:
    """Return the public accuracy of groundedness with a classifier; None where it was never measured."""
    return read_public_accuracy().get(classifier or "")


def describe_metrics(source: Warehouse, build: Build) -> dict[str, Any]:
    """Return the catalogue by family, primary metrics first, the decisions on thresholds, and the public accuracy."""
    families: list[Row] = []
    for family, metrics in sorted(group_by(build.metrics, "family").items()):
        rows = [_describe_metric(metric) for metric in metrics]
        words = FAMILIES.get(family)
        families.append(
            {
                "family": family,
                "anchor": to_anchor("family", family),
                "words": words,
                "metrics": rows,
                "count": len(rows),
            }
        )
    unknown = [row["family"] for row in families if row["words"] is None]
    gaps = []
    if not families:
        gaps.append(
            Gap("The catalogue of metrics: dim_metrics has no row.", "`dbt build` with rows in the seed metric_catalog")
        )
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
    return {
        "families": families,
        "decisions": [_describe_metric(metric) for metric in build.primary.values()],
        "run": build.run,
        "accuracy": None if build.run is None else find_public_accuracy(build.run.get("classifier_name")),
        "gaps": gaps,
    }


def _describe_metric(metric: Row) -> Row:
    low, high = metric["range_low"], metric["range_high"]
    return {
        **metric,
        "anchor": to_anchor("metric", metric["metric_name"]),
        "threshold": format_number(metric["threshold"]),
        "description": clean_label(metric["description"], EXCERPT_CHARACTERS),
        "decided_by": clean_label(metric["decided_by"]) if metric["decided_by"] else "",
        "better": "higher" if metric["direction"] == "higher_is_better" else "lower",
        "range": f"{'−∞' if low is None else f'{low:g}'.replace('-', '−')} to {'∞' if high is None else f'{high:g}'}",
        "needs": (metric["requires"] or "nothing").replace("|", ", "),
        "source": clean_label(metric["source"]) if metric["source"] else "",
        "valid_until": str(metric["valid_until"] or ""),
    }
