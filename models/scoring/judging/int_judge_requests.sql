-- `request_status` says why the judge is not asked.
{{ config(materialized='table') }}
{# n in the answer relevance of RAGAS -#}
{%- set count_questions = 3 %}

with expected as (
    select * from {{ ref('hcat', 'int_evaluations_expected') }}
    where expected_status is null
),

metrics as (
    select * from {{ ref('hcat', 'int_metric_catalog') }}
    where family = 'judged'
),

interactions as (
    select
        *,
        {{ query_key() }} as query_key
    from {{ ref('hcat', 'int_interactions') }}
),

passages as (
    select * from {{ ref('hcat', 'int_interaction_passages') }}
),

sampled as (
    select interactions.*, judge_sample.sample_number
    from interactions
    inner join {{ ref('hcat', 'int_judge_sample') }} as judge_sample
        on interactions.interaction_id = judge_sample.interaction_id
),

contexts as (
    select interaction_id, {{ ordered_array('passage_text', 'position') }} as contexts
    from passages
    where role = 'context'
    group by interaction_id
),

sentences as (
    select
        passages.interaction_id,
        {{ ordered_array(
            'passages_split.sentence_text', 'passages.position, passages_split.sentence_index',
            "passages.role = 'context'"
        ) }} as context_sentences,
        {{ ordered_array('passages_split.sentence_text', 'passages_split.sentence_index', "passages.role = 'answer'") }}
            as answer_sentences
    from passages
    inner join {{ ref('hcat', 'int_passages_split') }} as passages_split
        on passages.passage_id = passages_split.passage_id
    where passages.interaction_id in (select sampled.interaction_id from sampled)
    group by passages.interaction_id
),

sample_answers as (
    select
        samples.interaction_id,
        {{ ordered_array('interactions.answer', 'samples.sample_position') }} as sample_answers
    from {{ ref_if_on(
        'selfcheck', 'int_interaction_samples', 'interaction_id, other_interaction_id, sample_position bigint'
    ) }} as samples
    inner join interactions on samples.other_interaction_id = interactions.interaction_id
    group by samples.interaction_id
),

-- Another answer to the same query. An answer of another system is preferred to one of the same system.
other_answers as (
    select
        sampled.interaction_id,
        others.answer as other_answer,
        contexts.contexts as other_contexts
    from sampled
    inner join interactions as others
        on
            sampled.query_key = others.query_key
            and sampled.interaction_id <> others.interaction_id
            and sampled.answer <> others.answer
    left join contexts on others.interaction_id = contexts.interaction_id
    where others.is_answered
    qualify
        row_number() over (
            partition by sampled.interaction_id
            order by sampled.system = others.system, others.system, others.interaction_id
        ) = 1
),

guidelines as (
    select
        criterion,
        to_json(
            {{ ordered_array(
                record(
                    {'scale_point': 'scale_point', 'scale_label': 'scale_label', 'guideline_text': 'guideline_text'}
                ), 'scale_point'
            ) }}
        )::string as guideline
    from {{ seed('rating_scales') }}
    group by criterion
),

wanted as (
    select
        expected.evaluation_id,
        expected.interaction_id,
        expected.metric_name,
        metrics.base_metric as judge_task,
        nullif(split_part(split_part(expected.metric_name, '@', 1), '__', 2), '') as subject,
        sampled.sample_number,
        sampled.query_text,
        sampled.answer,
        sampled.reference_answer
    from expected
    inner join metrics on expected.metric_name = metrics.metric_name
    left join sampled on expected.interaction_id = sampled.interaction_id
),

-- The key of a task covers only the texts that the task reads.
materials as (
    select
        wanted.{{ columns_except(['reference_answer']) }},
        case when wanted.judge_task in ('rubric_llm', 'correctness_llm') then wanted.reference_answer end
            as reference_answer,
        case when wanted.judge_task = 'rubric_llm' then guidelines.guideline end as guideline,
        case when wanted.judge_task = 'ranking_llm' then other_answers.other_answer end as other_answer,
        case
            when
                wanted.judge_task in ('faithfulness_llm', 'context_relevance_llm', 'rubric_llm')
                or (
                    wanted.judge_task in ('score_llm', 'ranking_llm')
                    and wanted.subject in ('faithfulness', 'context_relevance')
                )
                then contexts.contexts
        end as contexts,
        case
            when wanted.judge_task = 'ranking_llm' and wanted.subject = 'faithfulness' then other_answers.other_contexts
        end as other_contexts,
        case when wanted.judge_task = 'context_relevance_llm' then sentences.context_sentences end
            as context_sentences,
        case when wanted.judge_task = 'selfcheck_llm' then sentences.answer_sentences end as answer_sentences,
        case when wanted.judge_task = 'selfcheck_llm' then sample_answers.sample_answers end as sample_answers,
        {{ count_questions }} as count_questions
    from wanted
    left join guidelines on wanted.subject = guidelines.criterion
    left join contexts on wanted.interaction_id = contexts.interaction_id
    left join sentences on wanted.interaction_id = sentences.interaction_id
    left join sample_answers on wanted.interaction_id = sample_answers.interaction_id
    left join other_answers on wanted.interaction_id = other_answers.interaction_id
),

final as (
    select
        md5(
            concat_ws(
                '|',
                service.language_model,
                service.prompt_revision,
                materials.judge_task,
                coalesce(materials.subject, ''),
                materials.count_questions::string,
                {%- for column in ['query_text', 'answer', 'reference_answer', 'guideline', 'other_answer'] %}
                coalesce(md5(materials.{{ column }}), ''),
                {%- endfor %}
                {%- for column in [
                    'contexts', 'other_contexts', 'context_sentences', 'answer_sentences', 'sample_answers'
                ] %}
                -- JSON keeps apart two lists that concatenate to the same letters.
                coalesce(md5(to_json(materials.{{ column }})::string), ''){{ ',' if not loop.last }}
                {%- endfor %}
            )
        ) as judge_key,
        materials.*,
        service.metric_suffix,
        case
            when materials.sample_number is null then 'not_sampled'
            when service.is_deciding and materials.judge_task not in ('rubric_llm', 'correctness_llm') then 'no_text'
            when materials.judge_task = 'ranking_llm' and materials.other_answer is null then 'no_other_answer'
            else 'wanted'
        end as request_status,
        coalesce(service.is_deciding, false) as is_deciding
    from materials
    inner join {{ ref('hcat', 'int_judge_service') }} as service
        on materials.metric_name = split_part(materials.metric_name, '@', 1) || service.metric_suffix
)

select * from final
