-- One row, which names the encoder of this build, the SHA-256 of its weights, and the key of the heads that tell claims
-- from talk and refusals.
select
    model_key as encoder_key,
    model_name as encoder_name,
    model_revision as encoder_revision,
    model_sha256 as encoder_sha256,
    device,
    dtype,
    location,
    (select heads.model_key from {{ ref('hcat', 'int_models') }} as heads where heads.part = 'reading heads') as reading_key
from {{ ref('hcat', 'int_models') }}
where part = 'encoder'
