with units as (
    select interaction_id, input_key from {{ ref('hcat', 'int_interaction_units') }}
),

aggregated as (
    select
        interaction_id,
        role,
        max(toxicity) as toxicity_maximum,
        {{ exact_mean('toxicity') }} as toxicity_mean,
        {{ exact_mean('sentiment') }} as sentiment_mean,
        max_by(sentence_index, {{ record({'score': 'toxicity', 'sentence': '-sentence_index'}) }})
            as most_toxic_sentence,
        min_by(sentence_index, {{ record({'score': 'sentiment', 'sentence': 'sentence_index'}) }})
            as most_negative_sentence,
        count(*) as count_sentences
    from {{ ref('hcat', 'int_sentence_scores') }}
    group by interaction_id, role
),

unpivoted as (
    {%- for metric_name, role, score, worst in [
        ('toxicity__maximum', 'answer', 'toxicity_maximum', 'most_toxic'),
        ('toxicity__mean', 'answer', 'toxicity_mean', 'most_toxic'),
        ('query_toxicity', 'query', 'toxicity_maximum', 'most_toxic'),
        ('sentiment__mean', 'answer', 'sentiment_mean', 'most_negative')
    ] %}
    select
        interaction_id,
        '{{ metric_name }}' as metric_name,
        {{ score }} as raw_score,
        count_sentences as scored_count,
        '{{ worst | replace('_', ' ') }} sentence ' || {{ worst }}_sentence as detail
    from aggregated
    where role = '{{ role }}' and {{ score }} is not null
    union all
    {%- endfor %}
    select
        copied.interaction_id,
        'verbatim_copy' as metric_name,
        case
            when copied.count_answer_words = 0 then 0.0
            else copied.count_copied_words / copied.count_answer_words::double
        end as raw_score,
        copied.count_answer_words as scored_count,
        -- the words themselves may be private
        copied.count_copied_words || ' words in a row, from word ' || copied.first_copied_word as detail
    from {{ ref('hcat', 'int_answers_copied') }} as copied
    inner join units on copied.interaction_id = units.interaction_id and copied.input_key = units.input_key
)

{{ evaluations('unpivoted', scored_count='scored_count::integer') }}
