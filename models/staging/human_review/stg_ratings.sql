select * from {{ ref('hcat', 'base_ratings') }}
where record_status = 'staged' and not is_unjudged and not is_corrected
