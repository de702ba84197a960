{# A hook that deletes the rows of a table for which the condition holds. #}
{% macro delete_rows(relation, condition) -%}
    {{ return(adapter.dispatch('delete_rows', 'hcat')(relation, condition)) }}
{%- endmacro %}

{% macro default__delete_rows(relation, condition) -%}
    delete from {{ relation }}
    where {{ condition }}
{%- endmacro %}

{# Parquet has no delete, so the table is rewritten when there is a row to delete. #}
{% macro spark__delete_rows(relation, condition) -%}
    {% if execute and run_query('select 1 from ' ~ relation ~ ' where ' ~ condition ~ ' limit 1').rows %}
        {% do replace_table(relation, 'select * from ' ~ relation ~ ' where not coalesce(' ~ condition ~ ', false)') %}
    {% endif %}
{%- endmacro %}

{# The rows that `hcat forget` and `hcat prune` write, one per deletion. On Apache Spark nothing is deleted yet. #}
{% macro deletion_log() -%}
    {{ return(adapter.dispatch('deletion_log', 'hcat')()) }}
{%- endmacro %}

{% macro duckdb__deletion_log() -%}
    select * from "{{ this.schema }}".hcat_deletion_log
{%- endmacro %}

{% macro default__deletion_log() -%}
    {% set nothing = [] -%}
    {% for column, type in columns_of_deletions().items() -%}
        {% do nothing.append('null::' ~ type ~ ' as ' ~ column) -%}
    {% endfor -%}
    select {{ nothing | join(', ') }} where false
{%- endmacro %}

{# A hook before a model that is written in so many buckets (insert_other_buckets): begins with the first. #}
{% macro begin_buckets(count) -%}
    {{ return(adapter.dispatch('begin_buckets', 'hcat')(count)) }}
{%- endmacro %}

{% macro duckdb__begin_buckets(count) -%}
    set variable hcat_bucket = 0;
    set variable hcat_buckets = {{ count }}
{%- endmacro %}

{% macro default__begin_buckets(count) -%}
{%- endmacro %}

{# A hook behind a model that was cut into buckets (is_in_bucket): runs its query for each bucket but the first. #}
{% macro insert_other_buckets() -%}
    {{ return(adapter.dispatch('insert_other_buckets', 'hcat')()) }}
{%- endmacro %}

{# DuckDB keeps the lists of a group in memory until the last row has come. A bucket bounds them. #}
{% macro duckdb__insert_other_buckets() -%}
    {% if execute %}
        {% set buckets = run_query("select getvariable('hcat_buckets')").rows[0][0] %}
        {% for bucket in range(1, buckets | int) %}
            {% do run_query('set variable hcat_bucket = ' ~ bucket) %}
            {% do run_query('insert into ' ~ this ~ ' by name ' ~ model['compiled_code']) %}
        {% endfor %}
        {% do run_query('reset variable hcat_bucket; reset variable hcat_buckets') %}
    {% endif %}
{%- endmacro %}

{% macro default__insert_other_buckets() -%}
{%- endmacro %}

{# Whether a part of a model is the bucket that is written now (insert_other_buckets); true where nothing is cut. #}
{% macro is_bucket(number) -%}
    {{ return(adapter.dispatch('is_bucket', 'hcat')(number)) }}
{%- endmacro %}

{% macro duckdb__is_bucket(number) -%}
    coalesce(getvariable('hcat_bucket'), {{ number }}) = {{ number }}
{%- endmacro %}

{% macro default__is_bucket(number) -%}
    true
{%- endmacro %}

{# Whether a key belongs to the bucket that is written now (insert_other_buckets); true where nothing is cut. #}
{% macro is_in_bucket(key) -%}
    {{ return(adapter.dispatch('is_in_bucket', 'hcat')(key)) }}
{%- endmacro %}

{# The variables belong to the connection. A query outside a build has none of them and reads all rows. A hash has 64
   bits without sign: a number of another type would make the engine divide 128 bits, which takes eighty times as long. #}
{% macro duckdb__is_in_bucket(key) -%}
    hash({{ key }}) % coalesce(getvariable('hcat_buckets'), 1)::ubigint
    = coalesce(getvariable('hcat_bucket'), 0)::ubigint
{%- endmacro %}

{# Spark cuts its work into partitions by itself. #}
{% macro default__is_in_bucket(key) -%}
    true
{%- endmacro %}

{#
    Joins the row of a table of steps whose interval [lower_bound, upper_bound) contains the value. The last interval is
    open. DuckDB searches sorted steps instead of comparing every value with every step.
#}
{% macro join_within(steps, keys, values, column) -%}
    {{ return(adapter.dispatch('join_within', 'hcat')(steps, keys, values, column)) }}
{%- endmacro %}

{% macro default__join_within(steps, keys, values, column) -%}
    asof inner join {{ steps }} {{ on_lower_bound(steps, keys, values, column) }}
{%- endmacro %}

{# Without asof, which implies the upper bound. #}
{% macro spark__join_within(steps, keys, values, column) -%}
    inner join {{ steps }} {{ on_lower_bound(steps, keys, values, column) }}
    and {{ values }}.{{ column }} < coalesce({{ steps }}.upper_bound, 'infinity'::double)
{%- endmacro %}

{# Characters of passages that are gathered by interaction at once, as SQL. They bound the memory of DuckDB and move no
   row: 50 million for each GiB of its limit, and at least 100 million, which are some 50,000 interactions of five chunks.
   Each bucket reads the tables of its model again. Tests meet many borders by HCAT_CUT_SMALLER. #}
{% macro bucket_characters() -%}
    {%- if env_var('HCAT_CUT_SMALLER', '') == 'buckets' -%}
        5000
    {%- else -%}
        {%- set limit = "split_part(current_setting('memory_limit'), ' ', " -%}
        (50000000 * greatest(
            2, {{ limit }}1)::double * case {{ limit }}2) when 'GiB' then 1 when 'TiB' then 1024 else 0 end
        ))
    {%- endif -%}
{%- endmacro %}

{# A hook before a model: cuts its interactions into buckets by the characters of their passages. #}
{% macro cut_into_buckets() -%}
    {{ begin_buckets(
        '(select greatest(1, ceil(coalesce(sum(length(passage_text)), 0) / ' ~ bucket_characters() ~ '))::integer from '
        ~ ref('hcat', 'int_interaction_passages') ~ ')'
    ) }}
{%- endmacro %}

{# Deletes rows of fct_evaluations whose metric left the catalogue or whose interaction left staging. #}
{% macro delete_evaluations_outside_index() %}
    {% set index = ref('hcat', 'int_evaluations_completed') %}
    {% set is_kept = 'kept.evaluation_id = ' ~ this.identifier ~ '.evaluation_id' %}
    {{ delete_rows(this, 'not exists (select 1 from ' ~ index ~ ' as kept where ' ~ is_kept ~ ')') }}
{% endmacro %}
