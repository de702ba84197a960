select * from {{ ref('hcat', 'base_chunks') }}
where record_status = 'staged'
