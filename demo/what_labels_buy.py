"""What 60, 150 and 300 labels show, drawn again and again from those of two builds, for docs/what-60-labels-buy.md.

``python demo/what_labels_buy.py DEMO.duckdb EXPERTS.duckdb`` reads both builds and writes the table of the page.
"""

import re
import sys
from pathlib import Path

import numpy as np

from hcat.calibration.conformal import clusters_needed, conformal_quantile
from hcat.calibration.decidable import auroc
from hcat.calibration.threshold_tables import count_needed
from hcat.engine.warehouse import open_warehouse
from hcat.statistics.clustered import rate_interval

PAGE = Path(__file__).parents[1] / "docs" / "what-60-labels-buy.md"
SIZES = (60, 150, 300)
DRAWS = 200
#: The promise of sets, and the appetite `moderate`: what may pass of failed answers, and be held back of good ones.
ALPHA, FALSE_ACCEPTS, FALSE_REJECTS, CONFIDENCE = 0.05, 0.05, 0.30, 0.95

LABELS = """
select cluster_id, human_label = 0 as is_failed, raw_score
from fct_evaluations inner join fct_interactions using (interaction_id)
where metric_name = 'groundedness' and human_label is not null and raw_score is not null
order by interaction_id
"""


def describe(name: str, database: str) -> list[str]:
    """Return the rows of the table for one build."""
    with open_warehouse(Path(database)) as opened:
        found = opened.columns_of(LABELS, ("fct_evaluations", "fct_interactions"))
    clusters, failed, scores = found["cluster_id"].astype(str), found["is_failed"].astype(bool), found["raw_score"]
    whole = rate_interval(failed, clusters)
    quality = auroc(scores, (~failed).astype(int))
    rows = [
        f"| **{name}**, all {len(failed)} labels ({failed.sum()} failed, {whole.count_clusters} clusters; AUROC "
        f"{quality:.2f}) | {whole.estimate:.3f} [{whole.low:.3f}, {whole.high:.3f}] | | | |"
    ]
    generator = np.random.default_rng(20260101)
    needs = (count_needed(FALSE_ACCEPTS, CONFIDENCE), count_needed(FALSE_REJECTS, CONFIDENCE))
    for size in SIZES:
        widths, counts, has_set, decided = [], [], [], []
        for _ in range(DRAWS):
            rows_drawn = generator.permutation(len(failed))
            own, others = rows_drawn[:size], rows_drawn[size:]
            rate = rate_interval(failed[own], clusters[own])
            widths.append((rate.high - rate.low) / 2)
            counts.append((failed[own].sum(), (~failed[own]).sum()))
            # the lower a score, the less it fits a good answer, and the higher, the less a failed one
            good, bad = own[~failed[own]], own[failed[own]]
            lowest = -conformal_quantile(-scores[good], ALPHA, clusters[good])
            highest = conformal_quantile(scores[bad], ALPHA, clusters[bad])
            has_set.append(np.isfinite(lowest) and np.isfinite(highest))
            decided.append(np.mean((scores[others] >= lowest) != (scores[others] <= highest)))
        have = np.median(counts, axis=0).astype(int)
        enough = np.mean([count[0] >= needs[0] and count[1] >= needs[1] for count in counts])
        rows.append(
            f"| {size} labels | ± {np.median(widths):.3f} | {have[0]} failed, {have[1]} good | {np.mean(has_set):.0%}; "
            f"decides {np.median(decided):.0%} | {enough:.0%} |"
        )
    return rows


def main() -> None:
    """Write the table of the page."""
    needed = clusters_needed(ALPHA)
    table = [
        "| build | share failing, half width | labels at hand | "
        f"sets possible (need {needed} clusters of each kind) | threshold can be shown to keep {FALSE_ACCEPTS:.0%} "
        f"(need {count_needed(FALSE_ACCEPTS, CONFIDENCE)} failed, {count_needed(FALSE_REJECTS, CONFIDENCE)} good) |",
        "|---|---|---|---|---|",
    ]
    for name, database in zip(("Bundled demo", "ExpertQA, rated by people"), sys.argv[1:], strict=True):
        table += describe(name, database)
    page = PAGE.read_text(encoding="utf-8")
    text = "\n".join(["<!-- table -->", *table, "<!-- end -->"])
    PAGE.write_text(re.sub(r"<!-- table -->.*<!-- end -->", lambda _: text, page, flags=re.S), encoding="utf-8")


if __name__ == "__main__":
    main()
