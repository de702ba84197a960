{# A JSON object of named texts (name -> expression) as text, without nulls. A list of one text brings its quotes. #}
{% macro json_of_texts(fields) -%}
    {%- set parts = [] -%}
    {%- for name in fields -%}
        {%- set text = "trim(both '[]' from to_json(" ~ array_of([fields[name]]) ~ ")::string)" -%}
        {%- set key = "'\"" ~ name ~ "\":'" -%}
        {%- do parts.append('case when ' ~ fields[name] ~ ' is not null then ' ~ key ~ ' || ' ~ text ~ ' end') -%}
    {%- endfor -%}
    '{' || concat_ws(',', {{ parts | join(', ') }}) || '}'
{%- endmacro %}
