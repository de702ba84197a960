{#
    The tables of this build that are published, as name -> module: the marts of hcat, and what people state about the
    application, because the report reads that from a copy too. A module that is switched off has none.
#}
{% macro published_marts() %}
    {% set published = {} %}
    {% for mart in [
            'dim_documents', 'dim_queries', 'dim_metrics', 'dim_runs', 'fct_interactions', 'fct_evaluations',
            'fct_sentence_evidence', 'fct_marginal_weaknesses', 'fct_weakness_examples',
            'fct_cells_to_read', 'fct_threshold_gates'
    ] %}
        {% do published.update({mart: none}) %}
    {% endfor %}
    {% for module, described in hcat_modules() | dictsort if is_on(module) %}
        {% for mart in described.marts %}
            {% do published.update({mart: module}) %}
        {% endfor %}
    {% endfor %}
    {% for seed in ['applications', 'risks'] + (['risk_appetites'] if is_on('calibration') else []) %}
        {% do published.update({seed: none}) %}
    {% endfor %}
    {{ return(published) }}
{% endmacro %}
