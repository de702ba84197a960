select
    model_key as classifier_key,
    model_name as classifier_name,
    model_revision as classifier_revision,
    model_sha256 as classifier_sha256,
    device,
    dtype,
    location
from {{ ref('hcat', 'int_models') }}
where part = 'classifier'
