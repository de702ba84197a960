"""The benchmark of personal data: what counts as found, and identifiers made for it."""

import pytest

# benchmarks is no installed package: it is run from the root of the repository
from benchmarks import privacy as benchmark
from hcat.privacy.recognition import find_spans
from hcat.privacy.spans import Span


def _sentence(text: str, spans: list[tuple[int, int, str]], template: str = "t") -> benchmark.Sentence:
    return benchmark.Sentence(text, tuple(spans), template)


def test_recall_and_precision_count_as_a_reader_would() -> None:
    sentences = [
        _sentence("Ana lives in Lund", [(0, 3, "person"), (13, 17, "place")], "a"),
        _sentence("12 Elm Road, Lund", [(0, 11, "address"), (13, 17, "place")], "b"),
        _sentence("Acme", [(0, 4, "other")], "c"),
    ]
    found = [
        [Span(0, 3, "person", "r")],
        [Span(0, 17, "address", "r")],
        [Span(0, 4, "person", "r")],
    ]
    assert benchmark.count_recall(sentences, found, "person").is_right.tolist() == [1.0]
    # the town inside the address that was found is found, the other is not
    assert benchmark.count_recall(sentences, found, "place").is_right.tolist() == [0.0, 1.0]
    assert benchmark.count_precision(sentences, found, "person").is_right.tolist() == [1.0, 0.0]
    partial = [[Span(0, 2, "person", "r")], [], []]
    counts = benchmark.count_recall(sentences, partial, "person")
    assert (counts.is_right.tolist(), counts.is_whole.tolist()) == ([1.0], [0.0])


@pytest.mark.parametrize("entity_type", ["card", "email", "ssn", "iban"])
def test_identifiers_made_for_the_benchmark_are_valid_and_found(entity_type: str) -> None:
    made = list(benchmark.make_identifiers(entity_type, 24))
    assert made == list(benchmark.make_identifiers(entity_type, 24))
    for (text, start, end), spans in zip(made, find_spans([text for text, _, _ in made]), strict=True):
        assert any(span.entity_type == entity_type and span.start < end and start < span.end for span in spans), text
