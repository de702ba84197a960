select
    record_id,
    source_file,
    interaction_id,
    rater,
    rater_kind,
    criterion,
    guideline_version,
    review_round,
    sampling,
    comment,
    scale_point,
    rating_pass,
    inclusion_probability,
    reason_start,
    reason_end,
    rated_at,
    source_row,
    landing_number
from {{ ref('hcat', 'base_ratings') }}
where record_status = 'staged' and not is_unjudged
