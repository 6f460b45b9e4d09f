"""A machine that cannot hold Openbook gets one clear line before anything is downloaded."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

PREFLIGHT = Path(__file__).parents[2] / "requirements" / "preflight.py"
spec = importlib.util.spec_from_file_location("preflight", PREFLIGHT)
assert spec is not None
assert spec.loader is not None
preflight = importlib.util.module_from_spec(spec)
spec.loader.exec_module(preflight)


def test_this_machine_has_no_problem(tmp_path):
    assert preflight.problems(str(tmp_path), "cpu") == []


def test_too_little_disk_names_the_folder_and_the_need():
    problem = preflight.disk_problem("/data", 3 * 1024**3)
    assert "8 GiB" in problem
    assert "/data has 3.0" in problem


def test_too_little_memory_names_both_amounts():
    problem = preflight.memory_problem("MemTotal:        4046460 kB\nMemFree:  1 kB\n")
    assert "8 GiB" in problem
    assert "has 3.9" in problem


def test_memory_sold_as_8_gib_is_enough():
    assert preflight.memory_problem("MemTotal:        8131480 kB\n") is None


def test_a_processor_without_avx2_is_refused():
    assert "AVX2" in preflight.cpu_problem("flags : fpu sse avx", "x86_64")
    assert preflight.cpu_problem("flags : fpu sse avx avx2", "x86_64") is None


def test_an_old_python_is_told_which_one_is_needed(monkeypatch):
    monkeypatch.setattr(preflight.sys, "version_info", (3, 8, 2, "final", 0))
    problems = preflight.problems("/", "cpu")
    assert "3.11" in problems[0]
    assert "is 3.8.2" in problems[0]


def test_the_check_itself_needs_no_new_python():
    ast.parse(PREFLIGHT.read_text(), feature_version=(3, 4))
    assert "f'" not in PREFLIGHT.read_text()
    assert 'f"' not in PREFLIGHT.read_text()
