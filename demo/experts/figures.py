"""Read what docs/experts.md quotes from the marts of a build into figures.json, and write the tables of the page.

``python demo/experts/figures.py WAREHOUSE_FILE`` reads a build. Without an argument it writes the tables alone.
"""

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from hcat.calibration.decidable import auroc
from hcat.statistics.clustered import rate_interval
from hcat.statistics.clusters import draw_clusters, hash_folds

FOLDER = Path(__file__).parent
FIGURES = FOLDER / "figures.json"
PAGE = FOLDER.parents[1] / "docs" / "experts.md"
DRAWS = 500
#: The scores whose calibrators the page shows.
SHOWN = ("groundedness", "query_coverage__mean")
#: A field of fewer experts is in the marts and not on the page.
FEWEST_EXPERTS = 11

SCORES = """
select calibration_targets.criterion, metric_name as score, cluster_id, human_label as label,
    dim_metrics.threshold is not null as has_threshold, coalesce(is_failing, false) as is_failing,
    if(direction = 'lower_is_better', -raw_score, raw_score) as merit
from fct_evaluations
inner join dim_metrics using (metric_name)
inner join main.calibration_targets using (metric_name)
inner join fct_interactions using (interaction_id)
where human_label is not null and raw_score is not null
order by calibration_targets.criterion, metric_name, interaction_id
"""
PEOPLE = """
select criterion, application_version as system, topic as field, ratings.cluster_id, ratings.human_label as label
from fct_ratings as ratings inner join fct_interactions using (interaction_id)
order by criterion, interaction_id
"""
CALIBRATORS = """
select calibrators.metric_name as score, calibrators.family, calibrators.status, calibrators.is_chosen,
    calibrators.count_labels, calibrators.count_clusters, brier_score, log_loss_difference, log_loss_difference_low,
    log_loss_difference_high, calibration_slope
from fct_calibrators as calibrators
left join fct_calibration_quality as quality
    on calibrators.metric_name = quality.metric_name and calibrators.family = quality.calibrator
where calibrators.family in ('logistic', 'ordinal', 'multinomial')
order by 1, 2
"""
SETS = """
select metric_name as score, scope, human_label as label, count_labels, count_clusters,
    coverage, share_single, share_decidable
from fct_conformal_coverage
where stratification = 'label_conditional' and scope in ('marginal', 'label') and alpha = 0.1
order by all
"""
LEVELS = """
select criterion, scale_point, scale_label, count(*) as count, count(*) filter (where has_context) as count_with_passage
from fct_ratings inner join fct_interactions using (interaction_id) group by all order by all
"""
THRESHOLDS = """
select metric_name as score, risk_appetite, threshold, status, false_accept_rate, false_reject_rate, verdict
from fct_metric_thresholds where method = 'conformal' and metric_name = 'groundedness' order by all
"""
COUNTS = """
select (select count(*) from fct_interactions) as claims,
    (select count(*) from fct_interactions where has_context) as claims_with_passage,
    (select count(*) from fct_interactions where not has_context) as claims_without_passage,
    (select count(*) from fct_interactions) - (select count(*) from fct_ratings where criterion = 'faithfulness')
        as claims_without_support_judged,
    (select count(distinct query_id) from fct_interactions) as questions,
    (select count(distinct cluster_id) from fct_interactions) as experts,
    (select count(*) from fct_ratings where rater_kind = 'person') as judgements_by_people,
    (select count(*) from fct_ratings where rater_kind <> 'person') as judgements_by_others,
    (select count(*) from stg_rejected_records) as rejected,
    (select max(count_shared_queries) from fct_version_comparisons) as shared_questions,
    (select count(*) filter (where verdict in ('better', 'worse')) from fct_version_comparisons) as versions_told_apart,
    fields.*, (select count(*) from fct_findings) as findings
from (
    select count(*) filter (where test_status = 'tested') as fields_tested,
        count(*) filter (where is_weak) as fields_weak
    from fct_marginal_weaknesses where dimension = 'topic' and metric_name = 'groundedness'
) as fields
"""


def rate(hits: Iterable[bool], clusters: Iterable[str]) -> dict[str, Any]:
    """Return a share with its interval by expert."""
    flags, names = np.array(list(hits)), list(clusters)
    found = rate_interval(flags, names)
    return {
        "count": len(flags), "count_hits": int(flags.sum()), "experts": len(set(names)),
        "rate": float(flags.mean()), "low": found.low, "high": found.high,
    }  # fmt: skip


def rank(merits: Any, labels: Any, clusters: Any) -> dict[str, Any]:
    """Return how a score ranks the labels, with a bootstrap over experts."""
    _, codes = np.unique(clusters, return_inverse=True)
    counts = draw_clusters(np.random.default_rng(0), codes.max() + 1, DRAWS).astype(int)
    drawn = [np.repeat(np.arange(len(codes)), row[codes]) for row in counts]
    low, high = np.quantile([auroc(merits[rows], labels[rows]) for rows in drawn], [0.025, 0.975])
    return {
        "count": len(labels), "count_failed": int((labels == 0).sum()), "experts": int(codes.max() + 1),
        "auroc": auroc(merits, labels), "low": float(low), "high": float(high),
    }  # fmt: skip


def read(warehouse: Path) -> dict[str, Any]:
    """Return the figures of a build."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        connection.execute("set schema = 'main_hcat'")
        ask = {name: connection.sql(sql).df() for name, sql in {"scores": SCORES, "people": PEOPLE}.items()}
        tables = {
            "calibrators": CALIBRATORS,
            "sets": SETS,
            "thresholds": THRESHOLDS,
            "levels": LEVELS,
            "counts": COUNTS,
        }
        found: dict[str, Any] = {
            name: connection.sql(sql).arrow().read_all().to_pylist() for name, sql in tables.items()
        }
    found["counts"], found["agreement"], found["in_force"], found["rates"] = found["counts"][0], [], [], []
    for (criterion, score), rows in ask["scores"].groupby(["criterion", "score"]):
        merits, labels, clusters = (rows[name].to_numpy() for name in ("merit", "label", "cluster_id"))
        found["agreement"].append({"criterion": criterion, "score": score, **rank(merits, labels, clusters)})
        for label in (0, 1) if rows["has_threshold"].any() else ():
            own = rows[rows["label"] == label]
            passed = rate(~own["is_failing"], own["cluster_id"])
            found["in_force"].append({"criterion": criterion, "score": score, "label": label, **passed})
    for criterion, rows in ask["people"].dropna(subset="label").groupby("criterion"):
        folds = hash_folds(rows["cluster_id"], 5, "experts")
        for dimension in ("system", "field"):
            merits = np.empty(len(rows))
            for fold in range(5):
                others = rows[folds != fold]
                known = others.groupby(dimension)["label"].mean()
                merits[folds == fold] = rows[folds == fold][dimension].map(known).fillna(others["label"].mean())
            ranked = rank(merits, rows["label"].to_numpy(), rows["cluster_id"].to_numpy())
            found["agreement"].append({"criterion": criterion, "score": f"{dimension} alone", **ranked})
            for segment, own in rows.groupby(dimension):
                failed = rate(own["label"] == 0, own["cluster_id"])
                found["rates"].append({"criterion": criterion, "dimension": dimension, "segment": segment, **failed})
        failed = rate(rows["label"] == 0, rows["cluster_id"])
        found["rates"].append({"criterion": criterion, "dimension": "all", "segment": "all", **failed})
    return json.loads(json.dumps(found, default=float), parse_float=lambda text: round(float(text), 6))  # type: ignore[no-any-return]


def share(value: float | None) -> str:
    """Return a share as the page writes it.

    Examples
    --------
    >>> share(0.0499), share(-0.01), share(None)
    ('.050', '-.010', '-')
    """
    return "-" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def cell(row: dict[str, Any], name: str, low: str = "low", high: str = "high") -> str:
    """Return a figure with its interval."""
    return "-" if row[name] is None else f"{share(row[name])} [{share(row[low])}, {share(row[high])}]"


def tables(found: dict[str, Any]) -> dict[str, list[list[Any]]]:
    """Return the tables of the page by name, each with its header."""
    rates = {(row["criterion"], row["segment"]): row for row in found["rates"]}
    by: dict[str, list[list[Any]]] = {}
    by["rates"] = [["system, field", "experts", "not fully supported", "not held correct", "not relevant"]]
    for told in (row for row in found["rates"] if row["criterion"] == "relevance"):
        if told["dimension"] != "field" or told["experts"] >= FEWEST_EXPERTS:
            rows = [rates[criterion, told["segment"]] for criterion in ("faithfulness", "truthfulness", "relevance")]
            failed = [f"{row['count_hits']} of {row['count']}: {cell(row, 'rate')}" for row in rows]
            by["rates"].append([told["segment"], told["experts"], *failed])
    by["agreement"] = [["criterion", "score", "n (failed)", "experts", "AUROC"]]
    # one row says enough of relevance
    shown = [row for row in found["agreement"] if row["criterion"] != "relevance" or "alone" not in row["score"]]
    for row in sorted(shown, key=lambda row: (row["criterion"], -row["auroc"])):
        count = f"{row['count']} ({row['count_failed']})"
        by["agreement"].append([row["criterion"], row["score"], count, row["experts"], cell(row, "auroc")])
    by["calibrators"] = [["score", "family", "status", "n", "Brier score", "log loss beyond the base rate", "slope"]]
    for row in (row for row in found["calibrators"] if row["score"] in SHOWN):
        brier = share(row["brier_score"])
        gain = cell(row, *(f"log_loss_difference{part}" for part in ("", "_low", "_high")))
        family = row["family"] + (", taken" if row["is_chosen"] else "")
        told = [brier, gain, share(row["calibration_slope"])]
        by["calibrators"].append([row["score"], family, row["status"], row["count_labels"], *told])
    return by


def write(page: str, found: dict[str, Any]) -> str:
    """Return the page with its tables written anew."""
    for name, rows in tables(found).items():
        lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
        text = "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
        page = re.sub(rf"(?s)(<!-- {name} -->\n).*?(\n<!-- end -->)", rf"\g<1>{text}\2", page)
    return page


if __name__ == "__main__":
    if sys.argv[1:]:
        FIGURES.write_text(json.dumps(read(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    PAGE.write_text(write(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
