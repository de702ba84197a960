"""A language model as judge: how far it and the other metrics agree with raters, and what it costs."""

from __future__ import annotations

from typing import Final

from hcat.engine.warehouse import Warehouse
from hcat.language.display import clean_label
from hcat.report import blocks
from hcat.report.blocks import Block
from hcat.report.words import WORDS

LIST_AGREEMENT: Final = """
select metric_name, method, coalesce(criterion, reference) as compared_with, statistic, interval_status, status, value,
    low as value_low, high as value_high, count_compared, count_scored, count_failed, count_no_verdict, count_calls,
    prompt_tokens + completion_tokens as count_tokens, language_model, count_interactions
from fct_judge_agreement
where statistic in ('percent_agreement', 'cohen_kappa', 'ranking_accuracy')
order by compared_with, method, metric_name, reference, statistic
"""


def describe_judges(source: Warehouse) -> list[Block]:
    """Return agreement and calls by metric and statistic; nothing where this warehouse has no judge."""
    rows = source.rows(LIST_AGREEMENT, ["fct_judge_agreement"])
    if not rows:
        return []
    models = clean_label(", ".join(sorted({row["language_model"] for row in rows if row["language_model"]})))
    return blocks.keep(
        (
            blocks.heading("Language model as judge, compared with the other metrics"),
            blocks.paragraph(
                f"{models} judged {max(row['count_interactions'] for row in rows):,} interactions, rated ones first."
                " Every metric is compared with the same labels of these interactions. A judge may share the faults of"
                " the model that it judges. Its prompts and answers are in fct_judge_calls."
            ),
            blocks.table(
                "Agreement with raters, with intervals over clusters. Ranking accuracy is"
                " the share of pairs of an accepted and a failed answer in which the accepted one scores higher; 0.5 is"
                " chance. No verdict: the judge was undecided or preferred the answer that stood first.",
                (
                    "metric_name",
                    "compared_with",
                    "statistic",
                    "value",
                    "status",
                    "count_compared=n",
                    "count_scored",
                    "count_failed",
                    "count_no_verdict",
                    "count_calls",
                    "count_tokens",
                ),
                rows,
                words={"status": WORDS["judges"]["statuses"]},
            ),
        )
    )
