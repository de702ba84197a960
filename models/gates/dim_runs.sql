{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}
-- The ledger of builds. No full refresh deletes a build. The model reads the gates, so it is written last and knows the
-- results of the build.

with encoder as (
    select * from {{ ref('hcat', 'int_encoder') }}
),

classifier as (
    select * from {{ ref('hcat', 'int_classifier') }}
),

environment as (
    select * from {{ ref('hcat', 'int_gates_validated') }}
    where part = 'environment'
),

records as (
    select
        sum(count_landed) as count_landed,
        sum(count_rejected) as count_rejected,
        sum(case when entity = 'interactions' then count_staged end) as count_interactions
    from {{ ref('hcat', 'int_records_counted') }}
),

inputs as (
    -- the order of landing does not matter, the content does
    select md5(coalesce({{ joined_text('record_hash', "','", 'record_hash') }}, '')) as input_hash
    from (
        select entity || record_hash as record_hash from {{ ref('hcat', 'landed_records') }}
        where
            entity in (
                {%- for entity in raw_entities() %}
                '{{ entity }}'{{ ',' if not loop.last }}
                {%- endfor %}
            )
    )
),

evaluations as (
    select
        count(*) as count_evaluations,
        count(distinct case when human_label is not null then interaction_id end) as count_labelled,
        count(distinct case when human_label is not null and label_rater_kind = 'person' then interaction_id end)
            as count_labelled_by_people
    from {{ ref('hcat', 'fct_evaluations') }}
),

systems as (
    select {{ joined_text('system', "' | '", 'system') }} as systems
    from (
        select distinct system from {{ ref('hcat', 'fct_interactions') }}
    )
),

gates as (
    select
        count(*) as count_gates,
        coalesce(sum((not is_passing)::integer), 0) as count_gates_not_passing,
        coalesce(sum((not is_passing and severity = 'error')::integer), 0) as count_error_gates_not_passing
    from {{ ref('hcat', 'fct_threshold_gates') }}
    where run_id = '{{ invocation_id }}'
),

final as (
    select
        -- ids
        '{{ invocation_id }}' as run_id,
        inputs.input_hash,
        md5('{{ tojson(hcat_settings()) | replace("'", "") }}') as settings_hash,
        md5('{{ tojson(checksums_of_files("model")) }}') as models_hash,

        -- strings
        '{{ tojson(hcat_settings()) | replace("'", "") }}' as settings,
        -- which seed changed between two builds is a question of whoever signs
        '{{ tojson(checksums_of_files("seed")) }}' as seed_checksums,
        systems.systems, environment.code_version, environment.code_hash, environment.library_versions,
        environment.platform,
        '{{ dbt_version }}' as dbt_version,
        encoder.encoder_name, encoder.encoder_revision, encoder.encoder_sha256, classifier.classifier_name,
        classifier.classifier_revision, classifier.classifier_sha256, encoder.device, encoder.dtype,

        -- numerics
        {{ build_number() }} as build_number,
        {{ var('hcat_random_seed') }}::bigint as random_seed,
        records.count_landed::bigint as count_landed,
        records.count_rejected::bigint as count_rejected,
        records.count_interactions::bigint as count_interactions,
        evaluations.count_evaluations::bigint as count_evaluations,
        evaluations.count_labelled::bigint as count_labelled,
        evaluations.count_labelled_by_people::bigint as count_labelled_by_people,
        gates.count_gates::bigint as count_gates,
        gates.count_gates_not_passing::bigint as count_gates_not_passing,
        gates.count_error_gates_not_passing::bigint as count_error_gates_not_passing,

        -- booleans
        -- publication makes it true (mark_as_published): a build that is killed before publishes nothing
        false as is_passing,

        -- timestamps
        timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' as started_at
    from encoder
    cross join classifier
    cross join environment
    cross join records
    cross join inputs
    cross join evaluations
    cross join systems
    cross join gates
)

select * from final
