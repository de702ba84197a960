-- One row per request for queries, with the answer of the language model if it was asked, or the reason why there is
-- none.
with requests as (
    select * from {{ ref('hcat', 'int_generation_requests') }}
),

calls as (
    select * from {{ ref('hcat', 'int_generation_calls') }}
    where step = 'queries' and is_last
),

final as (
    select
        requests.*,
        calls.call_status,
        calls.status_detail as call_detail,
        calls.answer as call_answer
    from requests
    left join calls on requests.generation_key = calls.generation_key
)

select * from final
