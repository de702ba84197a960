{%- set keys = {'int_metric_catalog': 'metric_name'} %}
{%- if var('hcat_judge') %}
    {%- do keys.update({
        'int_judge_calls': 'call_id',
        'int_judge_requests': 'evaluation_id',
        'int_judge_sample': 'interaction_id',
        'int_judge_verdicts': 'judge_key'
    }) %}
{%- endif %}
{{ keys_that_repeat(keys) }}
