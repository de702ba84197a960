{#
    Limit of the Wilson score interval of a share (Wilson 1927). The effective sample size keeps siblings from counting
    as independent. bound is 'lower' or 'upper'. The limit is null when there is nothing to count.
#}
{% macro wilson_bound(share, count_effective, bound) %}
    {%- set z = normal_quantile() -%}
    {%- set sign = '-' if bound == 'lower' else '+' -%}
    {%- set clip = 'greatest(0.0, ' if bound == 'lower' else 'least(1.0, ' -%}
    case
        when {{ count_effective }} > 0
            then {{ clip }}(
                {{ share }} + {{ z }} * {{ z }} / (2 * {{ count_effective }})
                {{ sign }} {{ z }} * sqrt(
                    {{ share }} * (1 - {{ share }}) / {{ count_effective }}
                    + {{ z }} * {{ z }} / (4 * {{ count_effective }} * {{ count_effective }})
                )
            ) / (1 + {{ z }} * {{ z }} / {{ count_effective }}))
    end
{%- endmacro %}

{# Two-sided standard normal quantile of the project's confidence, from a closed list: SQL has no such function. #}
{% macro normal_quantile() %}
    {%- set quantiles = {'0.9': 1.6448536269514722, '0.95': 1.959963984540054, '0.99': 2.5758293035489004} -%}
    {%- set confidence = var('hcat_confidence') | string -%}
    {%- if confidence not in quantiles -%}
        {{ exceptions.raise_compiler_error("hcat_confidence must be 0.9, 0.95 or 0.99, got " ~ confidence) }}
    {%- endif -%}
    {{- quantiles[confidence] -}}
{% endmacro %}

{# Log odds of a probability, within +- 8, beyond which the labels taught nothing; null for null. The probability is
   kept away from 0 and 1, so that its logarithm exists. #}
{% macro bounded_log_odds(probability) %}
    {%- set bound = 8 -%}
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

{#
    Variance between the answers to one query on one side, from their mean, the mean of their squares and their number.
    Null with a single answer. Rounding must not make it negative.
#}
{% macro variance_of_replicates(name) -%}
    case
        when {{ name }}_answers > 1
            then
                greatest({{ name }}_squared - {{ name }} * {{ name }}, 0)
                * {{ name }}_answers / ({{ name }}_answers - 1)
    end
{%- endmacro %}

{#
    Sum, mean and standard deviation that do not depend on the order in which an engine adds. Scores are summed as whole
    billionths. A sum of doubles would change its last bits with the number of threads, and a rerun must change nothing.
    Scores lie within a few units, so a 128-bit integer holds the squares of 10^9 of them.
#}
{% macro exact_sum(column) %}
    sum({{ in_billionths(column) }})::double / 1e9
{%- endmacro %}

{% macro exact_mean(column) %}
    {{ exact_sum(column) }} / nullif(count({{ column }}), 0)
{%- endmacro %}

{% macro exact_standard_deviation(column) %}
    sqrt(
        (
            count({{ column }}) * sum({{ in_billionths(column) }} * {{ in_billionths(column) }})
            - sum({{ in_billionths(column) }}) * sum({{ in_billionths(column) }})
        )::double
        / nullif(count({{ column }}) * (count({{ column }}) - 1), 0)
    ) / 1e9
{%- endmacro %}

{% macro in_billionths(column) %}
    {{ whole_number('round((' ~ column ~ ') * 1e9)') }}
{%- endmacro %}

{# The signals that the fused groundedness joins, in the order of training.fusion.FEATURES. #}
{%- macro fused_signals() -%}
    {{- return([
        'entailment_logit', 'contradiction_logit', 'similarity', 'share_words_supported', 'evidence_overlap',
        'count_numbers_unsupported', 'count_entities_unsupported', 'count_fields_contradicted', 'number_displacement',
        'entity_displacement'
    ]) -}}
{%- endmacro -%}

{# A rate in percent, as text: short, and on the same side of 0 and 1 as the rate (as in hcat/monitoring/words.py). #}
{% macro in_percent(rate) -%}
    {%- set percent = '100 * (' ~ rate ~ ')' -%}
    case
        when round({{ percent }}, 4) in (0, 100) or round({{ percent }}) between 1 and 99
            then round({{ percent }})::integer::string
        when round({{ percent }}, 1) > 0 and round({{ percent }}, 1) < 100 then round({{ percent }}, 1)::string
        else round({{ percent }}, 4)::string
    end
{%- endmacro %}

{# A rate of fct_failure_rates in words, such as 30 % (25 to 37 %, n = 376): how many answers it counts; or null. #}
{% macro rate_in_words(rates) -%}
    {{ in_percent(rates ~ '.failure_rate') }} || ' % (' || {{ in_percent(rates ~ '.failure_rate_lower') }}
        || ' to ' || {{ in_percent(rates ~ '.failure_rate_upper') }} || ' %, n = '
        || if({{ rates }}.count_judged < {{ rates }}.count_interactions, {{ rates }}.count_judged || ' judged of ', '')
        || {{ rates }}.count_interactions || ')'
{%- endmacro %}
