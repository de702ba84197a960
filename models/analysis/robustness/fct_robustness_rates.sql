with measured as (
    select * from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'rates'
),

-- a group of one answer is either right or a gap, so by the gaps of its own side R is always 1
marked as (
    select
        *,
        coalesce(gap_rule = 'own_side' and smallest_group <= 1, false) as is_single
    from measured
)

select {{ columns_of_contract({
    'robustness_rate_id': 'md5(concat_ws(chr(31), system_id, hypothesis, side, scope, gap_rule))',
    'system': 'system_id',
    'status': "if(is_single, 'groups_of_one', status)",
    'robustness': 'if(is_single, null, robustness)',
    'robustness_lower': 'if(is_single, null, robustness_low)',
    'robustness_upper': 'if(is_single, null, robustness_high)',
    'chance_robustness': 'if(is_single, null, chance_robustness)',
    'accuracy_lower': 'accuracy_low',
    'accuracy_upper': 'accuracy_high',
}) }}
from marked
