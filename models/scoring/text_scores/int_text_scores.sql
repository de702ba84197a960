-- One row per distinct text classified by the classifiers of this build.
with classified as (
    select * from {{ ref('int_texts_classified') }}
),

classifiers as (
    select distinct scoring_key from {{ ref('int_text_classifiers') }}
),

final as (
    select classified.*
    from classified
    inner join classifiers on classified.scoring_key = classifiers.scoring_key
)

select * from final
