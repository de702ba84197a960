"""The status of a round: who rated what, and what more labels would change."""

from pathlib import Path

import duckdb
import pytest
from test_sheets import make_warehouse

from hcat.review.status import describe_status

RATINGS = """
create or replace table base_ratings as
select *, scale_point is null as is_unjudged, 'staged' as record_status, 0 as correction, null::timestamp as rated_at,
    'ratings.jsonl' as source_file, if(rater = 'reader', 'chosen', 'audit') as sampling from (values
    ('plain', 'anna', 'person', 'relevance', '1.0', 2, 1, 'round_1'),
    ('plain', 'anna', 'person', 'relevance', '1.0', 1, 2, 'round_1'),
    ('formula', 'anna', 'person', 'relevance', '1.0', 0, 1, 'round_1'),
    ('-7', 'anna', 'person', 'relevance', '1.0', null, 1, 'round_1'),
    ('plain', 'ben', 'person', 'relevance', '0.9', 2, 1, 'round_1'),
    ('2026-05', 'reader', 'person', 'relevance', '1.0', 2, 1, 'round_1'),
    ('plain', 'cleo', 'person', 'relevance', '1.0', 2, 1, 'another round')
) as given (interaction_id, rater, rater_kind, criterion, guideline_version, scale_point, rating_pass, review_round);
create table fct_rater_agreement as
select * from (values
    ('relevance', 'krippendorff_alpha_ordinal', 'person', null, null, 'estimated', 'estimated', 0.7, 0.5, 0.85, 40, 30),
    ('faithfulness', 'krippendorff_alpha_ordinal', 'person', null, null, 'estimated', 'too_few_clusters', 1, null,
        null, 12, 9),
    ('fluency', 'krippendorff_alpha_ordinal', 'person', null, null, 'no_variation', 'none', null, null, null, 5, 5),
    ('bias', 'krippendorff_alpha_ordinal', 'person', null, null, 'no_pairable_values', 'none', null, null, null, 0, 0),
    ('relevance', 'percent_agreement', 'person', null, null, 'estimated', 'estimated', 0.9, 0.8, 0.95, 40, 30)
) as given (criterion, statistic, rater_kind, other_rater_kind, rater, status, interval_status, agreement,
    agreement_low, agreement_high, count_units, count_clusters);
create table fct_calibrators as
select 'groundedness' as metric_name, 'faithfulness' as criterion, 'all' as segment, 'fitted' as status,
    true as is_chosen, 100 as count_labels, 0.25 as log_loss, 0.04 as log_loss_standard_error;
create table fct_calibration_validity as
select 'groundedness' as metric_name, 'assistant 1' as version_class, 'in_force' as calibration_status,
    100 as count_labels;
create table fct_evaluations as
select 'groundedness' as metric_name,
    unnest(['accepted', 'failed', 'accepted', 'accepted|failed', null]) as prediction_set;
drop table fct_labels_needed;
create table fct_labels_needed as
select 'groundedness' as metric_name, 'decided_share' as purpose, 0.8::double as target, 100 as count_labels,
    130 as count_labels_needed, 30 as count_labels_missing, 'labels_missing' as label_status,
    null as count_labels_needed_least, null as count_labels_needed_most;
"""


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return make_warehouse(tmp_path)


def test_the_status_says_what_more_labels_would_change(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute(RATINGS)
    assert describe_status(warehouse) == [
        ("round", "round_1, 4 interactions"),
        ("round", "faithfulness: people rated 0 of 4 interactions"),
        ("round", "relevance: people rated 2 of 4 interactions, and could not judge 1"),
        ("ratings", "relevance by anna (person): 2 rated, 1 cannot judge, 1 of the round not rated, 1 rated twice"),
        ("ratings", "relevance by ben (person): 1 rated, 0 cannot judge, 3 of the round not rated; guideline 0.9"),
        (
            "agreement",
            "faithfulness, person: Krippendorff's alpha 1.00 on 12 interactions that several rated;"
            " no interval (too few clusters: 9; 10 are needed)",
        ),
        ("agreement", "fluency, person: no variation on 5 interactions that several rated"),
        (
            "agreement",
            "relevance, person: Krippendorff's alpha 0.70 (0.50 to 0.85) on 40 interactions that several rated;"
            " about 120 more would halve the interval",
        ),
        (
            "calibration",
            "groundedness by faithfulness: 100 labels, log loss 0.250 (standard error 0.040);"
            " about 300 more would halve the interval; in force for assistant 1",
        ),
        ("sets", "groundedness: 75% of 4 answers decided; target 80%: 100 labels, 130 are needed"),
        ("labels", "groundedness, decided share 0.8: 100 of 130, 30 missing"),
    ]


def test_a_round_without_ratings_has_a_status(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("drop table fct_labels_needed")
    assert dict(describe_status(warehouse, "round_1")) == {
        "round": "relevance: people rated 0 of 4 interactions",
        "ratings": "none of this round",
        "agreement": "no answer was rated by two raters of one kind: write the desk with --raters and --overlap",
        "calibration": "no score is calibrated",
        "sets": "no prediction sets",
        "labels": "no targets in the seed review_targets",
    }
