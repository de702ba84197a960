select * from {{ ref('hcat', 'base_queries') }}
where record_status = 'staged'
