{#- Columns of a cell in marts of weak cells: `described` is int_metric_cells, `tested` int_weaknesses_tested. -#}
{% macro columns_of_a_weakness() -%}
-- strings
tested.measurement,
tested.test_status,
tested.family,

-- numerics
tested.count_interactions,
tested.count_scored,
tested.count_clusters,
described.count_second_clusters,
tested.clusters_effective as count_clusters_effective,
tested.mean_score,
tested.mean_score_lower,
tested.mean_score_upper,
described.quantile_25,
described.quantile_50,
described.quantile_75,
described.threshold,
tested.count_failing,
tested.share_failing,
tested.share_failing_lower,
tested.share_failing_upper,
tested.share_failing_of_all,
tested.value,
tested.value_lower,
tested.value_upper,
tested.shrunken_value,
tested.rest_value,
tested.difference,
tested.difference_lower,
tested.difference_upper,
tested.difference_standard_error,
tested.degrees_of_freedom,
tested.p_value,
tested.q_value,
tested.margin,
tested.minimum_detectable_difference,
tested.count_needed_to_flag::bigint as count_needed_to_flag,
tested.count_needed_to_confirm::bigint as count_needed_to_confirm,
tested.largest_cluster_share,

-- booleans
tested.count_clusters < {{ var('hcat_minimum_segment_clusters') }} as is_small,
tested.is_dominated,
tested.is_weak
{%- endmacro %}

{# The conditions of a join of values with the steps that begin at or below them. #}
{% macro on_lower_bound(steps, keys, values, column) -%}
    on
            {% for key in keys %}{{ values }}.{{ key }} = {{ steps }}.{{ key }} and {% endfor %}  -- noqa: LT02
            {{ values }}.{{ column }} >= {{ steps }}.lower_bound
{%- endmacro %}

{#
    Hooks that stop the build when a setting names a tag or a dimension that no interaction has: a mistyped name would
    make every row a group of its own, or one group of all, without a word.
#}
{% macro raise_when_no_tag(setting, words) %}
    {% set tag = "'" ~ var(setting) ~ "'" %}
    {%- set is_found = json_field('tags', tag) ~ ' is not null' %}
    {{ raise_when_nothing_is_named(setting, words, 'the name of a tag', is_found, this) }}
{% endmacro %}

{% macro raise_when_no_dimension(setting, words) %}
    {% set segments = ref('hcat', 'int_interaction_segments') %}
    {{ raise_when_nothing_is_named(setting, words, 'a dimension', "dimension = '" ~ var(setting) ~ "'", segments) }}
{% endmacro %}

{% macro raise_when_nothing_is_named(setting, words, kind, condition, relation) %}
    {% if var(setting) not in words %}
        {{ raise_when(
            'count_rows = 0',
            "'" ~ setting ~ ' is ' ~ var(setting) ~ ': it must be ' ~ words | join(', ') ~ ' or ' ~ kind ~ " of the logs'",
            '(select count(*) as count_rows from ' ~ relation ~ ' where ' ~ condition ~ ') as named'
        ) }}
    {% endif %}
{% endmacro %}

{# The value of a setting with a closed list of words. Another word stops the build with a message that names both. #}
{% macro one_of(setting, words) %}
    {%- set word = var(setting) | string -%}
    {%- if word not in words -%}
        {{ exceptions.raise_compiler_error(setting ~ " must be among " ~ words | join(', ') ~ ", got " ~ word) }}
    {%- endif -%}
    {{- return(word) -}}
{% endmacro %}

{#
    Whether a whole word or phrase stands in a text, whatever its case. chr(92) is the backslash, because a literal
    backslash would start an escape on Spark.
#}
{% macro has_word(text, word) -%}
    regexp_extract(lower({{ text }}), chr(92) || 'b' || lower({{ word }}) || chr(92) || 'b', 0) <> ''
{%- endmacro %}
