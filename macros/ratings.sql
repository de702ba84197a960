{# Place of a kind of rater in hcat_label_kinds, from 1; null for a kind whose ratings give no label. #}
{% macro rank_of_rater_kind(rater_kind) -%}
    {%- set kinds = var('hcat_label_kinds') -%}
    {%- if not kinds -%}
        {{ exceptions.raise_compiler_error('hcat_label_kinds is empty: name at least one kind of rater') }}
    {%- endif -%}
    {%- for kind in kinds if kind not in ('person', 'language_model', 'rule', 'unknown') -%}
        {{ exceptions.raise_compiler_error(
            'hcat_label_kinds must hold person, language_model, rule or unknown, got ' ~ kind
        ) }}
    {%- endfor -%}
    case {{ rater_kind }}{% for kind in kinds %} when '{{ kind }}' then {{ loop.index }}{% endfor %} end
{%- endmacro %}

{#
    A list of the passages that may prove an answer: what the user said in earlier turns, where that counts, and then
    what was retrieved. `column` is text_ids or ranks.
#}
{% macro evidence_of_turn(column) -%}
    case
        when units.statement_{{ column }} is null then units.context_{{ column }}
        else concat(units.statement_{{ column }}, units.context_{{ column }})
    end
{%- endmacro %}
