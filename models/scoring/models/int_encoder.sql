select
    encoder.model_key as encoder_key,
    encoder.model_name as encoder_name,
    encoder.model_revision as encoder_revision,
    encoder.model_sha256 as encoder_sha256,
    encoder.device,
    encoder.dtype,
    encoder.location,
    heads.model_key as reading_key
from {{ ref('hcat', 'int_models') }} as encoder
inner join {{ ref('hcat', 'int_models') }} as heads on heads.part = 'reading heads'
where encoder.part = 'encoder'
