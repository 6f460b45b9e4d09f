"""What the commands of the index have in common: their options, and how they write JSON and counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON for a program instead of text for a person."
)
store_option = click.option(
    "--store", type=click.Path(path_type=Path), help="Folder of the store. [default: .openbook/store]"
)
collection_option = click.option("--collection", default="default", show_default=True, help="Set of documents.")


def common_options(command: Command) -> Command:
    """Add the options that every command of one collection has."""
    for option in (json_option, store_option, collection_option):
        command = option(command)
    return command


def plural(count: int, noun: str) -> str:
    """Return `1 chunk` or `2,000 chunks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def print_json(value: dict[str, Any]) -> None:
    """Write one line of JSON to stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, default=_as_json))


def _as_json(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
