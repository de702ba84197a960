-- Clusters whose labels are in more than one fold.
select cluster_id, count(distinct fold) as count_folds
from {{ ref('int_labels') }}
group by cluster_id
having count(distinct fold) > 1
