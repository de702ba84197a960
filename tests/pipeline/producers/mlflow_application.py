"""An assistant that MLflow traces into its file store, and the traces as JSON Lines. Usage: FOLDER FILE."""

import sys

import mlflow
from mlflow.entities import AssessmentSource, Document, SpanType

mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("assistant")


@mlflow.trace(span_type=SpanType.RETRIEVER)
def retrieve(question):
    """Return what is on the shelf."""
    return [
        Document("Transfers arrive within two working days.", {"doc_uri": "transfers.md", "chunk_id": "c7"}),
        Document('{"fee": 5, "currency": "EUR"}', {"doc_uri": "fees.md"}, id="c9"),
    ]


@mlflow.trace
def answer(question):
    """Return an answer, whatever was found."""
    mlflow.update_current_trace(metadata={"mlflow.trace.session": "s1"}, tags={"application": "assistant"})
    return "Two working days." if retrieve(question) else "I do not know."


answer("How long does a transfer take?")
mlflow.flush_trace_async_logging()
trace_id = mlflow.get_last_active_trace_id()
person = AssessmentSource("HUMAN", "rater-1")
mlflow.log_feedback(trace_id=trace_id, name="user_feedback", value="good", source=person)
mlflow.log_feedback(trace_id=trace_id, name="judge", value=True, source=AssessmentSource("LLM_JUDGE", "model"))
mlflow.log_expectation(trace_id=trace_id, name="expected_response", value="Two working days.", source=person)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    for trace in mlflow.search_traces(return_type="list"):
        file.write(trace.to_json() + "\n")
