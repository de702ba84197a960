"""Writes the files that real packages write, for tests/python/landing/test_integrations.py: `python FILE FOLDER`.

It runs where the extra `dataset-integrations` is installed, which may be another interpreter than that of the tests.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

QUERY, ANSWER, REFERENCE = "How long does a transfer take?", "Two working days.", "It takes two working days."
PASSAGES = ["A transfer takes two working days.", "It's free | for all customers."]


def write_ragas(folder: Path) -> None:
    """Write single turns and conversations by ragas, as JSON Lines and CSV."""
    from ragas import EvaluationDataset, MultiTurnSample, SingleTurnSample
    from ragas.messages import AIMessage, HumanMessage

    turn = SingleTurnSample(
        user_input=QUERY,
        retrieved_contexts=PASSAGES,
        reference_contexts=["a gold passage"],
        retrieved_context_ids=["c1", "c2"],
        reference_context_ids=["c1"],
        response=ANSWER,
        reference=REFERENCE,
    )
    samples = SingleTurnSample(user_input=QUERY, multi_responses=[ANSWER, "Three days."])
    talk = MultiTurnSample(
        user_input=[
            HumanMessage(content="Hello."),
            AIMessage(content="How can I help?"),
            HumanMessage(content=QUERY),
            AIMessage(content=ANSWER),
        ],
        reference="the user knows how long it takes",
    )
    EvaluationDataset(samples=[turn, turn]).to_jsonl(folder / "ragas.jsonl")
    EvaluationDataset(samples=[turn]).to_csv(folder / "ragas.csv")
    EvaluationDataset(samples=[samples]).to_jsonl(folder / "ragas_samples.jsonl")
    EvaluationDataset(samples=[talk]).to_jsonl(folder / "ragas_talk.jsonl")


def write_deepeval(folder: Path) -> None:
    """Write test cases and conversations by deepeval, in each of its formats."""
    from deepeval.dataset import ConversationalGolden, EvaluationDataset, Golden
    from deepeval.test_case import RetrievedContextData, Turn

    golden = Golden(
        input=QUERY,
        actual_output=ANSWER,
        expected_output=REFERENCE,
        retrieval_context=[RetrievedContextData(context=PASSAGES[0], source="terms.pdf"), "Fees apply."],
        context=["a gold passage that was never retrieved"],
        additional_metadata={"application_version": "2.3", "channel": "web"},
    )
    turns = [
        Turn(role="user", content=QUERY),
        Turn(role="assistant", content=ANSWER, retrieval_context=[PASSAGES[0]]),
        Turn(role="user", content="And in May?"),
        Turn(role="assistant", content="The same."),
    ]
    for kind in ("json", "jsonl", "csv"):
        EvaluationDataset(goldens=[golden]).save_as(kind, str(folder), "deepeval")
        talk = EvaluationDataset(goldens=[ConversationalGolden(scenario="A user asks.", turns=turns)])
        talk.save_as(kind, str(folder), "deepeval_talk")


if __name__ == "__main__":
    os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true"}
    write_ragas(Path(sys.argv[1]))
    write_deepeval(Path(sys.argv[1]))
