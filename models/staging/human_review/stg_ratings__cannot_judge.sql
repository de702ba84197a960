select * from {{ ref('hcat', 'base_ratings') }}
where record_status = 'staged' and is_unjudged and not is_corrected
