{# Runs the hooks before a model and returns its relation. A view gives way to a table, and a table to a view. #}
{% macro begin_replacement(type) %}
    {% set existing = load_cached_relation(this) %}
    {% do run_hooks(pre_hooks, inside_transaction=False) %}
    {% do run_hooks(pre_hooks, inside_transaction=True) %}
    {% if existing is not none and existing.type != type %}
        {% do adapter.drop_relation(existing) %}
    {% endif %}
    {{ return(this.incorporate(type=type)) }}
{% endmacro %}
