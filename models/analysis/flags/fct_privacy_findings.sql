select {{ columns_of_contract() }}
from {{ ref('hcat', 'int_privacy_findings') }}
