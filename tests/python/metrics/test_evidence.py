"""Evidence windows: hand-worked choices, budgets, neighbours, and independence of batch borders."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hcat.metrics.evidence import WINDOWED_SCHEMA, EvidenceChoice, EvidenceSettings, choose_window, read_words


def settings(sentences: int = 2, characters: int = 1000) -> EvidenceSettings:
    return EvidenceSettings(sentences, characters)


def choose(similarity, words, context_words, chosen=None, lengths=None, ranks=None):
    count = len(similarity)
    return choose_window(
        np.array(similarity, np.float32),
        frozenset(words),
        [frozenset(each) for each in context_words],
        lengths or [10] * count,
        ranks or list(range(count)),
        chosen or settings(),
    )


def test_second_sentence_brings_the_words_that_the_first_lacks():
    # 0 is most similar and holds fee; 1 is as similar as 2 but repeats fee; 2 holds the word that is still lacking
    assert choose([0.9, 0.5, 0.5, 0.1], {"fee", "june"}, [{"fee"}, {"fee"}, {"june"}, set()]) == [0, 2]


def test_the_best_sentence_stands_first_wherever_it_is_in_the_context():
    assert choose([0.5, 0.1, 0.9], {"fee"}, [set()] * 3) == [2, 0]


def test_neighbours_of_the_first_sentence_stay_in_its_chunk():
    one = settings(sentences=1)
    assert choose([0.0, 0.9, 0.0, 0.0], {"fee"}, [set()] * 4, one, ranks=[1, 1, 1, 2]) == [1, 0, 2]
    assert choose([0.0, 0.9, 0.0, 0.0], {"fee"}, [set()] * 4, one, ranks=[1, 2, 2, 2]) == [1, 2]


def test_budget_holds_but_the_first_sentence_is_always_taken():
    assert choose([0.9, 0.8], {"fee"}, [set(), set()], settings(characters=5), lengths=[50, 50]) == [0]
    assert choose([0.9, 0.8, 0.7], {"fee"}, [set()] * 3, settings(characters=60), lengths=[50, 50, 10]) == [0, 2]


def test_a_sentence_without_words_is_chosen_by_similarity():
    assert choose([0.1, 0.9], set(), [{"fee"}, set()], settings(sentences=1)) == [1]


@given(
    st.lists(st.tuples(st.floats(-1, 1, width=32), st.integers(1, 80)), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(1, 200),
)
def test_every_window_keeps_its_promises(context, sentences, characters):
    similarity = [each[0] for each in context]
    lengths = [each[1] for each in context]
    chosen = settings(sentences, characters)
    window = choose(similarity, {"a", "b"}, [{"a"}] * len(context), chosen, lengths, [0] * len(context))
    assert len(window) == len(set(window))
    assert 1 <= len(window) <= sentences + 2
    assert len(window) == 1 or sum(lengths[position] for position in window) <= characters + lengths[window[0]]


def make_batch(count: int) -> tuple[pa.RecordBatch, pa.Table]:
    random = np.random.default_rng(7)
    texts = [f"sentence {number} about the fee of {number} euros" for number in range(40)]
    vectors = random.standard_normal((40, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"t{number:02d}" for number in range(40)]
    rows = [
        {
            "interaction_id": f"i{row}",
            "evidence_key": "k",
            "query_text_ids": None,
            "answer_text_ids": [ids[each] for each in random.integers(40, size=3)],
            "context_text_ids": [ids[each] for each in random.integers(40, size=10)],
            "context_ranks": sorted(random.integers(3, size=10).tolist()),
            "statement_text_ids": None,
            "statement_ranks": None,
        }
        for row in range(count)
    ]
    rows.append(
        {
            "interaction_id": "silent",
            "evidence_key": "k",
            "query_text_ids": None,
            "answer_text_ids": None,
            "context_text_ids": [ids[0]],
        }
        | {"context_ranks": [1], "statement_text_ids": None, "statement_ranks": None}
    )
    table = pa.table({"text_id": ids, "encoded_text": texts, "embedding": pa.array(list(vectors))})
    return pa.RecordBatch.from_pylist(rows), table


def test_results_do_not_depend_on_batch_borders():
    batch, texts = make_batch(9)
    chosen = settings(2, 120)
    whole = EvidenceChoice(chosen)(batch, texts)
    choice = EvidenceChoice(chosen)
    parts = pa.Table.from_batches([choice(batch.slice(start, 2), texts) for start in range(0, batch.num_rows, 2)])
    assert whole.schema == WINDOWED_SCHEMA
    assert pa.Table.from_batches([whole]).equals(parts.combine_chunks())
    assert "silent" not in whole.column("interaction_id").to_pylist()


def test_statements_of_earlier_turns_stand_in_front_of_the_context():
    batch, texts = make_batch(1)
    row = batch.to_pylist()[0]
    split = row | {"statement_text_ids": row["context_text_ids"][:4], "statement_ranks": row["context_ranks"][:4]}
    split |= {"context_text_ids": row["context_text_ids"][4:], "context_ranks": row["context_ranks"][4:]}
    whole, parts = (EvidenceChoice(settings())(pa.RecordBatch.from_pylist([each]), texts) for each in (row, split))
    assert whole.num_rows
    assert whole.equals(parts)


def test_words_are_stems_of_content_words():
    assert read_words("The fees are charged monthly.") == {"fee", "charg", "monthly"}
