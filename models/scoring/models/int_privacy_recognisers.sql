-- One row, which names the recognisers that search texts for personal data in this build, and their key.
select tagger, recogniser_key, recogniser_name, recogniser_revision, masked_types, has_tagger
from {{ ref('hcat', 'int_models') }}
where part = 'recognisers of personal data'
