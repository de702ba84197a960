-- One row per weak segment of the own assistant: the package's marts are ordinary refs.
select metric_name, dimension, segment, share_failing, share_failing_lower, share_failing_upper, count_sources
from {{ ref('hcat', 'fct_marginal_weaknesses') }}
where share_failing_lower > 0.1
