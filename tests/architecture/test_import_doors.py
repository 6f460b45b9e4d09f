"""Each heavy dependency has one door, and commands that need none of them start without any."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("corpus", "indexer", "app", "experiments")

DOORS = {
    "faiss": ("indexer/vectors/",),
    "sentence_transformers": ("indexer/embedding/", "indexer/search/reranking.py"),
    "torch": ("experiments/finetune/", "indexer/embedding/", "app/base_checkpoint.py"),
    "transformers": ("experiments/finetune/", "app/base_checkpoint.py"),
    "peft": ("experiments/finetune/",),
    "fastapi": ("app/main.py", "app/api/"),
    "opentelemetry": ("app/tracing/",),
    "vllm": (),
    "vllm_router": (),
}
"""Package to the files and folders that may import it. vLLM and its router are processes: nothing imports them."""

LIGHT_COMMANDS = [
    "",
    "ingest",
    "watch",
    "documents list",
    "search",
    "serve",
    "ask",
    "keys create",
    "checkpoints list",
    "checkpoints promote",
    "finetune",
    "experiment run",
    "experiment list",
    "report",
    "corpus write",
    "bench serving",
    "bench cheaper",
    "bench overload",
    "bench replicas",
    "bench attacks",
    "bench soak",
    "bench ingest",
    "bench search",
]


def imported_packages(path: Path) -> set[str]:
    """Return the top-level packages that a file imports anywhere."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.partition(".")[0])
    return names


def source_files() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


@pytest.mark.parametrize("dependency", DOORS)
def test_a_heavy_dependency_is_imported_behind_its_door_alone(dependency):
    importers = [path.relative_to(ROOT).as_posix() for path in source_files() if dependency in imported_packages(path)]
    strangers = [path for path in importers if not path.startswith(DOORS[dependency] or "\0")]
    assert strangers == []


@pytest.mark.parametrize("command", LIGHT_COMMANDS, ids=lambda command: command or "openbook")
def test_help_is_shown_without_loading_anything_heavy(command):
    program = (
        "import sys, openbook\n"
        "try:\n    openbook.cli(sys.argv[1:], standalone_mode=True)\n"
        "except SystemExit as end:\n    assert end.code == 0, end.code\n"
        "heavy = {'torch', 'transformers', 'faiss', 'sentence_transformers', 'vllm', 'fastapi', 'scipy', 'peft'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command.split(), "--help"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert "HEAVY []" in done.stdout
    assert "Usage:" in done.stdout
