{# A hook before a model: cuts its interactions into buckets by the characters of their passages. A model that reads
   is_changed cuts those alone that it writes. #}
{% macro cut_into_buckets(only_changed=false) -%}
    {{ begin_buckets(
        '(select greatest(1, ceil(coalesce(sum(length(passage_text)), 0) / ' ~ var('hcat_bucket_characters') ~ '))::integer from '
        ~ ref('hcat', 'int_interaction_passages') ~ (' where ' ~ is_changed('interaction_id') if only_changed else '') ~ ')'
    ) }}
{%- endmacro %}
