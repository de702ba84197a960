-- One row per distinct text of the test set that is shown somewhere, with the key of its recognition.
with test_queries as (
    select query_text, reference_answer from {{ ref('hcat', 'int_test_queries') }}
),

test_variants as (
    select query_text, detail from {{ ref('hcat', 'int_test_variants') }}
),

candidates as (
    select query_text, reference_answer from {{ ref('hcat', 'int_generated_candidates') }}
),

calls as (
    select prompt, answer from {{ ref('hcat', 'int_generation_calls') }}
),

recognisers as (
    select * from {{ ref('hcat', 'int_privacy_recognisers') }}
),

united as (
    select query_text as text from test_queries
    union
    select reference_answer as text from test_queries
    union
    select query_text as text from test_variants
    union
    select detail as text from test_variants
    union
    select query_text as text from candidates
    union
    select reference_answer as text from candidates
    union
    select prompt as text from calls
    union
    select answer as text from calls
),

final as (
    select
        md5(united.text) as text_id,
        recognisers.recogniser_key as reading_key,
        united.text,
        recognisers.has_tagger as is_tagged
    from united
    cross join recognisers
    where not {{ is_blank('united.text') }}
)

select * from final
