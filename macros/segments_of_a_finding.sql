{# The segments of each row that make it a row of the cell of `findings`: first_segments and second_segments. #}
{% macro join_segments_of_a_finding(rows) -%}
    {% for place in ['first', 'second'] -%}
    left join segments as {{ place }}_segments
        on
            {{ rows }}.interaction_id = {{ place }}_segments.interaction_id
            and findings.{{ place }}_dimension = {{ place }}_segments.dimension
            and findings.{{ place }}_segment = {{ place }}_segments.segment
    {% endfor %}
{%- endmacro %}

{# Whether a row is in the cell, which is a segment of one dimension or of two. #}
{% macro is_in_cell_of_a_finding() -%}
    first_segments.interaction_id is not null
    and (findings.second_dimension is null or second_segments.interaction_id is not null)
{%- endmacro %}
