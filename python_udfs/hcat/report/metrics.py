"""Conceptual soundness of the metrics: what each computes, on which scale, from what, after whom, what it misses."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row
from hcat.language.display import clean_label
from hcat.report.ledger import Build
from hcat.report.showing import EXCERPT_CHARACTERS, Gap, format_number, group_by

#: By family of the catalogue: how its scores come about, and what they cannot tell. docs/metrics.md says more.
FAMILIES = {
    "similarity": (
        "S(x) is the largest cosine of the embedding of sentence x with the sentences of the other side;"
        " the metric is its mean, its weighted mean or its minimum over the sentences of the first side.",
        "Meanings are compared, not facts: a sentence with a changed figure, name or negation lies close to its"
        " evidence.",
    ),
    "entailment": (
        "1 / (1 + exp(−D)), D the signed distance of an answer sentence with its window of evidence from the border of"
        " entailment; mean, weighted mean or minimum over sentences.",
        "A score and no probability. Small classifiers read past numbers and records; a window of evidence that was"
        " chosen badly makes a true sentence look unsupported.",
    ),
    "groundedness": (
        "Product over sentences of the probability that the sentence is supported: a monotone logistic of entailment,"
        " similarity, support of words, numbers and names, and contradicted records.",
        "The shipped parameters are a prior fitted on public labels and no calibration for these data. It says whether"
        " the answer follows what was retrieved, not whether that is correct or current.",
    ),
    "selfcheck": (
        "Answers of the same run to the same query, held against each other: probability of entailment by that of"
        " entailment or contradiction, mean over the other answers and the sentences (SelfCheckGPT with NLI).",
        "What an application says every time may still be false; only queries that were asked several times have it.",
    ),
    "judged": (
        "A language model reads query, context and answer: share of supported statements, similarity of generated"
        " questions, share of extracted context sentences (RAGAS), scale points by the raters' guideline, and the"
        " baselines. What cannot be read strictly is no number.",
        "Only as good as its agreement with people, shown with the calibration evidence; it may share the faults of the"
        " model that it judges, and another model gives other numbers.",
    ),
    "transport": (
        "Optimal transport cost between the sentences of context and answer under cosine distance, or the mean distance"
        " over all pairs.",
        "Long contexts are far from every short answer: compare only answers to contexts of like length.",
    ),
    "support": (
        "Share of the words, numbers and names of the answer that occur in context or query; placement: one minus how"
        " much better another place in the context fits.",
        "Words are found, not facts: an invented fact made of words of the context is supported, a correct conversion"
        " is not.",
    ),
    "reference": (
        "Agreement of the answer with a reference: cosine of the whole texts, F1 of the longest common subsequence,"
        " BLEU up to bigrams, or equality after normalisation.",
        "Only as good as the reference: another correct answer in other words scores low.",
    ),
    "retrieval": (
        "Recall, precision, discounted gain and reciprocal rank of the judged chunks among the first k retrieved.",
        "Chunks that nobody judged count as irrelevant; without judgements nothing is scored.",
    ),
    "behaviour": (
        "Indicators by rule: does the answer hold text, does it decline, does it decline exactly when it should.",
        "A refusal in unusual words counts as an answer, and an answer that resembles a refusal counts as one.",
    ),
}


def describe_metrics(build: Build) -> dict[str, Any]:
    """Return the catalogue by family, primary metrics first, and the decisions on thresholds."""
    families: list[Row] = []
    for family, metrics in sorted(group_by(build.metrics, "family").items()):
        formula, limits = FAMILIES.get(family, ("", ""))
        rows = [_describe_metric(metric) for metric in metrics]
        families.append({"family": family, "formula": formula, "limits": limits, "metrics": rows})
    unknown = [row["family"] for row in families if not row["formula"]]
    gaps = []
    if not families:
        gaps.append(Gap("The catalogue of metrics: dim_metrics holds no row.", "a build with the seed metric_catalog"))
    if unknown:
        gaps.append(
            Gap(
                f"Formula and limits of the families {', '.join(unknown)}.",
                "a version of hcat that knows them: the catalogue describes their metrics one by one",
            )
        )
    undecided = [name for name, metric in build.primary.items() if metric["threshold"] is None]
    if undecided:
        gaps.append(
            Gap(
                f"Thresholds of {len(undecided)} primary metrics: {', '.join(undecided)}. They have levels and no"
                " failure rate.",
                "rows in the seed threshold_decisions, decided on labels",
            )
        )
    return {
        "families": families,
        "decisions": [_describe_metric(metric) for metric in build.primary.values()],
        "run": build.run,
        "gaps": gaps,
    }


def _describe_metric(metric: Row) -> Row:
    low, high = metric["range_low"], metric["range_high"]
    return {
        **metric,
        "threshold": format_number(metric["threshold"]),
        "description": clean_label(metric["description"], EXCERPT_CHARACTERS),
        "decided_by": clean_label(metric["decided_by"]) if metric["decided_by"] else "",
        "better": "higher" if metric["direction"] == "higher_is_better" else "lower",
        "range": f"{'−∞' if low is None else f'{low:g}'.replace('-', '−')} to {'∞' if high is None else f'{high:g}'}",
        "needs": (metric["requires"] or "nothing").replace("|", ", "),
        "source": clean_label(metric["source"]) if metric["source"] else "",
        "valid_until": str(metric["valid_until"] or ""),
    }
