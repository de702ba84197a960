select
    record_id,
    source_file,
    interaction_id,
    rater,
    criterion,
    guideline_version,
    scale_point,
    rating_pass,
    rated_at,
    source_row,
    landing_number
from {{ ref('base_ratings') }}
where record_status = 'staged'
