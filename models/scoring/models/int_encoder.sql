-- One row, which names the encoder of this build and the SHA-256 of its weights.
select encoder_key, encoder_name, encoder_revision, encoder_sha256, device, dtype, location
from {{ ref('hcat', 'int_models') }}
where part = 'encoder'
