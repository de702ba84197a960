{# A hook before a model: cuts its interactions into buckets by the characters of their passages. #}
{% macro cut_into_buckets() -%}
    {{ begin_buckets(
        '(select greatest(1, ceil(coalesce(sum(length(passage_text)), 0) / ' ~ var('hcat_bucket_characters') ~ '))::integer from '
        ~ ref('hcat', 'int_interaction_passages') ~ ')'
    ) }}
{%- endmacro %}
