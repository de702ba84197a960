-- One row per purpose (toxicity, sentiment) with the classifier of this build and the SHA-256 of its weights.
select purpose, scoring_key, classifier_name, classifier_revision, classifier_sha256, device, dtype, location
from {{ ref('hcat', 'int_models') }}
where part = 'text classifier'
