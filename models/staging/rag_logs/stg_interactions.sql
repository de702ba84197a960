select * from {{ ref('hcat', 'base_interactions') }}
where record_status = 'staged'
