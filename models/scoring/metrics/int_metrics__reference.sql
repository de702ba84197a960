with overlapped as (
    select * from {{ ref('hcat', 'int_answers_overlapped') }}
),

sentence_weights as (
    select * from {{ ref('hcat', 'int_sentence_weights') }}
    where role = 'reference' and is_usable
),

-- Only where the logs weigh the sentences of the reference; elsewhere each word, number and name of it counts once.
sentences_weighed as (
    select
        overlapped.interaction_id,
        overlapped.input_key,
        {{ explode_together({'share': 'overlapped.reference_sentence_shares', 'weight': 'sentence_weights.weights'}) }}
    from overlapped
    inner join sentence_weights on overlapped.interaction_id = sentence_weights.interaction_id
),

recalls_weighed as (
    select
        interaction_id,
        input_key,
        -- all weights 0 means uniform weights
        coalesce(
            {{ exact_sum('share * weight') }} / nullif({{ exact_sum('weight') }}, 0), {{ exact_mean('share') }}
        ) as reference_recall
    from sentences_weighed
    -- a sentence without a word, number or name has no share of them
    where share is not null
    group by interaction_id, input_key
),

joined as (
    select
        units.interaction_id,
        overlapped.bleu_2,
        overlapped.rouge_l,
        overlapped.exact_match,
        coalesce(recalls_weighed.reference_recall, overlapped.reference_recall) as reference_recall,
        overlapped.reference_precision,
        overlapped.count_reference_items,
        overlapped.count_answer_items,
        compared.reference_similarity,
        compared.count_truncated_windows,
        {{ array_length('units.answer_window_ids') }} as count_windows
    from {{ ref('hcat', 'int_interaction_units') }} as units
    inner join overlapped
        on units.interaction_id = overlapped.interaction_id and units.input_key = overlapped.input_key
    inner join {{ ref('hcat', 'int_interactions_compared') }} as compared
        on units.interaction_id = compared.interaction_id and units.input_key = compared.input_key
    left join recalls_weighed
        on units.interaction_id = recalls_weighed.interaction_id and units.input_key = recalls_weighed.input_key
),

unpivoted as (
    {%- for metric_name, raw_score, scored_count in [
        ('semantic_similarity', 'reference_similarity', 'count_windows'),
        ('bleu_2', 'bleu_2', 1),
        ('rouge_l', 'rouge_l', 1),
        ('exact_match', 'exact_match', 1),
        ('reference_recall', 'reference_recall', 'count_reference_items'),
        ('reference_precision', 'reference_precision', 'count_answer_items')
    ] %}
    select
        interaction_id,
        '{{ metric_name }}' as metric_name,
        {{ raw_score }} as raw_score,
        {{ scored_count }} as scored_count,
        {{ 'count_truncated_windows' if loop.first else 0 }} as count_truncated
    from joined
    {{ 'union all' if not loop.last }}
    {%- endfor %}
),

final as (
    select
        {{ evaluation_id('interaction_id', 'metric_name') }} as evaluation_id,
        interaction_id,
        metric_name,
        raw_score,
        case
            -- a text without a content word, number or name has no share of them
            when scored_count = 0 then 'not_applicable'
            when count_truncated > 0 then 'truncated'
            else 'scored'
        end as score_status,
        scored_count,
        null::string as detail
    from unpivoted
)

select * from final
