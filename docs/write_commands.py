"""Write docs/commands.md: the help text of every command, as the command line prints it.

Usage: python docs/write_commands.py   (or `make docs`; a test fails while the file is out of date)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

import openbook

HERE = Path(__file__).parent
WIDTH = 100

HEADING = """\
# The command line

One command, `openbook`. Results go to stdout, progress and logs to stderr. Written by `make docs` from the commands
themselves.

Exit codes: 0 done, 1 failed or partly failed, 2 wrong use or configuration, 3 the store is locked by another process,
4 the store is damaged, 5 the engine is out of reach or died, 130 interrupted.
"""


def walk(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield (path of the command, its help text) for a command and all below it."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            # Click takes the help options and the width from the parent.
            yield from walk(child, click.Context(child, parent=context, info_name=name))


def commands_page() -> str:
    """Return the text of docs/commands.md."""
    # Click remembers the help option of the first context that asked for it: this one must ask for the same.
    root = click.Context(
        openbook.cli,
        info_name="openbook",
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        **openbook.cli.context_settings,
    )
    sections = [f"## {path}\n\n```text\n{text}\n```\n" for path, text in walk(openbook.cli, root)]
    return "\n".join([HEADING, *sections])


if __name__ == "__main__":
    (HERE / "commands.md").write_text(commands_page(), encoding="utf-8")
