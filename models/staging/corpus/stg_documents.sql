select * from {{ ref('hcat', 'base_documents') }}
where record_status = 'staged'
