"""All that is measured of robustness in one table, as the dbt model int_robustness_measured calls it."""

import pyarrow as pa

from hcat.engine.columns import stack_parts
from hcat.robustness.comparison import compare_at_equal_size
from hcat.robustness.groups import attribute_errors, group_answers
from hcat.robustness.rates import RobustnessSettings, measure_robustness
from hcat.robustness.reliability import measure_reliability
from hcat.robustness.variants import measure_variants


def measure_all(
    answers: pa.Table, pairs: pa.Table, verdicts: pa.Table, orders: pa.Table, confidence: float, random_seed: int
) -> pa.Table:
    """Return all that is measured of robustness and of metrics without a reference, one part per mart.

    Parameters
    ----------
    answers : Table
        Answers in groups: schema :data:`hcat.robustness.groups.ANSWER_SCHEMA`.
    pairs : Table
        Variants with their parents: the mart fct_robustness_pairs.
    verdicts, orders : Table
        As for :func:`hcat.robustness.reliability.measure_reliability`.
    confidence : float
        Two-sided, in (0, 1).
    random_seed : int

    Returns
    -------
    Table
        The parts ``groups``, ``errors``, ``rates``, ``differences``, ``variants`` and ``reliability``
        (:func:`hcat.engine.columns.stack_parts`).
    """
    settings = RobustnessSettings(confidence, random_seed)
    groups = group_answers(answers)
    return stack_parts(
        {
            "groups": groups,
            "errors": attribute_errors(answers),
            "rates": measure_robustness(groups, settings),
            "differences": compare_at_equal_size(answers, settings),
            "variants": measure_variants(pairs, confidence),
            "reliability": measure_reliability(verdicts, orders, confidence),
        }
    )
