-- One row, which names the entailment classifier of this build and the SHA-256 of its weights.
select classifier_key, classifier_name, classifier_revision, classifier_sha256, device, dtype, location
from {{ ref('hcat', 'int_models') }}
where part = 'classifier'
