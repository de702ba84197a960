-- What raters, sheets and the status of a round read of a build. hcat/review/rounds.py reads this file.

-- query: list_rounds
select review_round, round_number, count(*) as count_drawn
from int_interactions_sampled_for_review
group by review_round, round_number
order by round_number desc

-- query: list_drawn
select review_id, review_round, interaction_id, sampling, inclusion_probability
from int_interactions_sampled_for_review
order by review_id

-- query: list_guidelines
select criterion, scale_point, scale_label, guideline_version, guideline_text
from rating_scales
where criterion in (select criterion from calibration_targets)
order by criterion, scale_point

-- query: list_labels_needed
select metric_name, purpose, target, label_status, count_labels, count_labels_missing,
    count_labels_needed || coalesce(' (' || count_labels_needed_least || ' to ' || count_labels_needed_most || ')', '')
        as count_labels_needed
from fct_labels_needed
order by metric_name, purpose, target

-- query: list_ratings
-- what a rater could not judge is a record too; it has no point of the scale
select interaction_id, rater, rater_kind, criterion, guideline_version, rating_pass, review_round, sampling, correction, rated_at,
    is_unjudged, scale_point
from base_ratings
where record_status = 'staged' and list_contains($interaction_ids::varchar[], interaction_id)
order by correction

-- query: list_files
select distinct source_file from base_ratings where review_round = $review_round

-- query: list_raters
select rater, rater_kind from raters

-- query: list_lengths
select interaction_id, count_answer_characters
from fct_interactions
where list_contains($interaction_ids::varchar[], interaction_id)

-- query: list_agreement
-- of whole numbers with an order: the statistic that bears several raters and gaps
select criterion, rater_kind, status, interval_status, agreement, agreement_low, agreement_high, count_units,
    count_clusters
from fct_rater_agreement
where statistic = 'krippendorff_alpha_ordinal' and other_rater_kind is null and rater is null
order by criterion, rater_kind

-- query: list_calibrators
select calibrators.metric_name, calibrators.criterion, calibrators.count_labels,
    calibrators.log_loss, calibrators.log_loss_standard_error, calibrators.status
from fct_calibrators as calibrators
where calibrators.is_chosen and calibrators.segment = 'all'
order by calibrators.criterion, calibrators.metric_name

-- query: list_validity
select metric_name, version_class, calibration_status, count_labels
from fct_calibration_validity
order by metric_name, version_class

-- query: list_sets
select
    evaluations.metric_name,
    count(*) as count_answers,
    count(*) filter (where evaluations.prediction_set in ('accepted', 'failed')) as count_decided,
    max(needed.target) as target,
    max(needed.count_labels) as count_labels,
    max(needed.count_labels_needed) as count_labels_needed,
    max(needed.label_status) as label_status
from fct_evaluations as evaluations
left join fct_labels_needed as needed
    on evaluations.metric_name = needed.metric_name and needed.purpose = 'decided_share'
where evaluations.prediction_set is not null
group by evaluations.metric_name
order by evaluations.metric_name
