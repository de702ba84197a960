{#
    Numbers that nobody sets and several models share. A number of one model stands at the top of that model.
-#}

{# The numbers of rules. Raise one when its rules change, and everything that they decided is decided again:
   scoring = the definition of a metric (every interaction is scored again, and embeddings stay), checking = how answers
   are checked against reference answers, screening = the patterns of injections. #}
{% macro revision_of(rules) -%}
    {{ {'scoring': 12, 'checking': 3, 'screening': 2}[rules] }}
{%- endmacro %}

{# A similarity or probability as far as it counts when the weakest sentence is chosen. Further decimals are noise of
   batching. #}
{% macro without_noise(value) -%}
    round({{ value }}, 5)
{%- endmacro %}

{#- What an answer must do; of several criteria that fail, the first is the verdict's. -#}
{% macro criteria_of_verdict() %}{{ return(['behaves', 'grounded', 'relevant', 'complete', 'safe']) }}{% endmacro %}

{# Characters of a window for whole-text similarity: about 200 word pieces, which fit into the 256 of MiniLM. #}
{% macro window_characters() -%}
    800
{%- endmacro %}

{# Probability from which a sentence counts as toxic where shares are shown. The error rates were measured at it. #}
{% macro toxic_probability() -%}
    0.5
{%- endmacro %}


{#- Windows that represent a chunk: most chunks of a search index have one or two, and each costs one encoding. -#}
{% macro topic_windows() %}{{ return(2) }}{% endmacro %}

{#- Distinct texts of a fit of topics: they bound its memory and its time, which grow with the square of the number. -#}
{% macro topic_fit_texts() %}{{ return(20000) }}{% endmacro %}

{#- Chunks of every stratum at least, as far as it has them: a variance needs two. -#}
{% macro sampling_minimum() %}{{ return(2) }}{% endmacro %}

{#- Weight of the spread over all strata, in evaluations: few scores say little about the spread of one stratum. -#}
{% macro sampling_prior() %}{{ return(5) }}{% endmacro %}

{#- Raised when the rules for variants change: every variant is then made again under a new id. -#}
{% macro variant_revision() %}{{ return(4) }}{% endmacro %}
