{{ rejected_records('base_ratings', [
    'interaction_id', 'rater', 'criterion', 'guideline_version', 'scale_point_text', 'rated_at_text'
]) }}
