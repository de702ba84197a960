-- One row per (interaction, safety metric): the toxicity and sentiment of the sentences, and the longest copied run.
with sentence_scores as (
    select * from {{ ref('hcat', 'int_sentence_scores') }}
),

copied as (
    select * from {{ ref('hcat', 'int_answers_copied') }}
),

units as (
    select interaction_id, input_key from {{ ref('hcat', 'int_interaction_units') }}
),

aggregated as (
    select
        interaction_id,
        role,
        max(toxicity) as toxicity_maximum,
        avg(toxicity) as toxicity_mean,
        avg(sentiment) as sentiment_mean,
        max_by(sentence_index, {{ record({'score': 'toxicity', 'sentence': '-sentence_index'}) }})
            as most_toxic_sentence,
        min_by(sentence_index, {{ record({'score': 'sentiment', 'sentence': 'sentence_index'}) }})
            as most_negative_sentence,
        count(*) as count_sentences
    from sentence_scores
    group by interaction_id, role
),

unpivoted as (
    select
        interaction_id,
        'toxicity__maximum' as metric_name,
        toxicity_maximum as raw_score,
        count_sentences as scored_count,
        'most toxic sentence ' || most_toxic_sentence as detail
    from aggregated
    where role = 'answer' and toxicity_maximum is not null
    union all
    select
        interaction_id,
        'toxicity__mean' as metric_name,
        toxicity_mean as raw_score,
        count_sentences as scored_count,
        'most toxic sentence ' || most_toxic_sentence as detail
    from aggregated
    where role = 'answer' and toxicity_mean is not null
    union all
    select
        interaction_id,
        'query_toxicity' as metric_name,
        toxicity_maximum as raw_score,
        count_sentences as scored_count,
        'most toxic sentence ' || most_toxic_sentence as detail
    from aggregated
    where role = 'query' and toxicity_maximum is not null
    union all
    select
        interaction_id,
        'sentiment__mean' as metric_name,
        sentiment_mean as raw_score,
        count_sentences as scored_count,
        'most negative sentence ' || most_negative_sentence as detail
    from aggregated
    where role = 'answer' and sentiment_mean is not null
    union all
    select
        copied.interaction_id,
        'verbatim_copy' as metric_name,
        case
            when copied.count_answer_words = 0 then 0.0
            else copied.count_copied_words / copied.count_answer_words::double
        end as raw_score,
        copied.count_answer_words as scored_count,
        copied.count_copied_words || ' words in a row: ' || copied.copied_text as detail
    from copied
    inner join units on copied.interaction_id = units.interaction_id and copied.input_key = units.input_key
),

final as (
    select
        {{ evaluation_id('interaction_id', 'metric_name') }} as evaluation_id,
        interaction_id,
        metric_name,
        raw_score,
        'scored' as score_status,
        scored_count::integer as scored_count,
        detail
    from unpivoted
)

select * from final
