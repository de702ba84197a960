select * from {{ ref('hcat', 'base_retrievals') }}
where record_status = 'staged'
