select distinct query_id from {{ ref('hcat', 'base_queries') }}
where record_status = 'rejected'
