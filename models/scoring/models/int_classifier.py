from hcat.encoders.classifier_identities import describe_classifier


def model(dbt, session):
    name = dbt.config.meta_get("classifier")
    revision = dbt.config.meta_get("classifier_revision")
    device = dbt.config.meta_get("device")
    dtype = dbt.config.meta_get("dtype")
    return describe_classifier(name, revision, device, dtype)
