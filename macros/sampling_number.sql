{# A number in [0, 1) for a text, used to sample the test set: a hash of purpose, seed and text, never random(). #}
{% macro sampling_number(purpose, text) %}
    {{ share_of_hash("'" ~ purpose ~ '|' ~ var('hcat_random_seed') ~ "|' || " ~ text) }}
{%- endmacro %}
