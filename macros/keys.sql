{# The key of one score: one interaction and one metric. #}
{% macro evaluation_id(interaction_id, metric_name) %}
    md5({{ interaction_id }} || '|' || {{ metric_name }})
{%- endmacro %}

{# The evaluations of a family: rows of (interaction, metric) with a score, and what is said about it. #}
{% macro evaluations(rows, score_status="'scored'", scored_count='scored_count', detail='detail') -%}
select
    {{ evaluation_id('interaction_id', 'metric_name') }} as evaluation_id, interaction_id, metric_name, raw_score,
    {{ score_status }} as score_status, {{ scored_count }} as scored_count, {{ detail }} as detail
from {{ rows }}
{%- endmacro %}

{#
    MD5 of a metric and a cell. Segments are texts of the logs, so a bar inside a segment is doubled. No two
    cells then share an id.
#}
{% macro cell_id(metric_name, cells) %}
    md5(
        concat_ws(
            '|', {{ metric_name }}, {{ cells }}.first_dimension, replace({{ cells }}.first_segment, '|', '||'),
            {{ cells }}.second_dimension, replace({{ cells }}.second_segment, '|', '||')
        )
    )
{%- endmacro %}

{#-
    The content of a query: its text in lower case, with single blanks. Queries with the same content are equal. An address
    of e-mail and a long number count as their kind: by trying all numbers, a hash tells the number that is in it.
-#}
{% macro hash_of_query(query_text) -%}
    {%- set hidden = '[^ @]+@[^ @]+|[0-9]{7,}|[0-9]{3}-[0-9]{2}-[0-9]{4}|[0-9]{3,4}(?:[ -][0-9]{3,4}){2,}' -%}
    md5(lower({{ replace_pattern(replace_pattern('trim(' ~ query_text ~ ')', '\\s+', ' '), hidden, '#') }}))
{%- endmacro %}

{#- The numbers in the name of a version, in their order: by them 1.10 comes behind 1.9. -#}
{% macro numbers_of_version(version) -%}
    {{ return(adapter.dispatch('numbers_of_version', 'hcat')(version)) }}
{%- endmacro %}

{% macro default__numbers_of_version(version) -%}
    {{ all_matches(version, '([0-9]+)') }}::double[]
{%- endmacro %}

{% macro spark__numbers_of_version(version) -%}
    cast({{ all_matches(version, '([0-9]+)') }} as array<double>)
{%- endmacro %}

{#- The key that pairs interactions with the same query: its id, else its content. `table` ends in a dot. -#}
{% macro query_key(table='') -%}
    coalesce({{ table }}query_id, 'text_' || {{ hash_of_query(table ~ 'query_text') }})
{%- endmacro %}

{# Id of a pair of texts that a classifier reads: the premise, and the id of the other text, which may be its MD5. #}
{% macro text_pair_id(premise, claim_id) %}
    md5(md5({{ premise }}) || '|' || {{ claim_id }})
{%- endmacro %}

{# For whom a gate is measured: null is the worst of several applications, each of which has a row of its own too. #}
{% macro applications_measured(candidates) %}
    select null::string as application
    union all
    select distinct application from {{ candidates }}
    where (select count(distinct others.application) from {{ candidates }} as others) > 1
{%- endmacro %}

{# The system of each candidate: for the worst of all applications (null), and for its own where there are several. #}
{% macro systems_measured() %}
    with candidates as (
        select distinct system, {{ named('application') }} as application from {{ ref('hcat', 'fct_interactions') }}
        where version_role = 'candidate'
    ),

    applications as (
        {{ applications_measured('candidates') }}
    )

    select
        candidates.system, candidates.application as candidate_application, applications.application,
        count(*) over () > 1 as is_of_several
    from candidates
    inner join applications on coalesce(applications.application, candidates.application) = candidates.application
{%- endmacro %}

{# The build that closed a finding last before a sighting of it: what returns after that is looked at anew. #}
{% macro closed_before() -%}
    max(case when retest_result = 'no_longer_weak' then build_number end) over (
        partition by cell_id order by build_number
    )
{%- endmacro %}

{# A number in [0, 1) for an interaction, used to draw a review round: a hash of purpose, seed, round and identifier. #}
{% macro review_number(purpose, review_round) %}
    {{ number_of_hex(
        "left(md5('" ~ purpose ~ '|' ~ var('hcat_random_seed') ~ '|' ~ review_round ~ "|' || interaction_id), 8)"
    ) }} / 4294967296::double
{%- endmacro %}

{# A number in [0, 1) for a text, used to sample the test set: a hash of purpose, seed and text, never random(). #}
{% macro sampling_number(purpose, text) %}
    {{ share_of_hash("'" ~ purpose ~ '|' ~ var('hcat_random_seed') ~ "|' || " ~ text) }}
{%- endmacro %}

{#
    A number in [0, 1) from the MD5 of a text. It is the same in every build, and in Python it is the same in
    hcat.calibration.calibrators.fold_of_cluster. The first 13 hexadecimal digits are 52 bits, which a double holds exactly.
#}
{% macro share_of_hash(text) %}
    ({{ number_of_hex('substr(md5(' ~ text ~ '), 1, 13)') }} / 4503599627370496)
{%- endmacro %}

{#- A value by which rows are grouped and shown; 'unnamed' where it is null. -#}
{% macro named(value) -%}
    coalesce({{ value }}, 'unnamed')
{%- endmacro %}
