"""What the command line shows: progress, errors and commands that load only when they are called.

Results go to stdout, everything here to stderr. Nothing here knows what a document or a model is.
"""

from __future__ import annotations

import difflib
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from corpus.errors import OpenbookError

SECONDS_BETWEEN_LINES = 5.0
"""How often progress is written as a line where stderr is no terminal."""


def did_you_mean(value: str, options: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest option, or "" where none is near."""
    near = difflib.get_close_matches(value, list(options), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def _to_stderr(message: str) -> None:
    click.echo(message, err=True)


_say: Callable[[str], None] = _to_stderr


def speak_through(say: Callable[[str], None]) -> None:
    """Have notes and progress said by `say`, such as a log, instead of written to stderr as they are."""
    global _say  # noqa: PLW0603 - there is one stderr
    _say = say


def note(message: str) -> None:
    """Write one line for the person who waits."""
    _say(message)


def _draws() -> bool:
    """Say whether progress is drawn, because a person looks on."""
    return _say is _to_stderr and sys.stderr.isatty()


def duration(seconds: float) -> str:
    """Return a duration as a person says it: `8 s`, `2 min 05 s`, `1 h 03 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class Progress:
    """How far a task is, how fast it goes and how long it will take.

    On a terminal a bar is drawn with rich; elsewhere a plain line is written every few seconds, so that a log stays
    readable.
    """

    def __init__(self, description: str, total: int, unit: str = "") -> None:
        """Describe a task of `total` steps; it starts when the progress is entered."""
        self.description = description
        self.total = total
        self.unit = unit
        self.done = 0
        self._started = self._last_line = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if _draws():
            self._draw_bar()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self.seconds > 2:
            note(f"{self.description}: {self.done}/{self.total} {self.unit} in {duration(self.seconds)}".strip())

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def advance(self, steps: int = 1) -> None:
        """Say that `steps` more are done."""
        self.done += steps
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, description=self.description)
        elif time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            left = self.seconds / max(self.done, 1) * (self.total - self.done)
            note(f"{self.description}: {self.done}/{self.total} {self.unit}, about {duration(left)} left")

    def _draw_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(self.unit),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(self.description, total=self.total)
        self._bar.start()


@contextmanager
def waiting(description: str, expected_seconds: float) -> Iterator[None]:
    """Show that something without countable steps goes on, and how long it is expected to take in all."""
    started = time.monotonic()
    finished = threading.Event()
    drawn = _draws()

    def tell() -> None:
        while not finished.wait(1.0 if drawn else SECONDS_BETWEEN_LINES):
            seconds = time.monotonic() - started
            line = f"{description}: {duration(seconds)} of about {duration(expected_seconds)}"
            if drawn:
                click.echo(f"\r{line}\x1b[K", err=True, nl=False)
            else:
                note(line)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        finished.set()
        teller.join()
        if drawn and time.monotonic() - started > 1:
            click.echo("\r\x1b[K", err=True, nl=False)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that `--help` starts at once.

    `lazy` maps a command's name to (module:attribute, short help). A mistyped command gets the nearest name.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        """Take click's arguments and the table of lazy commands."""
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every command's name, in the order of the table."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of that name."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, attribute = self.lazy[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self.list_commands(ctx))
            ctx.fail(f"No such command {args[0]!r}.{hint} `{ctx.command_path} --help` lists them.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table alone, without importing any."""
        rows = [(name, text) for name, (_, text) in self.lazy.items()]
        rows += [(name, self.commands[name].get_short_help_str()) for name in super().list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def run(command: Callable[..., Any]) -> None:
    """Run a click command as a program: errors become one message and an exit code, Ctrl-C becomes 130."""
    try:
        code = command(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except OpenbookError as error:
        note(f"Error: {error}")
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        note("Interrupted.")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
