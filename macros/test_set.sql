{#- Numbers of the test set that nobody sets; a unit test overrides them. -#}

{#- Windows that represent a chunk: most chunks of a search index have one or two, and each costs one encoding. -#}
{% macro topic_windows() %}{{ return(2) }}{% endmacro %}

{#- Distinct texts of a fit of topics: they bound its memory and its time, which grow with the square of the number. -#}
{% macro topic_fit_texts() %}{{ return(20000) }}{% endmacro %}

{#- Chunks of every stratum at least, as far as it has them: a variance needs two. -#}
{% macro sampling_minimum() %}{{ return(2) }}{% endmacro %}

{#- Weight of the spread over all strata, in evaluations: few scores say little about the spread of one stratum. -#}
{% macro sampling_prior() %}{{ return(5) }}{% endmacro %}

{#- Raised when the rules for variants change: every variant is then made again under a new id. -#}
{% macro variant_revision() %}{{ return(3) }}{% endmacro %}
