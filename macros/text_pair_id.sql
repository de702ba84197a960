{# Id of a pair of texts that a classifier reads, premise first. #}
{% macro text_pair_id(premise, hypothesis) %}
    md5(md5({{ premise }}) || '|' || md5({{ hypothesis }}))
{%- endmacro %}
