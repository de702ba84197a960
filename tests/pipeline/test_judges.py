"""Several judges in one build: a server that writes and one that returns probabilities predict one failure rate."""

import json
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from builds import HASHING, REPOSITORY, ask_server, environment_without_settings, query, run_hcat, write_lines

sys.path.insert(0, str(REPOSITORY / "tests" / "python" / "language_models"))

from loopback import Loopback, start_server

COUNT, RATED = 60, 40
METRICS = ("rubric_llm__faithfulness", "rubric_llm__faithfulness@odds")


def judge(_method: str, path: str, _headers: object, body: bytes) -> tuple[int, dict[str, str], bytes]:
    """Both kinds of judges: an answer in grey is wrong. The one of probabilities takes every tenth for right."""
    is_good = b"grey" not in body
    if path.endswith("/systemone"):
        is_good = is_good or b"0 is" in body
        chances = dict.fromkeys(json.loads(body)["questions"]["decision"]["criteria"], 0.0)
        chances |= {"point_0": 0.1 + 0.8 * (not is_good), "point_2": 0.1 + 0.8 * is_good}
        reply: dict[str, Any] = {"answers": {"decision": {"probabilities": chances}}}
    else:
        text = json.dumps({"reason": "It was looked up.", "score": 2 if is_good else 0})
        reply = {"choices": [{"message": {"content": text}}]}
    return 200, {}, json.dumps(reply).encode()


def test_two_judges_predict_one_rate(tmp_path: Path) -> None:
    said = ["grey" if number % 3 == 0 else "blue" for number in range(COUNT)]
    calls = [
        {"id": f"c{number}", "question": f"What colour has line {number}?", "answer": f"Line {number} is {colour}."}
        | {"contexts": [f"Line {number} of the tram is blue on every map of the city."]}
        for number, colour in enumerate(said)
    ]
    ratings = [
        {"interaction_id": f"c{number}", "rater": "ann", "rater_kind": "person", "criterion": "faithfulness"}
        # a person and the judges differ on every eighth
        | {"scale_point": 0 if (said[number] == "grey") != (number % 8 == 1) else 2}
        for number in range(RATED)
    ]
    write_lines(tmp_path / "logs" / "calls.jsonl", calls)
    write_lines(tmp_path / "logs" / "ratings.jsonl", ratings)
    folder = tmp_path / "evaluation"
    run_hcat("init", folder, "--logs", tmp_path / "logs", "--package", REPOSITORY, folder=tmp_path)
    settings = folder / "dbt_project.yml"
    settings.write_text(settings.read_text().replace("hcat_own_seeds: [", "hcat_own_seeds: [calibration_targets, "))
    targets = [f"faithfulness,{name},2,A judge that is asked in this test\n" for name in METRICS]
    shipped = (REPOSITORY / "seeds" / "calibration_targets.csv").read_text()
    (folder / "seeds" / "calibration_targets.csv").write_text("".join([shipped, *targets]))
    models = {"HCAT_ENCODER": HASHING, "HCAT_CLASSIFIER": "hashing", "HCAT_TAGGER": "none"}
    models |= environment_without_settings()
    with ExitStack() as stack:
        server = start_server(stack, Loopback(judge))
        judges = [{"name": "odds", "url": f"{server.url}/v1/systemone", "model": "decider"}]
        variables = {"hcat_language_model_url": f"{server.url}/v1", "hcat_language_model": "writer"}
        variables |= {"hcat_judge": judges, "hcat_language_model_calls": 100_000}
        selected = ["--exclude-resource-type", "test", "--select", "+fct_failure_rates", "+fct_evaluations"]
        for words in (["deps"], ["build", *selected, "--vars", json.dumps(variables)]):
            exit_code, output = ask_server("dbt", ["--no-use-colors", *words], models, folder)
            assert exit_code == 0, output
        assert min(Counter(request.path for request in server.requests).values()) >= COUNT

    database = folder / "warehouse" / "hcat.duckdb"
    scored = (
        "from main_hcat.fct_evaluations where metric_name like 'rubric_llm__faithfulness%' and raw_score is not null"
    )
    found = query(database, f"select metric_name, count(*) {scored} group by 1 order by 1")
    assert found == [(name, COUNT) for name in METRICS]
    ((method, labels, people, rate, ratio),) = query(
        database,
        "select method, count_labels, count_labels_by_people, failure_rate, width_ratio"
        " from main_hcat.fct_failure_rates where criterion = 'faithfulness' and dimension = 'all'",
    )
    # a third of the answers is wrong, and judges who see that make the interval of 40 labels narrower
    assert (method, labels, people) == ("prediction_powered", RATED, RATED)
    assert abs(rate - 1 / 3) < 0.05
    assert ratio < 0.95
