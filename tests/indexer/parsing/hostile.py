"""A worker whose parser does what a file tells it: put in front of the real one by the tests of the pool.

`python -P -m indexer.parsing.worker` finds this through `sitecustomize`; the code under test is not changed.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from pathlib import Path

SITECUSTOMIZE = """
import sys
sys.path.append({tests!r})
import hostile
hostile.install()
"""


def write_sitecustomize(folder: Path) -> Path:
    """Write the module that Python imports at its start, which makes `.md` files commands."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(SITECUSTOMIZE.format(tests=str(Path(__file__).parent)))
    return folder


def install() -> None:
    """Let the first line of a Markdown file say what its parser does."""
    import indexer.parsing
    from indexer.parsing import markdown

    def parse(file, limits) -> Iterator:
        command = file.read(limits).data.decode().split("\n")[0]
        if command == "hang":
            time.sleep(600)
        elif command == "spin":
            while True:
                pass
        elif command == "crash":
            ctypes.string_at(0)
        elif command == "exit":
            os._exit(7)
        elif command == "burst":
            yield bytearray(1 << 33)
        elif command == "leak":
            globals().setdefault("leaked", []).append(b"x" * (32 << 20))
        yield from markdown.parse(file, limits)

    indexer.parsing.PARSERS[".md"] = parse
