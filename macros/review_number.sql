{# A number in [0, 1) for an interaction, used to draw a review round: a hash of purpose, seed, round and identifier. #}
{% macro review_number(purpose, review_round) %}
    {{ number_of_hex(
        "left(md5('" ~ purpose ~ '|' ~ var('hcat_random_seed') ~ '|' ~ review_round ~ "|' || interaction_id), 8)"
    ) }} / 4294967296::double
{%- endmacro %}
