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
