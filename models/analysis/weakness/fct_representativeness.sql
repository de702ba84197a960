select {{ columns_of_contract({
    'representativeness_id': "md5(concat_ws('|', application, dimension, segment))",
}) }}
from {{ ref('hcat', 'int_origins_compared') }}
