"""Where Openbook keeps its state: `$OPENBOOK_HOME`, by default `.openbook/` in the current folder.

checkpoints/<name>@<version>/   weights, tokenizer and checkpoint.json
store/                          store.db (the truth) and vectors/<collection>/gen-N (derived)
runs/<name>-<hash>/             an experiment: answers.jsonl, scores.jsonl, results.json, report.html, report.md
keys.json                       the API keys, as hashes
logs/                           what vLLM and the trainers print
"""

from __future__ import annotations

import os
from pathlib import Path


def openbook_home() -> Path:
    """Return the absolute path of the state folder. It need not exist yet."""
    return Path(os.environ.get("OPENBOOK_HOME") or ".openbook").absolute()


def checkpoints_home() -> Path:
    """Return the folder of the checkpoint registry."""
    return openbook_home() / "checkpoints"


def store_home() -> Path:
    """Return the folder of the default store."""
    return openbook_home() / "store"


def runs_home() -> Path:
    """Return the folder of the experiment runs."""
    return openbook_home() / "runs"


def logs_home() -> Path:
    """Return the folder of the logs."""
    return openbook_home() / "logs"


def keys_home() -> Path:
    """Return the file of the API keys."""
    return openbook_home() / "keys.json"
