{%- set exchanged = {
    'probability_entailment': 'pairs_entailed.probability_contradiction',
    'probability_contradiction': 'pairs_entailed.probability_entailment',
    'score': 'pairs_entailed.probability_contradiction',
    'distance': '-pairs_entailed.distance'
} %}
{{ config(materialized='table') }}

with windows as (
    select {{ columns_except(['purpose', 'claim', 'classifier_key', 'count_characters']) }}
    from {{ ref('hcat', 'int_text_pairs') }}
    where purpose = 'evidence'
),

-- What contradicts the question supports the answer "No." to it.
final as (
    select
        windows.*,
        pairs_entailed.classifier_name,
        pairs_entailed.classifier_revision,
        pairs_entailed.deciding_classifier,
        {%- for column, when_denied in exchanged.items() %}
        case when windows.is_denied then {{ when_denied }} else pairs_entailed.{{ column }} end as {{ column }},
        {%- endfor %}
        pairs_entailed.was_truncated
    from windows
    inner join {{ ref('hcat', 'int_pairs_entailed') }} as pairs_entailed on windows.pair_id = pairs_entailed.pair_id
    inner join {{ ref('hcat', 'int_classifier') }} as classifier
        on pairs_entailed.classifier_key = classifier.classifier_key
)

select * from final
