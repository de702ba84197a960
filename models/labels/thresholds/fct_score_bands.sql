select {{ columns_of_contract({
    'score_band_id': "md5(concat_ws('|', metric_name, band))",
    'band': 'band::integer',
    'count_labels': 'count_labels::integer',
    'count_failed': 'count_failed::integer',
    'count_clusters': 'count_clusters::integer',
}) }}
from {{ ref('hcat', 'int_labels_measured') }}
where part = 'bands'
