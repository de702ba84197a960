select
    model_key as encoder_key,
    model_name as encoder_name,
    model_revision as encoder_revision,
    model_sha256 as encoder_sha256,
    device,
    dtype,
    location
from {{ ref('hcat', 'int_models') }}
where part = 'encoder'
