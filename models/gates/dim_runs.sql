{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}
-- The ledger of builds. No full refresh deletes a build. The model reads the gates, so it is written last and knows the
-- results of the build.

with classifier as (
    select * from {{ ref('hcat', 'int_classifier') }}
),

models_beside as (
    select
        {{ joined_text("concat_ws(' ', model_name, model_revision, model_sha256)", "', '", 'model_name') }}
            as other_models
    from {{ ref('hcat', 'int_models') }}
    where part not in ('encoder', 'classifier')
),

environment as (
    select * from {{ ref('hcat', 'int_gates_validated') }}
    where part = 'environment'
),

records as (
    select
        sum(count_landed)::bigint as count_landed,
        sum(count_rejected)::bigint as count_rejected,
        sum(case when entity = 'interactions' then count_staged end)::bigint as count_interactions
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
        coalesce(sum((not is_passing)::integer), 0)::bigint as count_gates_not_passing,
        coalesce(sum((not is_passing and severity = 'error')::integer), 0)::bigint as count_error_gates_not_passing
    from {{ ref('hcat', 'fct_threshold_gates') }}
    where run_id = '{{ invocation_id }}'
)

{#- whoever signs asks which seed changed between two builds; publication makes is_passing true (mark_as_published) -#}
{%- set settings = tojson(hcat_settings()) | replace("'", '') -%}
select {{ columns_of_contract({
    'run_id': "'" ~ invocation_id ~ "'",
    'settings_hash': "md5('" ~ settings ~ "')",
    'models_hash': "md5('" ~ tojson(checksums_of_files('model')) ~ "')",
    'settings': "'" ~ settings ~ "'",
    'seed_checksums': "'" ~ tojson(checksums_of_files('seed')) ~ "'",
    'dbt_version': "'" ~ dbt_version ~ "'",
    'device': 'encoder.device',
    'dtype': "concat_ws(', classifier ', encoder.dtype, nullif(classifier.dtype, encoder.dtype))",
    'build_number': build_number(),
    'random_seed': var('hcat_random_seed') ~ '::bigint',
    'is_passing': 'false',
    'started_at': "timestamp '" ~ run_started_at.strftime('%Y-%m-%d %H:%M:%S') ~ "'",
}) }}
from {{ ref('hcat', 'int_encoder') }} as encoder
cross join classifier
cross join models_beside
cross join environment
cross join records
cross join inputs
cross join evaluations
cross join systems
cross join gates
