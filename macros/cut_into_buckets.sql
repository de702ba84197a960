{# A hook before a model: cuts its interactions into buckets by the characters of their passages. A model that holds
   more for an interaction than its lists asks for smaller buckets: so many `times` as many. #}
{% macro cut_into_buckets(times=1) -%}
    {{ begin_buckets(
        '(select greatest(1, ceil(coalesce(sum(length(passage_text)), 0) / (' ~ var('hcat_bucket_characters') ~ ' / ' ~ times
        ~ ')))::integer from ' ~ ref('hcat', 'int_interaction_passages') ~ ')'
    ) }}
{%- endmacro %}
