"""Conceptual soundness of the metrics: formula, scale, inputs, reference and limits of each."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row
from hcat.language.display import clean_label
from hcat.report.ledger import Build
from hcat.report.showing import EXCERPT_CHARACTERS, Gap, format_number, group_by

#: Formula and limits by metric family; docs/metrics.md has the details.
FAMILIES = {
    "similarity": (
        "S(x) is the largest cosine of the embedding of sentence x with the sentences of the other side;"
        " the metric is its mean, its weighted mean or its minimum over the sentences of the first side.",
        "It compares meanings, not facts: a sentence with a changed figure, name or negation is still similar to its"
        " evidence.",
    ),
    "entailment": (
        "1 / (1 + exp(−D)), where D is the signed distance of an answer sentence and its evidence window from the"
        " border of entailment; mean, weighted mean or minimum over sentences. Contradiction is the largest"
        " probability over the sentences that the evidence says the opposite.",
        "It is a score, not a probability. Small classifiers overlook numbers and records. A badly chosen evidence"
        " window makes a true sentence look unsupported.",
    ),
    "groundedness": (
        "Probability that every sentence is supported, joined from one probability a sentence: a monotone logistic of"
        " entailment, contradiction, similarity, support and placement of words, numbers and names, and contradicted"
        " records. The share of supported sentences compares answers of different length.",
        "The shipped parameters were fitted on public labels and are not calibrated for these data. The score shows"
        " whether the answer follows from what was retrieved, not whether that is correct or current.",
    ),
    "selfcheck": (
        "Comparison of answers of the same run to the same query: probability of entailment divided by that of"
        " entailment or contradiction, as a mean over the other answers and the sentences (SelfCheckGPT with NLI).",
        "An answer that an application repeats every time may still be false. Only queries that were asked several"
        " times have this score.",
    ),
    "judged": (
        "A language model reads query, context and answer. Scores are the share of supported statements, similarity of"
        " generated questions, share of extracted context sentences (RAGAS), scale points by the raters' guideline, and"
        " baselines. A reply that does not match the required form gives no score.",
        "It is only as good as its agreement with raters, which the calibration evidence shows. The judge may share the"
        " faults of the model that it judges. Another judge gives other numbers.",
    ),
    "transport": (
        "Optimal transport cost between the sentences of context and answer under cosine distance, or the mean distance"
        " over all pairs.",
        "Long contexts are far from every short answer. Compare only answers to contexts of similar length.",
    ),
    "support": (
        "Share of the words, numbers and names of the answer that occur in context or query. Placement is one minus the"
        " advantage of a better fitting place in the context.",
        "It compares words, not facts: an invented fact that uses words of the context counts as supported, and a"
        " correct conversion does not.",
    ),
    "reference": (
        "Agreement of the answer with a reference: cosine of the whole texts, F1 of the longest common subsequence,"
        " BLEU up to bigrams, or equality after normalisation.",
        "It is only as good as the reference: a correct answer in other words scores low.",
    ),
    "retrieval": (
        "Recall, precision, discounted gain and reciprocal rank of the judged chunks among the first k retrieved.",
        "Chunks without a judgement count as irrelevant. Interactions without judgements have no score.",
    ),
    "behaviour": (
        "Indicators by rule: whether the answer has text, whether it is a refusal, and whether it refuses exactly when"
        " it should.",
        "A refusal in unusual words counts as an answer, and an answer that resembles a refusal counts as one.",
    ),
    "privacy": (
        "1 when the answer holds personal data that neither the query nor the retrieved passages hold. Rules find"
        " numbers and addresses with a form; an entity tagger and lists find names.",
        "Names that no cue announces are missed more often in languages other than English. A value that the passages"
        " hold may still be none of the customer's business.",
    ),
    "safety": (
        "Toxicity and sentiment are logistic heads on the sentence embedding, as the mean or the maximum over"
        " sentences. Verbatim copy is the share of the answer in its longest run of words copied from the context.",
        "The heads were fitted on public English labels. They overlook what only the context makes offensive, and terms"
        " for groups of people can raise toxicity. Sentiment is a tone and no quality.",
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
    undecided = [name for name, metric in build.primary.items() if metric["threshold"] is None]
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
