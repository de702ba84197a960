{# Runs the hooks behind a model, writes its comments, commits, and returns what a materialization returns. #}
{% macro end_replacement(replaced) %}
    {% do run_hooks(post_hooks, inside_transaction=True) %}
    {% do persist_docs(replaced, model) %}
    {% do adapter.commit() %}
    {% do run_hooks(post_hooks, inside_transaction=False) %}
    {{ return({'relations': [replaced]}) }}
{% endmacro %}
