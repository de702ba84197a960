{# The engine knobs that can change a number, as the ledger keeps them. #}
{% macro hcat_settings() %}
    {% set names = [
        'hcat_encoder_revision', 'hcat_dtype', 'hcat_batch_tokens', 'hcat_window_characters', 'hcat_random_seed',
        'hcat_scoring_revision', 'hcat_count_topics', 'hcat_future_tolerance_hours', 'hcat_confidence',
        'hcat_minimum_segment_sources', 'hcat_answer_length_bounds', 'hcat_similarity_digits', 'hcat_conformal_alpha'
    ] %}
    {% set settings = {} %}
    {% for name in names %}
        {% do settings.update({name: var(name)}) %}
    {% endfor %}
    {{ return(settings) }}
{% endmacro %}
