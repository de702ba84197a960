{#
    Why a record was rejected, without the value that the reason ends with, line breaks included. The value is raw text
    that may name a person, and what a build prints goes to log files.
#}
{% macro reason_without_value(column) %}
    {{- replace_pattern(column, '(?s): .*$', '') -}}
{% endmacro %}
