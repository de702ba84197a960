select * from {{ ref('hcat', 'base_relevance_judgements') }}
where record_status = 'staged'
