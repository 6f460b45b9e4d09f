"""Text files as every loader reads them: UTF-8 with or without a byte order mark, any line ending."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.loading.problems import Problems

Row = dict[str, Any]

LONE_SURROGATE = "a text holds half of a surrogate pair (\\ud800 to \\udfff), which is no character; remove it"


def read_text(path: Path, problems: Problems) -> str | None:
    """Return a file's text with line feeds alone between lines, or None after noting why it cannot be read."""
    try:
        source = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = error.object[error.start]
        problems.add(path, line, f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8")
        return None
    except OSError as error:
        problems.add(path, None, f"cannot be opened: {error.strerror}")
        return None
    return source.replace("\r\n", "\n").replace("\r", "\n")


def read_json_lines(path: Path, problems: Problems) -> Iterator[tuple[int, Row]]:
    """Yield (line number, object) for each line that is not blank; a line that is no object is noted and left out."""
    source = read_text(path, problems)
    # Not splitlines(): it would also break lines inside strings, at U+2028 for one.
    for number, line in enumerate((source or "").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            where = f" at column {error.colno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else ""
            problems.add(path, number, f"no JSON{where}; each line must hold one object")
            continue
        if has_lone_surrogate(line, row):
            problems.add(path, number, LONE_SURROGATE)
        elif isinstance(row, dict):
            yield number, row
        else:
            problems.add(path, number, f'{_shown(row)} is no object; each line must be like {{"id": …}}')


def has_lone_surrogate(source: str, value: Any) -> bool:
    """Say whether JSON read from `source` holds a text that cannot be written as UTF-8, and so neither be stored."""
    if "\\ud" not in source.lower():
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
