-- One row per distinct text embedded by the encoder of this build.
select embedded.*
from {{ ref('int_texts_embedded') }} as embedded
inner join {{ ref('int_encoder') }} as encoder on embedded.encoder_key = encoder.encoder_key
