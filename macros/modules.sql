{# The modules that this project switches off, by name. #}
{% macro modules_off() %}
    {% set off = [] %}
    {% for module in hcat_modules() | sort if not is_on(module) %}
        {% do off.append(module) %}
    {% endfor %}
    {{ return(off) }}
{% endmacro %}

{#
    A model or seed of a module. Where the module is switched off, no rows of the columns that the reader names, for instance
    'interaction_id, threshold double'. A column without a type is a text.
#}
{% macro ref_if_on(module, model, columns) %}
    {% if is_on(module) %}
        {{ return(seed(model)) }}
    {% endif %}
    {% set selected = [] %}
    {% for column in columns.split(',') %}
        {% set words = column.split() %}
        {% do selected.append('cast(null as ' ~ words[1] | default('string') ~ ') as ' ~ words[0]) %}
    {% endfor %}
    {{ return('(select ' ~ selected | join(', ') ~ ' where false)') }}
{% endmacro %}

{# The families of metrics of the modules that are switched off. #}
{% macro families_switched_off() %}
    {% set families = [] %}
    {% for module in modules_off() %}
        {% do families.extend(hcat_modules()[module].families) %}
    {% endfor %}
    {{ return(families) }}
{% endmacro %}

{# What gates can ask of the modules that are switched off. #}
{% macro measurements_switched_off() %}
    {% set measurements = [] %}
    {% for module in modules_off() %}
        {% do measurements.extend(hcat_modules()[module].measurements) %}
    {% endfor %}
    {{ return(measurements) }}
{% endmacro %}

{# Whether this build computes a catalogued metric. Metrics that need a language model also need hcat_judge. #}
{% macro is_metric_of_this_build(requires) %}
    {%- if var('hcat_judge') -%}
        true
    {%- else -%}
        coalesce({{ requires }}, '') not like '%language_model%'
    {%- endif -%}
{%- endmacro %}

{# The names of the judges that hcat_judge lists beside the endpoint of the build; their metrics end in @name. #}
{% macro further_judges() %}
    {%- set judges = [] -%}
    {%- set listed = var('hcat_judge') -%}
    {%- for judge in (listed if listed is iterable and listed is not string else []) -%}
        {%- if not modules.re.fullmatch('[a-z][a-z0-9_]*', judge.name | string) -%}
            {%- set rule = 'hcat_judge: the name of a judge must be small letters, digits and _, got ' -%}
            {{ exceptions.raise_compiler_error(rule ~ judge.name) }}
        {%- endif -%}
        {%- do judges.append(judge.name) -%}
    {%- endfor -%}
    {{ return(judges) }}
{% endmacro %}

{# Whether a metric asks a language model, by its name. A test checks that the catalogue follows this rule. #}
{% macro is_judged_metric(metric_name) %}
    contains(coalesce({{ metric_name }}, ''), '_llm')
{%- endmacro %}

{# Whether this command runs a model of hcat: the hooks of a package run in every command of the project that has it. #}
{% macro is_building_hcat() %}
    {{ return(execute and 'model.hcat.' in selected_resources | join(' ')) }}
{% endmacro %}

{# Whether this command writes tables of hcat: a test or a compilation does not. #}
{% macro is_writing_hcat() %}
    {{ return(is_building_hcat() and flags.WHICH in ('build', 'run')) }}
{% endmacro %}
