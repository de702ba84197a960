{# Probability from which a sentence counts as toxic where shares are shown. The error rates were measured at this cut-off. #}
{% macro toxic_probability() %}
    {{- return(0.5) -}}
{% endmacro %}
