with counted as (
    select
        *,
        greatest(0, count_labels_needed - count_labels) as count_labels_missing,
        case
            when count_labels = 0 or (purpose = 'decided_share' and auroc is null) then 'no_labels'
            when count_labels_needed is null then 'out_of_reach'
            when count_labels_needed > count_labels then 'labels_missing'
            else 'reached'
        end as label_status
    from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'labels_needed'
)

select {{ columns_of_contract({
    'labels_needed_id': "md5(concat_ws('|', metric_name, purpose, target::string, confidence::string))",
    'count_groups': 'count_groups::integer',
    'count_labels': 'count_labels::integer',
    'count_clusters': 'count_clusters::integer',
    'count_labels_needed': 'count_labels_needed::integer',
    'count_labels_needed_least': 'count_labels_needed_least::integer',
    'count_labels_needed_most': 'count_labels_needed_most::integer',
    'count_labels_missing': 'if(count_labels_needed is null, null, count_labels_missing)::integer',
}) }}
from counted
