{#
    The tables that are published, as name -> module; none = they belong to every build. These are the marts of hcat, and
    what people state about the application, because the report reads that from a copy too.
#}
{% macro published_marts() %}
    {% set published = {} %}
    {% for mart in [
        'dim_documents', 'dim_chunks', 'dim_queries', 'dim_metrics', 'dim_runs', 'fct_interactions', 'fct_evaluations',
        'fct_verdicts', 'fct_retrieved_contexts', 'fct_sentence_evidence', 'fct_marginal_weaknesses',
        'fct_bivariate_weaknesses', 'fct_failure_rates', 'fct_threshold_gates', 'fct_run_metrics',
        'fct_release_decisions', 'fct_assistant_costs'
    ] %}
        {% do published.update({mart: none}) %}
    {% endfor %}
    {% for module, described in hcat_modules() | dictsort %}
        {% for mart in described.marts %}
            {% do published.update({mart: module}) %}
        {% endfor %}
    {% endfor %}
    {% do published.update({'applications': none, 'risks': none, 'sign_offs': none, 'risk_appetites': 'calibration'}) %}
    {{ return(published) }}
{% endmacro %}
