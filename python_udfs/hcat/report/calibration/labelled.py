"""The labelled answers of a metric and the axis on which their scores are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from hcat.engine.warehouse import Row

#: Metric of the figures where several metrics have equally many labels.
PREFERRED_METRIC = "groundedness"
#: Scores behind a density or histogram, of each label.
MAXIMUM_SCORES = 2000

# A seeded hash order chooses what is drawn, so that the figure does not depend on the order of rows.
SAMPLE_LABELLED = """
select interaction_id, raw_score, calibrated_probability, human_label,
    count(*) over (partition by human_label) as count_labels
from fct_evaluations
where metric_name = $metric_name and human_label is not null and raw_score is not null
qualify row_number() over (
    partition by human_label order by md5('calibration' || interaction_id), interaction_id
) <= $maximum
order by human_label, md5('calibration' || interaction_id), interaction_id
"""


def find_score_range(metric: Row | None, scores: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a score axis: 3 % wider than the scores, but inside the range of the metric."""
    low, high = min(scores), max(scores)
    margin = 0.03 * (high - low) or 0.05
    low, high = low - margin, high + margin
    if metric is not None:
        low = max(low, -float("inf") if metric["range_low"] is None else metric["range_low"])
        high = min(high, float("inf") if metric["range_high"] is None else metric["range_high"])
    return (low, high) if low < high else (low - 0.05, high + 0.05)
