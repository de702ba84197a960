{#
    Numbers that several models of scoring share. A number of one model stands at the top of that model.
-#}

{# The numbers of rules. Raise one when its rules change, and everything that they decided is decided again:
   scoring = the definition of a metric (every interaction is scored again, and embeddings stay), checking = how answers
   are checked against reference answers, screening = the patterns of injections. #}
{% macro revision_of(rules) -%}
    {{ {'scoring': 5, 'checking': 2, 'screening': 2}[rules] }}
{%- endmacro %}

{# A similarity or probability as far as it counts when the weakest sentence is chosen. Further decimals are noise of
   batching. #}
{% macro without_noise(value) -%}
    round({{ value }}, 5)
{%- endmacro %}

{# Characters of a window for whole-text similarity: about 200 word pieces, which fit into the 256 of MiniLM. #}
{% macro window_characters() -%}
    800
{%- endmacro %}

{# Probability from which a sentence counts as toxic where shares are shown. The error rates were measured at it. #}
{% macro toxic_probability() -%}
    0.5
{%- endmacro %}
