from hcat.encoders.text_classifiers import describe_text_classifiers
from hcat.engine.relations import read_one


def model(dbt, session):
    toxicity = dbt.config.meta_get("toxicity")
    toxicity_revision = dbt.config.meta_get("toxicity_revision")
    sentiment = dbt.config.meta_get("sentiment")
    sentiment_revision = dbt.config.meta_get("sentiment_revision")
    device = dbt.config.meta_get("device")
    dtype = dbt.config.meta_get("dtype")
    chosen = ((toxicity, toxicity_revision), (sentiment, sentiment_revision))
    return describe_text_classifiers(read_one(dbt.ref("hcat", "int_encoder")), *chosen, device, dtype)
