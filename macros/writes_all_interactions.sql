{# Whether a build writes every interaction again. `hcat build` says when only interactions changed (decision 52). #}
{% macro writes_all_interactions() -%}
    {{ return(env_var('HCAT_ONLY_CHANGED', '') != '1') }}
{%- endmacro %}
