"""Asking a model that decides: one request with a state and typed questions, answered by probabilities and no text.

The protocol is that of System One models: ``POST .../v1/systemone`` with ``model``, ``state`` and ``questions``. A
question of the type ``choice`` has named options, and its answer says the probability of each.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hcat.language_models.endpoint import LanguageModel, Service
from hcat.language_models.replies import ReplyError

#: By how much the probabilities of the options may miss one: servers round them.
_ROUNDING: Final = 0.02


class DecisionModel(LanguageModel):
    """An endpoint of decisions with a budget; its answers are kept as JSON."""

    _path = ""
    _holds = "an object answers"
    _is_structured = False

    def _write(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], is_structured: bool
    ) -> dict[str, Any]:
        (message,) = messages
        return {"model": self.service.model, **json.loads(message["content"])}

    def _find(self, document: Any) -> tuple[str, str, str]:
        return json.dumps(dict(document["answers"]), sort_keys=True), "input_tokens", "output_tokens"


def open_model(service: Service, kept: Iterable[tuple[str, str]] = ()) -> LanguageModel:
    """Return the model of a service: one that writes, or one that decides, which is never asked to reply better."""
    known = dict(kept)
    return DecisionModel(replace(service, repairs=0), known) if service.is_deciding else LanguageModel(service, known)


def write_question(state: Mapping[str, Any], instructions: str, options: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the one message of a question with options, name -> text."""
    question = {"type": "choice", "instructions": instructions, "criteria": dict(options)}
    content = {"state": dict(state), "questions": {"decision": question}}
    return [{"role": "user", "content": json.dumps(content, ensure_ascii=False)}]


def read_probabilities(answer: str, options: Sequence[str]) -> dict[str, float]:
    """Return the probability of each option, scaled to the sum 1."""
    try:
        said = json.loads(answer)["decision"]["probabilities"]
        found = {option: float(said[option]) for option in options}
    except (ValueError, KeyError, TypeError) as error:
        raise ReplyError(f"answers.decision.probabilities must have {', '.join(options)}") from error
    total = math.fsum(found.values())
    if len(said) != len(found) or not min(found.values()) >= 0 or not abs(total - 1) <= _ROUNDING:
        raise ReplyError(f"probabilities of the options must be at least 0 and add up to 1, got {total:g}")
    return {option: probability / total for option, probability in found.items()}
