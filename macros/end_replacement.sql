{# Makes the indexes of a model, runs the hooks behind it, writes comments, commits, and returns what dbt expects. #}
{% macro end_replacement(replaced) %}
    {% do create_indexes(replaced) %}
    {% do run_hooks(post_hooks, inside_transaction=True) %}
    {% do persist_docs(replaced, model) %}
    {% do adapter.commit() %}
    {% do run_hooks(post_hooks, inside_transaction=False) %}
    {{ return({'relations': [replaced]}) }}
{% endmacro %}
