"""Several judges in one build: a server that writes and one that returns probabilities predict one failure rate."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from builds import HASHING, REPOSITORY, ask_server, environment_without_settings, query, run_hcat, write_lines

COUNT, RATED = 60, 40
METRICS = ("rubric_llm__faithfulness", "rubric_llm__faithfulness@odds")
TARGETS = [f"faithfulness,{name},2,A judge that is asked in this test" for name in METRICS]


class Judge(BaseHTTPRequestHandler):
    """Both kinds of judges: an answer in grey is wrong. The one of probabilities takes every tenth for right."""

    asked: ClassVar[Counter[str]] = Counter()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_good = "grey" not in json.dumps(body)
        self.asked[self.path] += 1
        if self.path.endswith("/systemone"):
            is_good = is_good or "0 is" in json.dumps(body)
            chances = dict.fromkeys(body["questions"]["decision"]["criteria"], 0.0)
            chances |= {"point_0": 0.1 + 0.8 * (not is_good), "point_2": 0.1 + 0.8 * is_good}
            reply: dict[str, Any] = {"answers": {"decision": {"probabilities": chances}}}
        else:
            text = json.dumps({"reason": "It was looked up.", "score": 2 if is_good else 0})
            reply = {"choices": [{"message": {"content": text}}]}
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def test_two_judges_predict_one_rate(address: str, tmp_path: Path) -> None:
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
    settings = (folder / "dbt_project.yml").read_text()
    owned = re.sub(r"(hcat_own_seeds: \[)", r"\1calibration_targets, ", settings)
    (folder / "dbt_project.yml").write_text(owned)
    shipped = (REPOSITORY / "seeds" / "calibration_targets.csv").read_text()
    (folder / "seeds" / "calibration_targets.csv").write_text(shipped + "\n".join([*TARGETS, ""]))
    variables: dict[str, Any] = {"hcat_language_model_url": address, "hcat_language_model": "writer"}
    variables |= {"hcat_judge": [{"name": "odds", "url": f"{address}/systemone", "model": "decider"}]}
    variables |= {"hcat_language_model_calls": 100_000}
    settings_of_models = {"HCAT_ENCODER": HASHING, "HCAT_CLASSIFIER": "hashing", "HCAT_TAGGER": "none"}
    build = ["build", "--exclude-resource-type", "test", "--select", "+fct_failure_rates", "+fct_evaluations"]
    for arguments in (["deps"], [*build, "--vars", json.dumps(variables)]):
        words, environment = ["--no-use-colors", *arguments], environment_without_settings() | settings_of_models
        exit_code, output = ask_server("dbt", words, environment, folder)
        assert exit_code == 0, output

    database = folder / "warehouse" / "hcat.duckdb"
    scored = query(
        database,
        "select metric_name, count(*) from main_hcat.fct_evaluations"
        " where metric_name like 'rubric_llm__faithfulness%' and score_status = 'scored' group by 1 order by 1",
    )
    assert scored == [(name, COUNT) for name in METRICS]
    assert min(Judge.asked.values()) >= COUNT
    ((method, labels, people, rate, ratio),) = query(
        database,
        "select method, count_labels, count_labels_by_people, failure_rate, width_ratio"
        " from main_hcat.fct_failure_rates where criterion = 'faithfulness' and dimension = 'all'",
    )
    # a third of the answers is wrong, and judges who see that make the interval of 40 labels narrower
    assert (method, labels, people) == ("prediction_powered", RATED, RATED)
    assert abs(rate - 1 / 3) < 0.05
    assert ratio < 0.95
