-- A pair is one relevant and one other chunk that one interaction retrieved.
-- Two scorers are metrics. Two are baselines that need no model: the rank and the overlap of words.
{%- set metrics = {
    'context_relevancy__mean': 'context_relevancy', 'context_precision_similarity__mean': 'context_precision'
} %}
{%- set scorers = dict(metrics, retrieval_rank='retrieval_rank', word_overlap='word_overlap') %}
{#- where two scorers disagree, one of them is right -#}
{%- set measures = {
    'pairs_ordered': none, 'pairs_against_rank': 'retrieval_rank', 'pairs_against_words': 'word_overlap'
} %}

with interactions as (
    select * from {{ ref('hcat', 'int_interactions') }}
),

units as (
    select interaction_id, input_key from {{ ref('hcat', 'int_interaction_units') }}
),

relevance as (
    select * from {{ ref('hcat', 'int_query_relevance') }}
),

evaluations as (
    select * from {{ ref('hcat', 'int_evaluations_completed') }}
    where metric_name in ('{{ metrics | join("', '") }}')
),

-- Assessors who name chunks that are not relevant read more than the relevant ones: what they did not judge is unknown.
-- Elsewhere a chunk without a grade counts as not relevant, as it does in the metrics of retrieval.
queries_judged as (
    select
        query_id,
        min(grade) = 0 as has_rejected_chunks
    from relevance
    group by query_id
),

-- a chunk that was retrieved twice counts once, at its first rank
chunks as (
    select
        interaction_id,
        chunk_id,
        min(rank) as rank
    from {{ ref('hcat', 'stg_retrievals') }}
    where chunk_id is not null
    group by interaction_id, chunk_id
),

chunks_scored as (
    select
        units.interaction_id,
        chunks.rank,
        relevance.grade,
        queries_judged.has_rejected_chunks,
        -- equal up to the noise of the encoder is equal
        {%- for column in metrics.values() %}
        {{ without_noise('chunks_compared.' ~ column) }} as {{ column }},
        {%- endfor %}
        {{ without_noise('chunks_compared.word_overlap') }} as word_overlap,
        -- the first rank is the best
        -chunks.rank as retrieval_rank
    from units
    inner join interactions on units.interaction_id = interactions.interaction_id
    inner join queries_judged on interactions.query_id = queries_judged.query_id
    inner join chunks on units.interaction_id = chunks.interaction_id
    inner join {{ ref('hcat', 'int_chunks_compared') }} as chunks_compared
        on
            units.interaction_id = chunks_compared.interaction_id
            and units.input_key = chunks_compared.input_key
            and chunks.rank = chunks_compared.rank
    left join relevance on interactions.query_id = relevance.query_id and chunks.chunk_id = relevance.chunk_id
),

pairs as (
    select
        relevant.interaction_id,
        {%- for column in scorers.values() %}
        sign(relevant.{{ column }} - other.{{ column }})::integer as {{ column }}_order,
        {%- endfor %}
        other.grade is null and other.has_rejected_chunks as is_undecided,
        other.grade is null and not other.has_rejected_chunks as is_assumed
    from chunks_scored as relevant
    inner join chunks_scored as other on relevant.interaction_id = other.interaction_id
    where relevant.grade > 0 and coalesce(other.grade, 0) = 0
),

-- An order is 1 where the relevant chunk is first, 0 for a tie, and -1 where the other chunk is first.
orders as (
    {%- for metric_name, column in scorers.items() %}
    {%- set is_last = loop.last %}
    {%- for measure, baseline in measures.items() if not baseline or metric_name in metrics %}
    select
        interaction_id,
        '{{ metric_name }}' as metric_name,
        '{{ measure }}' as measure,
        {{ column }}_order as pair_order,
        is_undecided,
        is_assumed
    from pairs
    {%- if baseline %}
    where {{ column }}_order * {{ baseline }}_order = -1
    {%- endif %}
    {%- if not (is_last and loop.last) %}
    union all
    {%- endif %}
    {%- endfor %}
    {%- endfor %}
),

verdicts as (
    select
        orders.metric_name, orders.measure, orders.pair_order, orders.is_undecided, orders.is_assumed,
        interactions.system, interactions.cluster_id,
        -- for instance a language that the encoder does not read
        evaluations.interaction_id is not null and evaluations.raw_score is null as is_unscored
    from orders
    inner join interactions on orders.interaction_id = interactions.interaction_id
    left join evaluations
        on orders.interaction_id = evaluations.interaction_id and orders.metric_name = evaluations.metric_name
),

final as (
    select
        system,
        metric_name,
        measure,
        cluster_id,
        {%- for word, pair_order in [('right', 1), ('tied', 0), ('wrong', -1)] %}
        sum(case when not is_unscored and not is_undecided and pair_order = {{ pair_order }} then 1 else 0 end)
            as count_{{ word }},
        {%- endfor %}
        sum(case when not is_unscored and not is_undecided and is_assumed then 1 else 0 end) as count_assumed,
        sum(case when is_unscored then 1 else 0 end) as count_unscored,
        sum(case when not is_unscored and is_undecided then 1 else 0 end) as count_undecided
    from verdicts
    group by system, metric_name, measure, cluster_id
)

select * from final
