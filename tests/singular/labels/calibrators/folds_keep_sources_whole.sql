-- Sources whose labels lie in more than one fold.
select source_group, count(distinct fold) as count_folds
from {{ ref('int_labels') }}
group by source_group
having count(distinct fold) > 1
