{#
    MD5 of a metric and a cell. Segments are texts of the logs, so a bar inside a segment is doubled. No two
    cells then share an id.
#}
{% macro cell_id(metric_name, cells) %}
    md5(
        concat_ws(
            '|', {{ metric_name }}, {{ cells }}.first_dimension, replace({{ cells }}.first_segment, '|', '||'),
            {{ cells }}.second_dimension, replace({{ cells }}.second_segment, '|', '||')
        )
    )
{%- endmacro %}
