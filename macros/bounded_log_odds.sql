{# Log odds of a probability, within +- hcat_entailment_logit_bound; null for null. The probability is kept away from 0
   and 1, so that its logarithm exists. #}
{% macro bounded_log_odds(probability) %}
    {%- set bound = var('hcat_entailment_logit_bound') -%}
    {%- set tiny = 'exp(-' ~ bound ~ ' - 1)' -%}
    case
        when {{ probability }} is not null
            then greatest(
                -{{ bound }},
                least(
                    {{ bound }},
                    ln(greatest({{ probability }}, {{ tiny }})) - ln(greatest(1 - {{ probability }}, {{ tiny }}))
                )
            )
    end::double
{%- endmacro %}
