{#
    The text without outer blanks (space, tab, line breaks, no-break, zero-width and ideographic space); null when
    nothing is left.
#}
{% macro text_or_null(column) %}
    case when not {{ is_blank(column) }} then {{ trim_blanks(column) }} end
{%- endmacro %}

{# Converts text to a double; null when it is no finite number, or when the bound, for instance '> 0', does not hold. #}
{% macro finite_or_null(text, bound='is not null') -%}
    case
        when {{ is_finite('try_cast(' ~ text ~ ' as double)') }} and try_cast({{ text }} as double) {{ bound }}
            then try_cast({{ text }} as double)
    end
{%- endmacro %}

{#
    Converts text to an integer; null when it is no whole number, or one below `least`. Some loggers write 1 as 1.0, which
    counts as 1.
#}
{% macro integer_or_null(column, least=none) %}
    {%- set number = 'try_cast(' ~ column ~ ' as double)' -%}
    {%- set bound = '' if least is none else ' and ' ~ number ~ ' >= ' ~ least -%}
    case when {{ number }} = floor({{ number }}){{ bound }} then try_cast({{ number }} as integer) end
{%- endmacro %}

{#
    Converts a logged time to a UTC timestamp without zone: ISO 8601, or the format that hcat_timestamp_format declares.
    Null when the text is neither: 01/02/2026 has two readings, and no rule may choose.
#}
{% macro logged_timestamp(column) %}
    {%- if var('hcat_timestamp_format') -%}
        coalesce({{ utc_timestamp(column) }}, {{ declared_timestamp(column, var('hcat_timestamp_format')) }})
    {%- else -%}
        {{ utc_timestamp(column) }}
    {%- endif -%}
{%- endmacro %}

{# True for null, empty, white space of any script and invisible format characters. #}
{% macro is_blank(column) %}
    coalesce({{ matches_pattern(column, '\\A[\\s\\p{Z}\\p{Cf}]*\\z') }}, true)
{%- endmacro %}

{# True for a number that is neither infinite nor NaN. Both engines sort NaN above every number. #}
{% macro is_finite(number) -%}
    abs({{ number }}) < 'infinity'::double
{%- endmacro %}

{#
    The weights of a JSON list of finite numbers of at least 0. A text that is no such list gives an empty list, which
    has the length of no text, so that the metrics that would use it say that it is missing.
#}
{% macro sentence_weights(text) -%}
    case
        when {{ are_weights(json_numbers(text)) }} then {{ json_numbers(text) }}
        when {{ text }} is not null then {{ json_numbers("'[]'") }}
    end
{%- endmacro %}

{# True for a list of at least one weight, each a finite number of at least 0. #}
{% macro are_weights(list) -%}
    coalesce(
        {{ array_length(list) }} > 0
        and not array_contains(
            {{ array_map(list, 'coalesce(' ~ is_finite('each') ~ ' and each >= 0, false)') }}, false
        ),
        false
    )
{%- endmacro %}

{# Place of a kind of rater in hcat_label_kinds, from 1; null for a kind whose ratings give no label. #}
{% macro rank_of_rater_kind(rater_kind) -%}
    {%- set kinds = var('hcat_label_kinds') -%}
    {%- if not kinds -%}
        {{ exceptions.raise_compiler_error('hcat_label_kinds is empty: name at least one kind of rater') }}
    {%- endif -%}
    {%- for kind in kinds if kind not in ('person', 'language_model', 'rule', 'unknown', 'user_feedback') -%}
        {{ exceptions.raise_compiler_error(
            'hcat_label_kinds must hold person, language_model, rule, unknown or user_feedback, got ' ~ kind
        ) }}
    {%- endfor -%}
    case {{ rater_kind }}{% for kind in kinds %} when '{{ kind }}' then {{ loop.index }}{% endfor %} end
{%- endmacro %}

{#
    A list of the passages that may prove an answer: what the user said in earlier turns, where that counts, and then
    what was retrieved. `column` is text_ids or ranks.
#}
{% macro evidence_of_turn(column) -%}
    case
        when units.statement_{{ column }} is null then units.context_{{ column }}
        else concat(units.statement_{{ column }}, units.context_{{ column }})
    end
{%- endmacro %}
