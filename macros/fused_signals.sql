{# The signals that the fused groundedness joins, in the order of hcat.metrics.fusion.FEATURES. #}
{%- macro fused_signals() -%}
    {{- return([
        'entailment_logit', 'contradiction_logit', 'similarity', 'share_words_supported', 'evidence_overlap',
        'count_numbers_unsupported', 'count_entities_unsupported', 'count_fields_contradicted', 'log_words_unsupported',
        'number_displacement', 'entity_displacement'
    ]) -}}
{%- endmacro -%}
