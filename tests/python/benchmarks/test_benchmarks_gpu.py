"""The benchmark of models on a GPU: its texts, its tables on a CPU, and the line of a machine with a GPU."""

import pytest
import torch

from benchmarks import gpu, harness


def test_texts_are_those_of_the_demo_and_distinct():
    texts, pairs = gpu.read_logs()
    assert len(texts) == len(set(texts)) > 2_000
    assert len(pairs) > 2_000
    numbered = gpu.number(texts, len(texts) + 5)
    assert len(set(numbered)) == len(texts) + 5


def test_without_a_gpu_it_says_so_in_one_line_and_writes_no_page(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(gpu, "QUICK", gpu.Sizes(8, 4, 4, 2, 2))
    monkeypatch.setitem(gpu.BUDGETS, "cpu", [2048, 4096])
    monkeypatch.setattr(gpu, "measure_peers", lambda task, *_: harness.Table("Peer", ("of",), [(task.name,)]))
    monkeypatch.setattr(harness, "PAGES", tmp_path)
    assert gpu.run() is None
    assert gpu.main([]) == 0
    printed, warned = capsys.readouterr()
    assert warned.splitlines() == [
        "gpu: torch finds no usable GPU; a small input runs on the CPU, and no page is written"
    ]
    for words in ("Peer", "all-MiniLM-L6-v2, 8 texts", "tokenizing alone", "4,096 (default)", "plain loop"):
        assert words in printed
    assert "bfloat16 on the GPU" not in printed
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("has_gpu", [True, False])
def test_the_machine_line_names_the_gpu(monkeypatch, has_gpu):
    monkeypatch.setattr(harness, "choose_device", lambda _: "cuda" if has_gpu else "cpu")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Some GPU")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (0, 80 * 2**30))
    monkeypatch.setattr(harness, "LIBRARIES", ("numpy", "no-such-library"))
    described = harness.describe_machine()
    assert ("memory, Some GPU (80 GiB), " in described) == has_gpu
    assert "numpy " in described
    assert "no-such-library" not in described
