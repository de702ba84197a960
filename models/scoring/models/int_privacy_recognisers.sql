select tagger, recogniser_key, recogniser_name, recogniser_revision, masked_types, has_tagger
from {{ ref('hcat', 'int_models') }}
where part = 'recognisers of personal data'
