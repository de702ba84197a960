{# The rows of a CSV file as texts; on Spark the header is the first of them. #}
{% macro rows_of_csv(path) %}
    {{ return(adapter.dispatch('rows_of_csv', 'hcat')(path)) }}
{% endmacro %}

{% macro default__rows_of_csv(path) %}
    {{ return("read_csv('" ~ path | replace("'", "''") ~ "', header = true, all_varchar = true)") }}
{% endmacro %}

{% macro spark__rows_of_csv(path) %}
    {{ return('csv.`file://' ~ path | replace('`', '``') ~ '`') }}
{% endmacro %}
